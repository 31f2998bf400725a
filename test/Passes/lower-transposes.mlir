// RUN: cwm-opt %s --cwm-lower-transposes | FileCheck %s

// One block of 16 x 16 for rows 0 to 13, columns 0 to 15, and one for the rest.
// CHECK-LABEL: func.func @odd(
// CHECK-SAME: %[[X:.*]]: vector<14x20xf32>
// CHECK-NOT: vector.transpose
// CHECK: vector.extract %[[X]][0] : vector<20xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : vector<20xf32>, vector<20xf32>
// CHECK: vector.shuffle {{.*}} [16, 17, 18, 19, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1] : vector<20xf32>, vector<20xf32>
// CHECK: vector.extract_strided_slice {{.*}} {offsets = [0], sizes = [14], strides = [1]} : vector<16xf32> to vector<14xf32>
// CHECK-NOT: vector<280xf32>
// CHECK: return {{.*}} : vector<20x14xf32>
func.func @odd(%x: vector<14x20xf32>) -> vector<20x14xf32> {
  %r = vector.transpose %x, [1, 0] : vector<14x20xf32> to vector<20x14xf32>
  return %r : vector<20x14xf32>
}

// Other element types and other ranks are lowered as upstream lowers them.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: vector.transpose
func.func @others(%x: vector<4x6xf64>, %y: vector<2x3x4xf32>, %z: vector<2x4xf32>) -> (vector<6x4xf64>, vector<4x2x3xf32>, vector<4x2xf32>) {
  %a = vector.transpose %x, [1, 0] : vector<4x6xf64> to vector<6x4xf64>
  %b = vector.transpose %y, [2, 0, 1] : vector<2x3x4xf32> to vector<4x2x3xf32>
  %c = vector.transpose %z, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  return %a, %b, %c : vector<6x4xf64>, vector<4x2x3xf32>, vector<4x2xf32>
}
