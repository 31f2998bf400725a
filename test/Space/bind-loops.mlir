// RUN: split-file %s %t
// The number of loop results follows the bound sizes; a handle follows its
// dimension.
// RUN: cwm-opt --cwm-bind="knobs=t=4" %t/dims.mlir | FileCheck %s --check-prefix=ALL
// RUN: cwm-opt --cwm-bind="knobs=t=0" %t/dims.mlir | FileCheck %s --check-prefix=DROPPED
// RUN: cwm-opt --cwm-bind="knobs=sizes=[8,8,4]" %t/rank.mlir | FileCheck %s --check-prefix=RANK3
// RUN: cwm-opt --cwm-bind="knobs=sizes=[0,8]" %t/rank.mlir | FileCheck %s --check-prefix=RANK2
// RUN: cwm-opt --cwm-bind="knobs=sizes=[0]" %t/rank.mlir | FileCheck %s --check-prefix=NONE

//--- dims.mlir
// ALL: %[[T:.*]], %[[L:.*]]:3 = transform.structured.tile_using_for %{{.*}} tile_sizes [4, 4, 4]
// ALL: transform.loop.unroll %[[L]]#2
// ALL: transform.structured.fuse %{{.*}} tile_sizes [4, 4]
// ALL-SAME: -> (!transform.any_op, !transform.any_op, !transform.any_op)
// DROPPED: %[[T:.*]], %[[L:.*]]:2 = transform.structured.tile_using_for %{{.*}} tile_sizes [4, 0, 4]
// DROPPED: transform.loop.unroll %[[L]]#1
// DROPPED: transform.structured.fuse %{{.*}} tile_sizes [4, 0]
// DROPPED-SAME: -> (!transform.any_op, !transform.any_op)
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %1, %l:3 = transform.structured.tile_using_for %0 tile_sizes [4, 4, 4]
      {cwm.bind = {static_sizes = [4, {knob = "t", options = [4, 0]}, 4]}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.loop.unroll %l#2 {factor = 2 : i64} : !transform.any_op
    %2, %m:2 = transform.structured.fuse %1 tile_sizes [4, 4]
      {cwm.bind = {static_tile_sizes = [4, "t"]}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

//--- rank.mlir
// RANK3: %[[T:.*]], %[[L:.*]]:3 = transform.structured.tile_using_for %{{.*}} tile_sizes [8, 8, 4]
// RANK3: transform.structured.vectorize %[[T]]
// RANK2: %[[T:.*]], %[[L:.*]] = transform.structured.tile_using_for %{{.*}} tile_sizes [0, 8]
// RANK2: transform.structured.vectorize %[[T]]
// NONE: %[[T:.*]] = transform.structured.tile_using_for %{{.*}} tile_sizes [0]
// NONE: transform.structured.vectorize %[[T]]
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %1, %l = transform.structured.tile_using_for %0 tile_sizes [1]
      {cwm.bind = {static_sizes = {knob = "sizes", options = [array<i64: 8, 8, 4>, array<i64: 0, 8>, array<i64: 0>]}}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.structured.vectorize %1 vector_sizes [1] : !transform.any_op
    transform.yield
  }
}
