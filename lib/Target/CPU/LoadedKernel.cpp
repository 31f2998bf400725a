//===- LoadedKernel.cpp - Object code in this process -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Target/CPU/LoadedKernel.h"

#include "cwm/Target/CPU/Lowering.h"
#include "cwm_runtime.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace llvm;

struct cwm::LoadedKernel::Impl {
  /// What the linker reported; outlives the session that refers to it.
  std::string reported;
  std::unique_ptr<orc::LLJIT> jit;
};

cwm::LoadedKernel::LoadedKernel(std::unique_ptr<Impl> impl, Function function)
    : impl(std::move(impl)), function(function) {}
cwm::LoadedKernel::LoadedKernel(LoadedKernel &&) = default;
cwm::LoadedKernel &cwm::LoadedKernel::operator=(LoadedKernel &&) = default;
cwm::LoadedKernel::~LoadedKernel() = default;

/// The symbols that this library provides to kernels.
static orc::SymbolMap getRuntimeSymbols(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          JITSymbolFlags::Exported |
                                              JITSymbolFlags::Callable};
  };
  add("cwm_alloc", &cwm_alloc);
  add("cwm_free", &cwm_free);
  return symbols;
}

Expected<cwm::LoadedKernel> cwm::LoadedKernel::load(ArrayRef<char> object) {
  static std::once_flag once;
  std::call_once(once, [] { InitializeNativeTarget(); });
  auto impl = std::make_unique<Impl>();

  // Nothing is compiled here: no IR layer, no thread, no debugger support.
  orc::LLJITBuilder builder;
  Expected<orc::JITTargetMachineBuilder> target =
      orc::JITTargetMachineBuilder::detectHost();
  if (!target)
    return target.takeError();
  builder.setJITTargetMachineBuilder(std::move(*target));
  Expected<std::unique_ptr<orc::LLJIT>> jit = builder.create();
  if (!jit)
    return jit.takeError();
  impl->jit = std::move(*jit);

  orc::JITDylib &library = impl->jit->getMainJITDylib();
  if (Error error =
          library.define(orc::absoluteSymbols(getRuntimeSymbols(*impl->jit))))
    return error;
  // libm, memcpy and the like; loaded with libLLVM in any case.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      impl->jit->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));

  // Errors of the linker go to the session's reporter, not to the caller.
  impl->jit->getExecutionSession().setErrorReporter(
      [implementation = impl.get()](Error error) {
        implementation->reported += toString(std::move(error)) + "; ";
      });
  auto buffer = MemoryBuffer::getMemBufferCopy(
      StringRef(object.data(), object.size()), "cwm_kernel");
  if (Error error = impl->jit->addObjectFile(std::move(buffer)))
    return error;
  Expected<orc::ExecutorAddr> address = impl->jit->lookup(packedEntryName);
  if (!address) {
    std::string message = toString(address.takeError());
    return createStringError(inconvertibleErrorCode(),
                             "cannot load the kernel: " + impl->reported +
                                 message);
  }
  return LoadedKernel(std::move(impl), address->toPtr<Function>());
}
