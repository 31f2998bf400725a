// RUN: cwm-opt %s -cwm-lower-transposes -canonicalize -split-input-file | FileCheck %s
// RUN: cwm-opt %s -cwm-lower-transposes=vector-bits=128 -canonicalize -split-input-file | FileCheck %s

// Constants fold through shuffles: the element of row r and column c is 100 r + c.

// CHECK-LABEL: func @square
// CHECK-NOT: vector.transpose
// CHECK: dense<{{\[}}[0, 100, 200, 300], [1, 101, 201, 301], [2, 102, 202, 302], [3, 103, 203, 303]]> : vector<4x4xi32>
func.func @square() -> vector<4x4xi32> {
  %0 = arith.constant dense<[[0, 1, 2, 3], [100, 101, 102, 103], [200, 201, 202, 203], [300, 301, 302, 303]]> : vector<4x4xi32>
  %1 = vector.transpose %0, [1, 0] : vector<4x4xi32> to vector<4x4xi32>
  return %1 : vector<4x4xi32>
}

// -----

// Neither side is a power of two.
// CHECK-LABEL: func @ragged
// CHECK-NOT: vector.transpose
// CHECK: dense<{{\[}}[0, 100, 200], [1, 101, 201], [2, 102, 202], [3, 103, 203], [4, 104, 204]]> : vector<5x3xi64>
func.func @ragged() -> vector<5x3xi64> {
  %0 = arith.constant dense<[[0, 1, 2, 3, 4], [100, 101, 102, 103, 104], [200, 201, 202, 203, 204]]> : vector<3x5xi64>
  %1 = vector.transpose %0, [1, 0] : vector<3x5xi64> to vector<5x3xi64>
  return %1 : vector<5x3xi64>
}

// -----

// Whole lanes trade places, and the block is higher than wide.
// CHECK-LABEL: func @high
// CHECK-NOT: vector.transpose
// CHECK: dense<{{\[}}[0, 100, 200, 300, 400, 500, 600, 700], [1, 101, 201, 301, 401, 501, 601, 701]]> : vector<2x8xi32>
func.func @high() -> vector<2x8xi32> {
  %0 = arith.constant dense<[[0, 1], [100, 101], [200, 201], [300, 301], [400, 401], [500, 501], [600, 601], [700, 701]]> : vector<8x2xi32>
  %1 = vector.transpose %0, [1, 0] : vector<8x2xi32> to vector<2x8xi32>
  return %1 : vector<2x8xi32>
}

// -----

// CHECK-LABEL: func @lanes
// CHECK-NOT: vector.transpose
// CHECK: dense<{{\[}}[0, 100, 200, 300, 400, 500, 600, 700], [1, 101, 201, 301, 401, 501, 601, 701], [2, 102, 202, 302, 402, 502, 602, 702], [3, 103, 203, 303, 403, 503, 603, 703],
// CHECK-SAME: [4, 104, 204, 304, 404, 504, 604, 704], [5, 105, 205, 305, 405, 505, 605, 705], [6, 106, 206, 306, 406, 506, 606, 706], [7, 107, 207, 307, 407, 507, 607, 707]]> : vector<8x8xi32>
func.func @lanes() -> vector<8x8xi32> {
  %0 = arith.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [100, 101, 102, 103, 104, 105, 106, 107], [200, 201, 202, 203, 204, 205, 206, 207], [300, 301, 302, 303, 304, 305, 306, 307], [400, 401, 402, 403, 404, 405, 406, 407], [500, 501, 502, 503, 504, 505, 506, 507], [600, 601, 602, 603, 604, 605, 606, 607], [700, 701, 702, 703, 704, 705, 706, 707]]> : vector<8x8xi32>
  %1 = vector.transpose %0, [1, 0] : vector<8x8xi32> to vector<8x8xi32>
  return %1 : vector<8x8xi32>
}

// -----

// Unit dimensions do not count.
// CHECK-LABEL: func @unit_dimensions
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
// CHECK-COUNT-3: vector.transpose
func.func @others(%0: vector<2x3x4xf32>, %1: vector<4x4xi8>, %2: vector<4x4xi1>) -> (vector<4x3x2xf32>, vector<4x4xi8>, vector<4x4xi1>) {
  %3 = vector.transpose %0, [2, 1, 0] : vector<2x3x4xf32> to vector<4x3x2xf32>
  %4 = vector.transpose %1, [1, 0] : vector<4x4xi8> to vector<4x4xi8>
  %5 = vector.transpose %2, [1, 0] : vector<4x4xi1> to vector<4x4xi1>
  return %3, %4, %5 : vector<4x3x2xf32>, vector<4x4xi8>, vector<4x4xi1>
}
