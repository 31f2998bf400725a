//===- KernelFixture.h - Compiles a payload for a test ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CWM_UNITTESTS_CPU_KERNELFIXTURE_H
#define CWM_UNITTESTS_CPU_KERNELFIXTURE_H

#include "cwm/Target/CPU/LoadedKernel.h"
#include "cwm/Target/CPU/Lowering.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

/// Tests that compile payloads whose entry is @kernel.
class KernelFixture : public ::testing::Test {
protected:
  KernelFixture() : context(mlir::MLIRContext::Threading::DISABLED) {
    mlir::DialectRegistry registry;
    mlir::registerAllDialects(registry);
    mlir::registerAllExtensions(registry);
    cwm::registerCPUTranslations(registry);
    context.appendDialectRegistry(registry);
  }

  static cwm::HardwareDescription getHardware(llvm::StringRef json) {
    return llvm::cantFail(cwm::HardwareDescription::fromJSON(json));
  }

  /// Lowers `source` and compiles it for `hardware`.
  llvm::Expected<llvm::SmallVector<char, 0>>
  compile(llvm::StringRef source, const cwm::HardwareDescription &hardware,
          const cwm::CPULoweringOptions &options = {}) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(source, &context);
    mlir::PassManager manager(&context);
    cwm::buildCPULowering(manager, options);
    if (!module || failed(manager.run(*module)))
      return llvm::createStringError("lowering failed");
    return cwm::compileToObject(*module, "kernel", hardware);
  }

  /// The loaded kernel of `source` for any x86-64 with AVX2 or this machine.
  cwm::LoadedKernel load(llvm::StringRef source,
                         const cwm::HardwareDescription &hardware,
                         const cwm::CPULoweringOptions &options = {}) {
    auto object = compile(source, hardware, options);
    EXPECT_TRUE(bool(object)) << llvm::toString(object.takeError());
    return llvm::cantFail(cwm::LoadedKernel::load(*object));
  }

  mlir::MLIRContext context;
};

#endif // CWM_UNITTESTS_CPU_KERNELFIXTURE_H
