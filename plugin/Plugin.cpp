//===- Plugin.cpp - Dialect and pass plugin for stock mlir-opt --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/InitAll.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/WithColor.h"

/// A tool that has cwm linked in must not load it again: MLIR would abort with
/// a message that does not tell why. Registration cannot fail, so end here.
static void refuseSecondCopy(llvm::StringRef flag) {
  llvm::WithColor::error(llvm::errs(), "cwm plugin")
      << "this tool contains cwm already, run it without " << flag << '\n';
  std::exit(1);
}

static void registerDialects(mlir::DialectRegistry *registry) {
  if (registry->getDialectAllocator(cwm::CwmDialect::getDialectNamespace()))
    refuseSecondCopy("--load-dialect-plugin");
  cwm::registerAllDialects(*registry);
}

static void registerPasses() {
  if (mlir::PassInfo::lookup("cwm-record"))
    refuseSecondCopy("--load-pass-plugin");
  cwm::registerAllPasses();
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "cwm", LLVM_VERSION_STRING,
          registerDialects};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "cwm", LLVM_VERSION_STRING, registerPasses};
}
