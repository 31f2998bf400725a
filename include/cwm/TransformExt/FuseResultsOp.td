//===- FuseResultsOp.td - Several results in one loop -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRANSFORMEXT_FUSERESULTSOP_TD
#define CWM_TRANSFORMEXT_FUSERESULTSOP_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def FuseResultsOp
    : Op<Transform_Dialect, "cwm.fuse_results",
         [DeclareOpInterfaceMethods<TransformOpInterface>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let cppNamespace = "::cwm";
  let summary = "tile an op and fuse all linalg ops before it, with their results";
  let description = [{
    Tiles the target, the last `linalg` op of a block that uses or computes what
    is needed later, as `transform.structured.fuse` does, and fuses every other
    `linalg` op before it in the block into the innermost loop, those that the
    target does not read as well. What is used after the loop, such as further
    results of a function, is a result of the loop: `structured.fuse` computes
    such values once in the loop and once more outside.

    Each op is computed once for each tile, on the slice that goes with the
    target's: dimensions go together where a `linalg.generic` indexes them by the
    same loop. A value without one of the tiled dimensions is computed again, the
    same, for each tile along it.

    Reshapes of a value that the block's terminator uses move behind the loop.

    #### Return modes

    Consumes the target, returns a handle to the tiled op. Emits a *silenceable
    failure* if the target is no `linalg.generic` on tensors or is not tiled at
    all, if indexing maps of the block's `linalg.generic` ops are no projected
    permutations, or if an op cannot be fused so that its value is complete
    after the loop.

    ```mlir
    %tiled = transform.cwm.fuse_results %last tile_sizes = [1, 0]
        : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       DenseI64ArrayAttr:$tile_sizes);
  let results = (outs TransformHandleTypeInterface:$tiled);
  let assemblyFormat = [{
    $target `tile_sizes` `=` $tile_sizes attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // CWM_TRANSFORMEXT_FUSERESULTSOP_TD
