//===- InstalledData.cpp - Data that comes with the tools -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/InstalledData.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>

using namespace llvm;

namespace cwm {

/// How far above an image its data may be: build/<preset>/unittests/<program>.
static constexpr int maxLevels = 5;

static std::string findAbove(StringRef image, StringRef installed,
                             StringRef inSource) {
  SmallString<256> real;
  if (sys::fs::real_path(image, real))
    return "";
  StringRef above = sys::path::parent_path(real);
  for (int level = 0; level < maxLevels && !above.empty(); ++level) {
    above = sys::path::parent_path(above);
    SmallString<256> share(above), source(above);
    sys::path::append(share, "share", "cwm", installed);
    sys::path::append(source, inSource);
    for (StringRef path : {StringRef(share), StringRef(source)})
      if (sys::fs::exists(path))
        return path.str();
  }
  return "";
}

std::string findInstalledData(StringRef installed, StringRef inSource) {
  auto *own = reinterpret_cast<void *>(&findInstalledData);
  Dl_info info;
  if (::dladdr(own, &info) && info.dli_fname)
    if (std::string path = findAbove(info.dli_fname, installed, inSource);
        !path.empty())
      return path;
  return findAbove(sys::fs::getMainExecutable(nullptr, own), installed,
                   inSource);
}

} // namespace cwm
