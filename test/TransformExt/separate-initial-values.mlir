// RUN: cwm-opt %s --transform-interpreter --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[A:[^:]*]]: tensor<4x8xf32>, %[[B:[^:]*]]: tensor<8x6xf32>, %[[C:[^:]*]]: tensor<4x6xf32>
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[EMPTY]] :
// CHECK: %[[AB:.*]] = linalg.matmul ins(%[[A]], %[[B]] : {{.*}}) outs(%[[FILL]] :
// CHECK: %[[R:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[C]], %[[AB]] : {{.*}}) outs(%[[EMPTY]] :
// CHECK: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK-NEXT: linalg.yield %[[S]] : f32
// CHECK: return %[[R]]
func.func @sum(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// The result may be indexed by any permutation; the neutral element is that of
// the combiner.
// CHECK-LABEL: func.func @maximum(
// CHECK-SAME: %[[X:[^:]*]]: tensor<5x3x7xi32>, %[[C:[^:]*]]: tensor<7x5xi32>
// CHECK: %[[LOWEST:.*]] = arith.constant -2147483648 : i32
// CHECK: linalg.fill ins(%[[LOWEST]] : i32)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]}
// CHECK: linalg.generic {indexing_maps = [#[[ID:.*]], #[[ID]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[C]], %{{.*}} :
// CHECK: arith.maxsi
func.func @maximum(%x: tensor<5x3x7xi32>, %c: tensor<7x5xi32>) -> tensor<7x5xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2, d0)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<5x3x7xi32>) outs(%c : tensor<7x5xi32>) {
  ^bb0(%a: i32, %b: i32):
    %s = arith.maxsi %b, %a : i32
    linalg.yield %s : i32
  } -> tensor<7x5xi32>
  return %r : tensor<7x5xi32>
}

// One number everywhere becomes a fill.
// CHECK-LABEL: func.func @splat(
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ONE]] : f32)
// CHECK: linalg.matmul {{.*}} outs(%[[FILL]] :
// CHECK-NOT: linalg
// CHECK: return
func.func @splat(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %c = arith.constant dense<1.0> : tensor<4x6xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// What an elementwise op overwrites becomes an input where it is read.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME: %[[X:[^:]*]]: tensor<3xf32>, %[[C:[^:]*]]: tensor<2x3xf32>
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<2x3xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[C]] : tensor<3xf32>, tensor<2x3xf32>) outs(%[[EMPTY]] :
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.subf %[[A]], %[[B]]
func.func @in_place(%x: tensor<3xf32>, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3xf32>) outs(%c : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %func {
      transform.apply_patterns.cwm.separate_initial_values
    } : !transform.any_op
    transform.yield
  }
}

// -----

// Left alone: fills, empty tensors, shapes that are not known, several results,
// reductions without a neutral element or with more than one operation, and
// elementwise ops that do not read what they overwrite.
// CHECK-LABEL: func.func @others(
// CHECK: = linalg.fill
// CHECK-COUNT-7: = linalg.{{generic|matmul}}
// CHECK-NOT: = linalg
// CHECK: return
func.func @others(%a: tensor<4x4xf32>, %dynamic: tensor<?x?xf32>, %row: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<?x?xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%fill : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%dynamic, %dynamic : tensor<?x?xf32>, tensor<?x?xf32>) outs(%dynamic : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x4xf32>) outs(%row, %row : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.mulf %x, %z : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  %3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x4xf32>) outs(%row : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.subf %y, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x4xf32>) outs(%row : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %y, %x : f32
    %t = arith.mulf %s, %x : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x4xf32>) outs(%0 : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.negf %x : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %6 = linalg.matmul ins(%a, %5 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2#0, %2#1, %3, %4, %5, %6 : tensor<4x4xf32>, tensor<?x?xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %func {
      transform.apply_patterns.cwm.separate_initial_values
    } : !transform.any_op
    transform.yield
  }
}
