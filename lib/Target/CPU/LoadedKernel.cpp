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
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace llvm;

struct cwm::LoadedKernel::Impl {
  /// What the linker reported; outlives the session that refers to it.
  std::string reported;
  std::unique_ptr<orc::LLJIT> jit;
  /// Of an object that cwm-hoist-constants split, else null.
  Function prepack = nullptr;
  const int64_t *table = nullptr;
  std::vector<void *> packed;

  ~Impl() { freePacked(); }
  void freePacked() {
    for (void *buffer : packed)
      cwm_free(buffer);
    packed.clear();
  }
};

cwm::LoadedKernel::LoadedKernel(std::unique_ptr<Impl> impl, Function function)
    : impl(std::move(impl)), function(function) {}
cwm::LoadedKernel::LoadedKernel(LoadedKernel &&) = default;
cwm::LoadedKernel &cwm::LoadedKernel::operator=(LoadedKernel &&) = default;
cwm::LoadedKernel::~LoadedKernel() = default;

namespace {
/// A memref of any rank as MLIR 22.1 passes it: the rank, and a descriptor
/// whose last parts are sizes[rank] and strides[rank].
struct AnyMemRef {
  struct Descriptor {
    void *allocated;
    char *aligned;
    int64_t offset;
  };
  int64_t rank;
  const Descriptor *descriptor;

  char *getData(int64_t elementBytes) const {
    return descriptor->aligned + descriptor->offset * elementBytes;
  }
  ArrayRef<int64_t> getSizes() const {
    return {reinterpret_cast<const int64_t *>(descriptor + 1), size_t(rank)};
  }
  ArrayRef<int64_t> getStrides() const {
    return {getSizes().end(), size_t(rank)};
  }
};
} // namespace

static void copyDims(int64_t elementBytes, char *from, char *to,
                     ArrayRef<int64_t> sizes, ArrayRef<int64_t> fromStrides,
                     ArrayRef<int64_t> toStrides) {
  if (sizes.empty()) {
    std::memcpy(to, from, size_t(elementBytes));
    return;
  }
  for (int64_t i = 0; i < sizes.front(); ++i)
    copyDims(elementBytes, from + i * fromStrides.front() * elementBytes,
             to + i * toStrides.front() * elementBytes, sizes.drop_front(),
             fromStrides.drop_front(), toStrides.drop_front());
}

/// What stock passes call for a memref.copy of strided memrefs; with stock
/// tools it comes from libmlir_c_runner_utils.
static void copyMemRef(int64_t elementBytes, const AnyMemRef *from,
                       const AnyMemRef *to) {
  copyDims(elementBytes, from->getData(elementBytes), to->getData(elementBytes),
           from->getSizes(), from->getStrides(), to->getStrides());
}

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
  add("memrefCopy", &copyMemRef);
  return symbols;
}

/// Looks up what cwm-hoist-constants splits off, if `object` defines it.
static Error findPrepack(ArrayRef<char> object, orc::LLJIT &jit,
                         cwm::LoadedKernel::Function &prepack,
                         cwm::LoadedKernel::Function &prepacked,
                         const int64_t *&table) {
  auto file = object::ObjectFile::createObjectFile(
      MemoryBufferRef(StringRef(object.data(), object.size()), "cwm_kernel"));
  if (!file)
    return file.takeError();
  bool isSplit =
      any_of((*file)->symbols(), [](const object::SymbolRef &symbol) {
        Expected<StringRef> name = symbol.getName();
        if (name)
          return *name == cwm::prepackEntryName;
        consumeError(name.takeError());
        return false;
      });
  if (!isSplit)
    return Error::success();
  auto lookUp = [&](StringRef name, auto &into) -> Error {
    Expected<orc::ExecutorAddr> address = jit.lookup(name);
    if (!address)
      return address.takeError();
    into = address->toPtr<std::remove_reference_t<decltype(into)>>();
    return Error::success();
  };
  if (Error error = lookUp(cwm::prepackEntryName, prepack))
    return error;
  if (Error error = lookUp(cwm::prepackedEntryName, prepacked))
    return error;
  return lookUp(cwm::prepackTableName, table);
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
  LoadedKernel kernel(std::move(impl), address->toPtr<Function>());
  if (Error error = findPrepack(object, *kernel.impl->jit, kernel.impl->prepack,
                                kernel.prepackedFunction, kernel.impl->table))
    return error;
  return kernel;
}

void cwm::LoadedKernel::dropPacked() {
  impl->freePacked();
  prepacked.clear();
}

void cwm::LoadedKernel::prepack(void **buffers) {
  if (!impl->prepack)
    return;
  dropPacked();
  // See the description of cwm-hoist-constants for the table.
  numArguments = impl->table[0];
  int64_t numConstants = impl->table[1], numPacked = impl->table[2];
  const int64_t *constants = impl->table + 3;
  const int64_t *sizes = constants + numConstants;
  for (int64_t i = 0; i < numPacked; ++i)
    impl->packed.push_back(cwm_alloc(static_cast<size_t>(sizes[i])));
  std::vector<void *> arguments;
  arguments.reserve(static_cast<size_t>(numConstants + numPacked));
  for (int64_t i = 0; i < numConstants; ++i)
    arguments.push_back(buffers[constants[i]]);
  arguments.insert(arguments.end(), impl->packed.begin(), impl->packed.end());
  impl->prepack(arguments.data());
  prepacked.assign(static_cast<size_t>(numArguments), nullptr);
  prepacked.insert(prepacked.end(), impl->packed.begin(), impl->packed.end());
}
