//===- TorchLibrary.cpp - Opens the torch component on first use -*- C++-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/TorchLibrary.h"

#include "cwm/Model/TorchConfig.inc"
#include "cwm/Support/InstalledData.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace llvm;

namespace cwm {

static constexpr char fileName[] = "cwm_torch.so";

/// The component beside the library folder of the tool or plugin that this
/// code is in; "" if there is none.
static std::string findComponent() {
  for (const std::string &image : getOwnImages()) {
    StringRef folder = sys::path::parent_path(image);
    SmallString<256> beside = folder, library = sys::path::parent_path(folder);
    sys::path::append(beside, fileName);
    sys::path::append(library, "lib", fileName);
    for (StringRef candidate : {StringRef(beside), StringRef(library)})
      if (sys::fs::exists(candidate))
        return candidate.str();
  }
  return "";
}

/// Returns the message of a failure, or "".
static std::string load(const CwmTorchTable *&table) {
  const char *environment = std::getenv("CWM_TORCH_COMPONENT");
  if (!environment && !CWM_ENABLE_TORCH)
    return "the encoder is unavailable: cwm was built without libtorch "
           "(CWM_ENABLE_TORCH=OFF)";
  std::string path = environment ? environment : findComponent();
  constexpr char remedy[] = "; the encoder is unavailable (run "
                            "scripts/setup.sh and build again, or set "
                            "CWM_TORCH_COMPONENT)";
  if (path.empty())
    return std::string("cannot find ") + fileName + remedy;
  // Never closed: libtorch keeps threads and thread-local state.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char *reason = ::dlerror();
    return "cannot load libtorch: " + std::string(reason ? reason : path) +
           remedy;
  }
  auto getTable =
      reinterpret_cast<GetTorchTable>(::dlsym(library, torchTableSymbol));
  if (!getTable)
    return "'" + path + "' lacks the function " + torchTableSymbol + remedy;
  table = getTable();
  if (table->version != torchTableVersion)
    return "'" + path + "' has version " + std::to_string(table->version) +
           " of the component, expected " + std::to_string(torchTableVersion) +
           remedy;
  // Tools that fork and tools that time must not meet a pool of threads which
  // they did not ask for.
  if (table->setThreads(1))
    return std::string("libtorch: ") + table->lastError();
  return "";
}

Expected<const TorchLibrary *> TorchLibrary::get() {
  static TorchLibrary library;
  static const std::string failure = load(library.table);
  if (!failure.empty())
    return createStringError(failure);
  return &library;
}

Error TorchLibrary::check(int code, const Twine &what) const {
  if (code == 0)
    return Error::success();
  return createStringError(what + ": " + table->lastError());
}

} // namespace cwm
