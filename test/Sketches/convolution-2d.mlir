// RUN: split-file %s %t
// RUN: cwm-opt %t/padded.mlir --cwm-apply-sketch='sketch=convolution-2d hardware=%S/Inputs/avx512.json knobs=f=32,w=14,c=4' | FileCheck %s --check-prefix=PADDED
// RUN: cwm-opt %t/ragged.mlir --cwm-apply-sketch='sketch=convolution-2d hardware=%S/Inputs/avx512.json knobs=f=16,w=4,c=3' | FileCheck %s --check-prefix=RAGGED
// RUN: not cwm-opt %t/pair.mlir --cwm-apply-sketch='sketch=convolution-2d hardware=%S/Inputs/avx512.json' 2>&1 | FileCheck %s --check-prefix=PAIR

// Accumulators of 14 columns by 32 channels through three loops; the bias is read
// as a vector, the result leaves through no buffer but the transposed tile's.
// PADDED-LABEL: func.func @kernel(
// PADDED-DAG: memref.alloc() {{.*}} : memref<1x8x16x16xf32>
// PADDED-DAG: memref.alloc() {{.*}} : memref<2x8x3x3x32xf32>
// PADDED-DAG: memref.alloc() {{.*}} : memref<2x32xf32>
// PADDED: scf.for {{.*}} iter_args({{.*}}) -> (vector<14x32xf32>)
// PADDED: scf.for {{.*}} iter_args({{.*}}) -> (vector<14x32xf32>)
// PADDED: scf.for {{.*}} iter_args({{.*}}) -> (vector<14x32xf32>)
// PADDED-COUNT-56: vector.fma {{.*}} : vector<32xf32>
// PADDED-NOT: vector.fma
// PADDED: vector.transpose {{.*}} : vector<14x32xf32> to vector<32x14xf32>
// PADDED-NOT: linalg.
// PADDED-NOT: tensor<
// PADDED: return

// Stride 2, one column left over, 17 channels: four kinds of tiles.
// RAGGED-DAG: scf.for {{.*}} iter_args({{.*}}) -> (vector<4x16xf32>)
// RAGGED-DAG: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>)
// RAGGED-NOT: linalg.
// RAGGED-NOT: tensor<


// PAIR: error: sketch 'convolution-2d' does not fit this payload; those that fit: fallback

//--- padded.mlir
#map = affine_map<(n, f, h, w) -> (n, f, h, w)>
func.func @kernel(%x: tensor<1x8x14x14xf32>, %k: tensor<64x8x3x3xf32>, %b: tensor<64xf32>) -> tensor<1x64x14x14xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : f32
  } : tensor<1x8x14x14xf32> to tensor<1x8x16x16xf32>
  %e = tensor.empty() : tensor<1x64x14x14xf32>
  %i = linalg.broadcast ins(%b : tensor<64xf32>) outs(%e : tensor<1x64x14x14xf32>) dimensions = [0, 2, 3]
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%p, %k : tensor<1x8x16x16xf32>, tensor<64x8x3x3xf32>) outs(%i : tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c : tensor<1x64x14x14xf32>) outs(%e : tensor<1x64x14x14xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.maximumf %in, %zero : f32
    linalg.yield %s : f32
  } -> tensor<1x64x14x14xf32>
  return %r : tensor<1x64x14x14xf32>
}

//--- ragged.mlir
func.func @kernel(%x: tensor<2x3x9x11xf32>, %k: tensor<17x3x3x3xf32>) -> tensor<2x17x4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x17x4x5xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x17x4x5xf32>) -> tensor<2x17x4x5xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%x, %k : tensor<2x3x9x11xf32>, tensor<17x3x3x3xf32>) outs(%i : tensor<2x17x4x5xf32>) -> tensor<2x17x4x5xf32>
  return %c : tensor<2x17x4x5xf32>
}

//--- pair.mlir
func.func @kernel(%x: tensor<1x4x9x9xf32>, %k: tensor<4x4x3x3xf32>) -> tensor<1x4x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x7x7xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %k : tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>) outs(%i : tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
  %e1 = tensor.empty() : tensor<1x4x5x5xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  %d = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%c, %k : tensor<1x4x7x7xf32>, tensor<4x4x3x3xf32>) outs(%i1 : tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  return %d : tensor<1x4x5x5xf32>
}
