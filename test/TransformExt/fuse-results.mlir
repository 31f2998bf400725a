// RUN: cwm-opt %s --transform-interpreter --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// The sum of a row, which the target reads, and its largest element, which it
// does not, are further results of the loop. Nothing is computed outside.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: tensor<6x16xf32>
// CHECK-NOT: linalg.
// CHECK: %[[LOOP:.*]]:3 = scf.for %[[I:[^ ]+]] = {{.*}} iter_args({{.*}}) -> (tensor<6x16xf32>, tensor<6xf32>, tensor<6xf32>)
// CHECK-DAG: %[[SUM_SLICE:.*]] = tensor.extract_slice %{{.*}}[%[[I]]] [1] [1]
// CHECK-DAG: %[[ZEROS:.*]] = linalg.fill ins(%{{.*}}) outs(%[[SUM_SLICE]]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}"reduction"]} {{.*}} outs(%[[ZEROS]]
// CHECK: linalg.generic {{.*}} ins({{.*}}, %[[SUM]] :
// CHECK: tensor.insert_slice {{.*}}[%[[I]], 0] [1, 16] [1, 1]
// CHECK: tensor.insert_slice {{.*}}[%[[I]]] [1] [1]
// CHECK: tensor.insert_slice {{.*}}[%[[I]]] [1] [1]
// CHECK: scf.yield
// CHECK-NOT: linalg.
// CHECK: %[[SHAPED:.*]] = tensor.expand_shape %[[LOOP]]#{{[12]}}
// CHECK: return %[[SHAPED]], %[[LOOP]]#0, %[[LOOP]]#{{[12]}}
func.func @rows(%x: tensor<6x16xf32>) -> (tensor<6x1xf32>, tensor<6x16xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x16xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  // Before the target, behind the loop afterwards.
  %shaped = tensor.expand_shape %s [[0, 1]] output_shape [6, 1] : tensor<6xf32> into tensor<6x1xf32>
  %g = linalg.fill ins(%least : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x16xf32>) outs(%g : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %e2 = tensor.empty() : tensor<6x16xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<6x16xf32>, tensor<6xf32>) outs(%e2 : tensor<6x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<6x16xf32>
  return %shaped, %y, %m : tensor<6x1xf32>, tensor<6x16xf32>, tensor<6xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %ops = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %sum, %max, %last = transform.split_handle %ops : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %tiled = transform.cwm.fuse_results %last tile_sizes = [1, 0] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// Two loops whose steps do not divide: one slice each for the result in the
// middle, which the target reads, and the one that it does not.
#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
// CHECK-LABEL: func.func @blocks(
// CHECK: scf.for %[[I:[^ ]+]] = {{.*}} -> (tensor<9x7xf32>, tensor<7x9xf32>, tensor<9x7xf32>)
// CHECK: scf.for %[[J:[^ ]+]] = {{.*}} -> (tensor<9x7xf32>, tensor<7x9xf32>, tensor<9x7xf32>)
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK-DAG: tensor.insert_slice {{.*}}[%[[I]], %[[J]]]{{.*}} into tensor<9x7xf32>
// CHECK-DAG: tensor.insert_slice {{.*}}[%[[J]], %[[I]]]{{.*}} into tensor<7x9xf32>
// CHECK: return
func.func @blocks(%x: tensor<9x7xf32>) -> (tensor<9x7xf32>, tensor<9x7xf32>, tensor<7x9xf32>) {
  %e = tensor.empty() : tensor<9x7xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<9x7xf32>) outs(%e : tensor<9x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<9x7xf32>
  %e2 = tensor.empty() : tensor<7x9xf32>
  %q = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<9x7xf32>) outs(%e2 : tensor<7x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.tanh %a : f32
    linalg.yield %r : f32
  } -> tensor<7x9xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %p : tensor<9x7xf32>, tensor<9x7xf32>) outs(%e : tensor<9x7xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<9x7xf32>
  return %y, %p, %q : tensor<9x7xf32>, tensor<9x7xf32>, tensor<7x9xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %ops = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %exp, %tanh, %last = transform.split_handle %ops : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %tiled = transform.cwm.fuse_results %last tile_sizes = [4, 4] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// A row is read at another place than it is computed: two different slices.
#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
func.func @diagonal(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  // expected-note @below {{target op}}
  %y = linalg.generic {indexing_maps = [#id, #t, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %p : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  return %y, %p : tensor<8x8xf32>, tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %ops = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %exp, %last = transform.split_handle %ops : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    // expected-error @below {{expected the same slice of a result wherever it is read}}
    %tiled = transform.cwm.fuse_results %last tile_sizes = [2, 0] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

#id = affine_map<(i) -> (i)>
func.func @not_tiled(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-note @below {{target op}}
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %p : tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected an op that can be tiled, and a tile size that tiles it}}
    %tiled = transform.cwm.fuse_results %op tile_sizes = [0] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

#id = affine_map<(i) -> (i)>
func.func @too_many(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-note @below {{target op}}
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %p : tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected at most 1 tile sizes}}
    %tiled = transform.cwm.fuse_results %op tile_sizes = [2, 2] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
