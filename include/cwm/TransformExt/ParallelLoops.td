//===- ParallelLoops.td - Check of parallel loops ----------*- tablegen -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRANSFORMEXT_PARALLELLOOPS_TD
#define CWM_TRANSFORMEXT_PARALLELLOOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def CheckParallelLoopsOp
    : Op<Transform_Dialect, "cwm.check_parallel_loops",
         [DeclareOpInterfaceMethods<TransformOpInterface>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let cppNamespace = "::cwm";
  let summary = "refuse parallel loops whose iterations may touch the same elements";
  let description = [{
    Looks at each `scf.forall` on tensors in the payload, before bufferisation
    turns its results into memory that all threads write. Each iteration must
    have regions of the results to itself: each induction variable with more
    than one iteration moves, in each `tensor.parallel_insert_slice`, the offset
    of some dimension by at least the extent of what is inserted there, and no
    other induction variable moves that offset. What an iteration reads of a
    shared output must lie in the region that it inserts. A loop tiled along a
    dimension of a reduction has no such offset.

    cwm-tune applies this op before each `bufferization.one_shot_bufferize` and
    each pass of a schedule, and at its end, when kernels have several threads.

    #### Return modes

    Changes nothing. Emits a *definite failure* that names the first loop where
    this cannot be shown.

    ```mlir
    transform.cwm.check_parallel_loops
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // CWM_TRANSFORMEXT_PARALLELLOOPS_TD
