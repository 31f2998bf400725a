// RUN: cwm-opt %s -cwm-decompose-tensor-ops -split-input-file | FileCheck %s

// CHECK-LABEL: @pack
// CHECK: tensor.pad
// CHECK: linalg.transpose
// CHECK-NOT: linalg.pack
func.func @pack(%x: tensor<3x5xf32>, %p: f32, %e: tensor<2x2x2x4xf32>) -> tensor<2x2x2x4xf32> {
  %0 = linalg.pack %x padding_value(%p : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<3x5xf32> -> tensor<2x2x2x4xf32>
  return %0 : tensor<2x2x2x4xf32>
}

// -----

// CHECK-LABEL: @softmax
// CHECK-NOT: linalg.softmax
// CHECK-COUNT-2: linalg.generic
func.func @softmax(%x: tensor<3x5xf32>, %e: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// Scalars, vectors and bodies of linalg ops are left as they are.
// CHECK-LABEL: @elementwise
// CHECK: linalg.generic
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK-NOT: linalg.generic
func.func @elementwise(%x: tensor<3xf32>, %s: f32, %v: vector<4xf32>) -> (tensor<3xf32>, f32, vector<4xf32>) {
  %0 = arith.addf %x, %x : tensor<3xf32>
  %1 = arith.addf %s, %s : f32
  %2 = arith.addf %v, %v : vector<4xf32>
  return %0, %1, %2 : tensor<3xf32>, f32, vector<4xf32>
}
