//===- Passes.td - Passes of cwm --------------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_PASSES_PASSES_TD
#define CWM_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ContractArithmetic : Pass<"cwm-contract-arithmetic"> {
  let summary = "allow contraction of floating-point multiply and add";
  let description = [{
    Adds the `contract` fast-math flag to floating-point additions,
    subtractions and multiplications of the arith dialect, so that LLVM forms
    fused multiply-adds. Nothing else about the arithmetic is relaxed.
  }];
}

#endif // CWM_PASSES_PASSES_TD
