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

std::vector<std::string> getOwnImages() {
  auto *own = reinterpret_cast<void *>(&getOwnImages);
  std::vector<std::string> images;
  auto add = [&](StringRef path) {
    SmallString<256> real;
    if (!sys::fs::real_path(path, real))
      images.push_back(std::string(real));
  };
  Dl_info info;
  if (::dladdr(own, &info) && info.dli_fname)
    add(info.dli_fname);
  add(sys::fs::getMainExecutable("cwm", own));
  return images;
}

std::string findInstalledData(StringRef installed, StringRef inSource) {
  for (const std::string &image : getOwnImages()) {
    StringRef above = sys::path::parent_path(image);
    for (int level = 0; level < maxLevels && !above.empty(); ++level) {
      above = sys::path::parent_path(above);
      SmallString<256> share(above), source(above);
      sys::path::append(share, "share", "cwm", installed);
      sys::path::append(source, inSource);
      for (StringRef path : {StringRef(share), StringRef(source)})
        if (sys::fs::exists(path))
          return path.str();
    }
  }
  return "";
}

} // namespace cwm
