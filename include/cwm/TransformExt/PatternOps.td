//===- PatternOps.td - Patterns for schedules -------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRANSFORMEXT_PATTERNOPS_TD
#define CWM_TRANSFORMEXT_PATTERNOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ApplyStridedMapsToSlicesPatternsOp
    : Op<Transform_Dialect, "apply_patterns.cwm.strided_maps_to_slices",
         [DeclareOpInterfaceMethods<PatternDescriptorOpInterface>]> {
  let cppNamespace = "::cwm";
  let summary = "move strides from indexing maps into slices";
  let description = [{
    Collects a pattern that rewrites inputs of `linalg.generic` on tensors that
    are read with a stride: an indexing map result `d * s`, `s` > 1, becomes
    `d` on a `tensor.extract_slice` with stride `s`. Such maps are what a
    convolution or pooling of stride `s` has once its kernel dimensions are
    tiled by 1 and folded; `transform.structured.vectorize` accepts only
    projected permutations.

    The operand must have a static shape, and every result of its map must be a
    dimension or a dimension times a constant. Other operands are left alone.

    ```mlir
    transform.apply_patterns to %func {
      transform.apply_patterns.cwm.strided_maps_to_slices
    } : !transform.any_op
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def ApplySeparateInitialValuesPatternsOp
    : Op<Transform_Dialect, "apply_patterns.cwm.separate_initial_values",
         [DeclareOpInterfaceMethods<PatternDescriptorOpInterface>]> {
  let cppNamespace = "::cwm";
  let summary = "no initial values but fills and empty tensors";
  let description = [{
    Collects patterns that rewrite operations on tensors whose initial value is
    computed or comes from outside: `C + A * B` becomes the reduction from a
    filled tensor, and an elementwise operation that combines its result with
    the initial value. That one fuses with the elementwise operations that
    follow, and the reduction can be packed and tiled without a copy of its
    initial value. Floating-point sums associate differently afterwards.

    An elementwise `linalg.generic` that reads what it overwrites gets that as
    an input, and an empty tensor to write to.

    The operation must have one result, and a reduction must index it by a
    permutation of its parallel dimensions and reduce with one operation that
    has a neutral element. An initial value that is a constant, the same number
    everywhere, becomes a fill. Those that are fills or empty tensors are left
    alone.

    ```mlir
    transform.apply_patterns to %func {
      transform.apply_patterns.cwm.separate_initial_values
    } : !transform.any_op
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def ApplySplitResultsPatternsOp
    : Op<Transform_Dialect, "apply_patterns.cwm.split_results",
         [DeclareOpInterfaceMethods<PatternDescriptorOpInterface>]> {
  let cppNamespace = "::cwm";
  let summary = "one reduction for each result";
  let description = [{
    Collects a pattern that rewrites reductions on tensors with several results
    (a sum and a sum of squares) as one `linalg.generic` for each of them.
    Results that depend on what another one has been so far, such as the index
    of a maximum, are left alone.

    ```mlir
    transform.apply_patterns to %func {
      transform.apply_patterns.cwm.split_results
    } : !transform.any_op
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def ApplyWidenSumsPatternsOp
    : Op<Transform_Dialect, "apply_patterns.cwm.widen_sums",
         [DeclareOpInterfaceMethods<PatternDescriptorOpInterface>]> {
  let cppNamespace = "::cwm";
  let summary = "sums of f16 and bf16 products in f32";
  let description = [{
    Collects a pattern that rewrites contractions on tensors whose operands,
    products and sums are f16 or bf16 and that start from a fill: operands are
    widened, products are added up in f32, and an elementwise operation rounds
    the result once. It loses less than rounding at each step, and is what
    processors have instructions for.

    ```mlir
    transform.apply_patterns to %func {
      transform.apply_patterns.cwm.widen_sums
    } : !transform.any_op
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // CWM_TRANSFORMEXT_PATTERNOPS_TD
