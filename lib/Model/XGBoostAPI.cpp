//===- XGBoostAPI.cpp - The C functions of XGBoost that we call -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/XGBoostAPI.h"

#include "cwm/Model/XGBoostConfig.inc"

#include "llvm/ADT/StringExtras.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace llvm;

namespace cwm {

/// Returns the message of a failure, or "".
static std::string load(XGBoostAPI &api) {
  const char *environment = std::getenv("CWM_XGBOOST_LIBRARY");
  std::string path = environment ? environment : CWM_XGBOOST_LIBRARY_PATH;
  constexpr char remedy[] =
      "; the ranker is unavailable (run scripts/setup.sh and configure again, "
      "or set CWM_XGBOOST_LIBRARY)";
  if (path.empty())
    return std::string("no XGBoost library was found at configuration") +
           remedy;
  // Never closed: the library keeps threads and thread-local state.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char *reason = ::dlerror();
    return "cannot load XGBoost: " + std::string(reason ? reason : path) +
           remedy;
  }
  std::string missing;
  auto find = [&](const char *name, auto &function) {
    void *symbol = ::dlsym(library, name);
    if (!symbol && missing.empty())
      missing = name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
  find("XGBoostVersion", api.version);
  find("XGBGetLastError", api.getLastError);
  find("XGBSetGlobalConfig", api.setGlobalConfig);
  find("XGDMatrixCreateFromMat", api.matrixCreate);
  find("XGDMatrixFree", api.matrixFree);
  find("XGDMatrixSetFloatInfo", api.matrixSetFloats);
  find("XGDMatrixSetInfoFromInterface", api.matrixSetArray);
  find("XGBoosterCreate", api.boosterCreate);
  find("XGBoosterFree", api.boosterFree);
  find("XGBoosterSetParam", api.boosterSetParameter);
  find("XGBoosterUpdateOneIter", api.boosterUpdate);
  find("XGBoosterPredictFromDense", api.boosterPredict);
  find("XGBoosterSaveModelToBuffer", api.boosterSave);
  find("XGBoosterLoadModelFromBuffer", api.boosterLoad);
  find("XGBoosterGetNumFeature", api.boosterGetNumColumns);
  find("XGBoosterBoostedRounds", api.boosterGetNumRounds);
  find("XGBoosterSlice", api.boosterSlice);
  if (!missing.empty())
    return "'" + path + "' lacks the function " + missing + remedy;
  int major = 0, minor = 0, patch = 0;
  api.version(&major, &minor, &patch);
  if (major != 3)
    return "'" + path + "' is XGBoost " + std::to_string(major) + "." +
           std::to_string(minor) + ", expected version 3" + remedy;
  // Warnings would end up between the lines of the progress display.
  api.setGlobalConfig("{\"verbosity\": 0}");
  return "";
}

Expected<const XGBoostAPI *> XGBoostAPI::get() {
  static XGBoostAPI api = {};
  static const std::string failure = load(api);
  if (!failure.empty())
    return createStringError(failure);
  return &api;
}

Error XGBoostAPI::check(int code, StringRef what) const {
  if (code == 0)
    return Error::success();
  StringRef reason = getLastError();
  reason = reason.split("Stack trace").first;
  // "[12:34:56] /path/of/the/build/file.cc:12: reason"
  if (reason.starts_with("["))
    reason = reason.split("] ").second;
  if (reason.starts_with("/"))
    reason = reason.split(": ").second;
  SmallVector<StringRef> words;
  SplitString(reason, words);
  return createStringError(what + ": " + join(words, " "));
}

} // namespace cwm
