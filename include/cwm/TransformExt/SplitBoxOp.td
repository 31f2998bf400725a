//===- SplitBoxOp.td - A box of an op's result and its rest -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRANSFORMEXT_SPLITBOXOP_TD
#define CWM_TRANSFORMEXT_SPLITBOXOP_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def SplitBoxOp
    : Op<Transform_Dialect, "cwm.split_box",
         [DeclareOpInterfaceMethods<TransformOpInterface>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let cppNamespace = "::cwm";
  let summary = "split an op and its producers into a box and what is around it";
  let description = [{
    Replaces each target by ops that each compute a part of its result: the box
    of the given offsets and sizes, then, dimension by dimension, the slab before
    the box and the slab after it. A slab spans the box in the dimensions before
    its own, and everything in those after it; empty slabs are left out. The
    parts are inserted into a new tensor one after the other.

    Producers are recomputed for each part, as far as they implement the tiling
    interface. That is what the op is for: the part of a `tensor.pad` that lies
    within the source needs no padding, and folds to a slice of the source.
    `transform.structured.split` fuses nothing, and its parts write into each
    other's results.

    #### Return modes

    Consumes the target, returns a handle to the ops of all parts. Emits a
    *silenceable failure* if a target has not exactly one result, of static
    shape, or does not implement the tiling interface, or if the box is empty or
    does not lie within the result.

    ```mlir
    %parts = transform.cwm.split_box %window offsets = [0, 1, 1, 0] sizes = [1, 54, 54, 64]
        : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$sizes);
  let results = (outs TransformHandleTypeInterface:$parts);
  let assemblyFormat = [{
    $target `offsets` `=` $offsets `sizes` `=` $sizes attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // CWM_TRANSFORMEXT_SPLITBOXOP_TD
