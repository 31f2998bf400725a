//===- LoadedKernel.h - Object code in this process -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TARGET_CPU_LOADEDKERNEL_H
#define CWM_TARGET_CPU_LOADEDKERNEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace cwm {

/// An object file of compileToObject, linked into this process. The code stays
/// mapped for as long as the kernel lives.
class LoadedKernel {
public:
  /// Links `object`. Allocations go to runtime/ of this process, mathematical
  /// functions to its libm. An error names every symbol that is not defined.
  static llvm::Expected<LoadedKernel> load(llvm::ArrayRef<char> object);

  LoadedKernel(LoadedKernel &&);
  LoadedKernel &operator=(LoadedKernel &&);
  ~LoadedKernel();

  /// Runs the kernel once: pointers to all inputs, then to all results. After
  /// prepack(), without the work on constant inputs.
  void operator()(void **buffers) const {
    if (prepacked.empty()) {
      function(buffers);
      return;
    }
    std::copy(buffers, buffers + numArguments, prepacked.begin());
    prepackedFunction(prepacked.data());
  }

  using Function = void (*)(void **buffers);

  /// Does the work that depends on constant inputs only (packed weights), which
  /// calls then leave out; `buffers` are those of a call. Nothing happens when
  /// there is no such work. What was packed is kept until dropPacked(), the
  /// next call or the end of the kernel.
  void prepack(void **buffers);
  /// Frees what prepack() made; calls do all the work again.
  void dropPacked();

private:
  struct Impl;
  LoadedKernel(std::unique_ptr<Impl> impl, Function function);

  std::unique_ptr<Impl> impl;
  Function function, prepackedFunction = nullptr;
  /// Arguments of a call after prepack(): those of the caller come first.
  mutable std::vector<void *> prepacked;
  int64_t numArguments = 0;
};

} // namespace cwm

#endif // CWM_TARGET_CPU_LOADEDKERNEL_H
