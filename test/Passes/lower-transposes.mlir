// RUN: cwm-opt %s -cwm-lower-transposes -split-input-file | FileCheck %s
// RUN: cwm-opt %s -cwm-lower-transposes=vector-bits=128 -split-input-file | FileCheck %s --check-prefix=NARROW

// b log2(b) shuffles for a block of side b. (That the numbers are right is
// checked in unittests/CPU/ObjectCodeTest.cpp, by running it.)

// CHECK-LABEL: func @square
// CHECK-COUNT-64: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-NOT: vector.transpose
// CHECK: return
// NARROW-LABEL: func @square
// NARROW-COUNT-128: vector.shuffle {{.*}} : vector<4xf32>, vector<4xf32>
// NARROW-NOT: vector.shuffle
// NARROW: return
func.func @square(%0: vector<16x16xf32>) -> vector<16x16xf32> {
  %1 = vector.transpose %0, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
  return %1 : vector<16x16xf32>
}

// -----

// Twelve rows fill up one block of side 16 (64 shuffles, against 80 of two of
// side 8 and four of side 4).
// CHECK-LABEL: func @ragged
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK-NOT: vector.shuffle
// CHECK-NOT: vector.transpose
// CHECK: return
func.func @ragged(%0: vector<12x16xf32>) -> vector<16x12xf32> {
  %1 = vector.transpose %0, [1, 0] : vector<12x16xf32> to vector<16x12xf32>
  return %1 : vector<16x12xf32>
}

// -----

// Nine rows do not: two blocks of side 8, and sixteen rows of one element.
// CHECK-LABEL: func @one_more
// CHECK-COUNT-48: vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK-NOT: vector.shuffle
// CHECK-NOT: vector.transpose
// CHECK: return
func.func @one_more(%0: vector<9x16xf32>) -> vector<16x9xf32> {
  %1 = vector.transpose %0, [1, 0] : vector<9x16xf32> to vector<16x9xf32>
  return %1 : vector<16x9xf32>
}

// -----

// Unit dimensions do not count.
// CHECK-LABEL: func @unit_dimensions
// CHECK: vector.shape_cast %{{.*}} : vector<1x2x1x4xf32> to vector<2x4xf32>
// CHECK-NOT: vector.transpose
// CHECK: vector.shape_cast %{{.*}} : vector<4x2xf32> to vector<1x1x4x2xf32>
func.func @unit_dimensions(%0: vector<1x2x1x4xf32>) -> vector<1x1x4x2xf32> {
  %1 = vector.transpose %0, [0, 2, 3, 1] : vector<1x2x1x4xf32> to vector<1x1x4x2xf32>
  return %1 : vector<1x1x4x2xf32>
}

// -----

// What is no transpose of a matrix, or has elements that are not shuffled by
// words, is left to others.
// CHECK-LABEL: func @others
// CHECK-COUNT-4: vector.transpose
func.func @others(%0: vector<2x3x4xf32>, %1: vector<4x4xi8>, %2: vector<4x4xi1>, %3: vector<1x2x1x4xf32>) -> (vector<4x3x2xf32>, vector<4x4xi8>, vector<4x4xi1>, vector<2x1x1x4xf32>) {
  %4 = vector.transpose %0, [2, 1, 0] : vector<2x3x4xf32> to vector<4x3x2xf32>
  %5 = vector.transpose %1, [1, 0] : vector<4x4xi8> to vector<4x4xi8>
  %6 = vector.transpose %2, [1, 0] : vector<4x4xi1> to vector<4x4xi1>
  %7 = vector.transpose %3, [1, 0, 2, 3] : vector<1x2x1x4xf32> to vector<2x1x1x4xf32>
  return %4, %5, %6, %7 : vector<4x3x2xf32>, vector<4x4xi8>, vector<4x4xi1>, vector<2x1x1x4xf32>
}
