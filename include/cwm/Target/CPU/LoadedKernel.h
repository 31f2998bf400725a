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

#include <memory>

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

  /// Runs the kernel once: pointers to all inputs, then to all results.
  void operator()(void **buffers) const { function(buffers); }

  using Function = void (*)(void **buffers);
  Function getFunction() const { return function; }

private:
  struct Impl;
  LoadedKernel(std::unique_ptr<Impl> impl, Function function);

  std::unique_ptr<Impl> impl;
  Function function;
};

} // namespace cwm

#endif // CWM_TARGET_CPU_LOADEDKERNEL_H
