// RUN: split-file %s %t
// RUN: cwm-opt %t/padded.mlir --cwm-apply-sketch='sketch=convolution hardware=%S/Inputs/avx512.json knobs=f=32,w=14,c=4' | FileCheck %s --check-prefix=PADDED
// RUN: cwm-opt %t/ragged.mlir --cwm-apply-sketch='sketch=convolution hardware=%S/Inputs/avx512.json knobs=f=16,w=4,c=3' | FileCheck %s --check-prefix=RAGGED
// RUN: cwm-opt %t/padded.mlir --linalg-generalize-named-ops -o %t/generic.mlir
// RUN: cwm-opt %t/generic.mlir --cwm-apply-sketch='sketch=convolution hardware=%S/Inputs/avx512.json knobs=f=32,w=14,c=4' | FileCheck %s --check-prefix=PADDED
// RUN: cwm-opt %t/groups.mlir --cwm-apply-sketch='sketch=convolution hardware=%S/Inputs/avx512.json knobs=f=16,w=7,c=4' | FileCheck %s --check-prefix=GROUPS
// RUN: cwm-opt %t/fhwc.mlir --cwm-apply-sketch='sketch=convolution hardware=%S/Inputs/avx512.json knobs=f=32,w=6,c=4' | FileCheck %s --check-prefix=FHWC
// RUN: cwm-opt %t/row.mlir --cwm-apply-sketch='sketch=convolution hardware=%S/Inputs/avx512.json knobs=f=16,w=12,c=2' | FileCheck %s --check-prefix=ROW
// RUN: not cwm-opt %t/pair.mlir --cwm-apply-sketch='sketch=convolution hardware=%S/Inputs/avx512.json' 2>&1 | FileCheck %s --check-prefix=PAIR

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

// Groups as torch-mlir makes them: the padded input and the bias are reshaped,
// and so is the result. A panel of 16 channels for each of the two groups.
// GROUPS-LABEL: func.func @kernel(
// GROUPS-DAG: memref.alloc() {{.*}} : memref<1x2x4x8x9xf32>
// GROUPS-DAG: memref.alloc() {{.*}} : memref<2x1x4x3x3x16xf32>
// GROUPS: scf.for {{.*}} iter_args({{.*}}) -> (vector<7x16xf32>)
// GROUPS-COUNT-28: vector.fma {{.*}} : vector<16xf32>
// GROUPS-NOT: vector.fma
// GROUPS: arith.maximumf
// GROUPS-NOT: linalg.
// GROUPS-NOT: tensor<

// The filter's rows of input channels become panels; nothing else is transposed.
// FHWC-LABEL: func.func @kernel(
// FHWC: memref.alloc() {{.*}} : memref<2x3x3x8x32xf32>
// FHWC: vector.transpose {{.*}} : vector<32x8xf32> to vector<8x32xf32>
// FHWC: scf.for {{.*}} iter_args({{.*}}) -> (vector<6x32xf32>)
// FHWC-NOT: vector.transpose
// FHWC-NOT: linalg.
// FHWC-NOT: tensor<

// One dimension.
// ROW-LABEL: func.func @kernel(
// ROW: memref.alloc() {{.*}} : memref<1x4x3x16xf32>
// ROW: scf.for {{.*}} iter_args({{.*}}) -> (vector<12x16xf32>)
// ROW-NOT: linalg.
// ROW-NOT: tensor<

// PAIR: error: sketch 'convolution' does not fit this payload; those that fit: fallback

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

//--- groups.mlir
#map = affine_map<(n, f, h, w) -> (n, f, h, w)>
func.func @kernel(%x: tensor<1x8x6x7xf32>, %k: tensor<32x4x3x3xf32>, %b: tensor<32xf32>) -> tensor<1x32x6x7xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : f32
  } : tensor<1x8x6x7xf32> to tensor<1x8x8x9xf32>
  %e = tensor.empty() : tensor<1x32x6x7xf32>
  %i = linalg.broadcast ins(%b : tensor<32xf32>) outs(%e : tensor<1x32x6x7xf32>) dimensions = [0, 2, 3]
  %pg = tensor.expand_shape %p [[0], [1, 2], [3], [4]] output_shape [1, 2, 4, 8, 9] : tensor<1x8x8x9xf32> into tensor<1x2x4x8x9xf32>
  %kg = tensor.expand_shape %k [[0, 1], [2], [3], [4]] output_shape [2, 16, 4, 3, 3] : tensor<32x4x3x3xf32> into tensor<2x16x4x3x3xf32>
  %ig = tensor.expand_shape %i [[0], [1, 2], [3], [4]] output_shape [1, 2, 16, 6, 7] : tensor<1x32x6x7xf32> into tensor<1x2x16x6x7xf32>
  %c = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%pg, %kg : tensor<1x2x4x8x9xf32>, tensor<2x16x4x3x3xf32>) outs(%ig : tensor<1x2x16x6x7xf32>) -> tensor<1x2x16x6x7xf32>
  %f = tensor.collapse_shape %c [[0], [1, 2], [3], [4]] : tensor<1x2x16x6x7xf32> into tensor<1x32x6x7xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%f : tensor<1x32x6x7xf32>) outs(%e : tensor<1x32x6x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.maximumf %in, %zero : f32
    linalg.yield %s : f32
  } -> tensor<1x32x6x7xf32>
  return %r : tensor<1x32x6x7xf32>
}

//--- fhwc.mlir
func.func @kernel(%x: tensor<1x8x14x8xf32>, %k: tensor<64x3x3x8xf32>) -> tensor<1x6x12x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x6x12x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x6x12x64xf32>) -> tensor<1x6x12x64xf32>
  %c = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %k : tensor<1x8x14x8xf32>, tensor<64x3x3x8xf32>) outs(%i : tensor<1x6x12x64xf32>) -> tensor<1x6x12x64xf32>
  return %c : tensor<1x6x12x64xf32>
}

//--- row.mlir
func.func @kernel(%x: tensor<1x4x26xf32>, %k: tensor<16x4x3xf32>) -> tensor<1x16x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x24xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x24xf32>) -> tensor<1x16x24xf32>
  %c = linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>} ins(%x, %k : tensor<1x4x26xf32>, tensor<16x4x3xf32>) outs(%i : tensor<1x16x24xf32>) -> tensor<1x16x24xf32>
  return %c : tensor<1x16x24xf32>
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
