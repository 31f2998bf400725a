// RUN: split-file %s %t
// RUN: cwm-opt %t/depthwise.mlir --cwm-apply-sketch='sketch=window hardware=%S/Inputs/avx512.json knobs=rows=4,v=16' | FileCheck %s --check-prefix=DEPTHWISE
// RUN: cwm-opt %t/pool.mlir --cwm-apply-sketch='sketch=window hardware=%S/Inputs/avx512.json knobs=rows=2,v=16' --cwm-lower-to-cpu | FileCheck %s --check-prefix=POOL
// RUN: cwm-opt %t/nhwc.mlir --cwm-apply-sketch='sketch=window hardware=%S/Inputs/avx512.json knobs=block=32,rows=5,v=16' | FileCheck %s --check-prefix=NHWC
// RUN: cwm-opt %t/nhwc.mlir --cwm-apply-sketch='sketch=window-inside hardware=%S/Inputs/avx512.json knobs=block=64,rows=4,v=16' | FileCheck %s --check-prefix=INSIDE
// RUN: cwm-opt %t/volume.mlir --cwm-apply-sketch='sketch=window hardware=%S/Inputs/avx512.json knobs=rows=4,v=8' | FileCheck %s --check-prefix=VOLUME
// RUN: cwm-opt %t/depthwise.mlir --linalg-generalize-named-ops -o %t/generic.mlir
// RUN: cwm-opt %t/generic.mlir --cwm-apply-sketch='sketch=window hardware=%S/Inputs/avx512.json knobs=rows=4,v=16' | FileCheck %s --check-prefix=DEPTHWISE
// RUN: not cwm-opt %t/multiplier.mlir --cwm-apply-sketch='sketch=window hardware=%S/Inputs/avx512.json' 2>&1 | FileCheck %s --check-prefix=MULTIPLIER

// One padded channel at a time; the window is unrolled, the tile of 4 x 16 is in
// registers from the bias to the result.
// DEPTHWISE-LABEL: func.func @kernel(
// DEPTHWISE: scf.for
// DEPTHWISE: memref.alloc() {{.*}} : memref<1x1x18x18xf32>
// DEPTHWISE-COUNT-9: arith.mulf {{.*}} : vector<4x16xf32>
// DEPTHWISE-NOT: arith.mulf
// DEPTHWISE: arith.maximumf {{.*}} : vector<4x16xf32>
// DEPTHWISE-NOT: linalg.
// DEPTHWISE-NOT: tensor<

// Stride 2: shuffles of contiguous loads.
// POOL: llvm.func @kernel(
// POOL: llvm.shufflevector {{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31]
// POOL: llvm.intr.maximum{{.*}} vector<16xf32>
// POOL-NOT: builtin.unrealized_conversion_cast

// Channels innermost: the padded image of 32 of them, then five columns of 16.
// NHWC-LABEL: func.func @kernel(
// NHWC: scf.for {{.*}} step %c32
// NHWC: memref.alloc() {{.*}} : memref<1x12x12x32xf32>
// NHWC-COUNT-9: arith.mulf {{.*}} : vector<5x16xf32>
// NHWC-NOT: arith.mulf
// NHWC-NOT: linalg.
// NHWC-NOT: tensor<

// The inside, 8 x 8 of the result, reads the input where it is; the rows above and
// below and the columns left and right are padded.
// INSIDE-LABEL: func.func @kernel(
// INSIDE-SAME: %[[X:.*]]: memref<1x10x10x64xf32>, %[[K:.*]]: memref<3x3x64xf32>
// INSIDE-NOT: memref<1x12x12x
// INSIDE: scf.for {{.*}} to %c8 step %c1
// INSIDE: scf.for {{.*}} to %c8 step %c4
// INSIDE-COUNT-9: memref.subview %[[X]]
// INSIDE: memref.alloc() {{.*}} : memref<1x3x12x64xf32>
// INSIDE: memref.alloc() {{.*}} : memref<1x10x3x64xf32>
// INSIDE-NOT: memref<1x12x12x
// INSIDE-NOT: linalg.
// INSIDE-NOT: tensor<

// Three dimensions; eight elements of the window, 4 x 8 elements of a channel.
// VOLUME-LABEL: func.func @kernel(
// VOLUME-COUNT-8: arith.addf {{.*}} : vector<4x8xf32>
// VOLUME-NOT: linalg.
// VOLUME-NOT: tensor<

// MULTIPLIER: error: sketch 'window' does not fit this payload

//--- depthwise.mlir
#map = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @kernel(%x: tensor<1x6x16x16xf32>, %k: tensor<6x3x3xf32>, %b: tensor<6xf32>) -> tensor<1x6x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : f32
  } : tensor<1x6x16x16xf32> to tensor<1x6x18x18xf32>
  %e = tensor.empty() : tensor<1x6x16x16xf32>
  %i = linalg.broadcast ins(%b : tensor<6xf32>) outs(%e : tensor<1x6x16x16xf32>) dimensions = [0, 2, 3]
  %c = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%p, %k : tensor<1x6x18x18xf32>, tensor<6x3x3xf32>) outs(%i : tensor<1x6x16x16xf32>) -> tensor<1x6x16x16xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c : tensor<1x6x16x16xf32>) outs(%e : tensor<1x6x16x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.maximumf %in, %zero : f32
    linalg.yield %s : f32
  } -> tensor<1x6x16x16xf32>
  return %r : tensor<1x6x16x16xf32>
}

//--- pool.mlir
func.func @kernel(%x: tensor<1x2x12x33xf32>) -> tensor<1x2x6x16xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x2x6x16xf32>
  %i = linalg.fill ins(%lowest : f32) outs(%e : tensor<1x2x6x16xf32>) -> tensor<1x2x6x16xf32>
  %k = tensor.empty() : tensor<2x2xf32>
  %r = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%x, %k : tensor<1x2x12x33xf32>, tensor<2x2xf32>) outs(%i : tensor<1x2x6x16xf32>) -> tensor<1x2x6x16xf32>
  return %r : tensor<1x2x6x16xf32>
}

//--- nhwc.mlir
func.func @kernel(%x: tensor<1x10x10x64xf32>, %k: tensor<3x3x64xf32>, %b: tensor<64xf32>) -> tensor<1x10x10x64xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : f32
  } : tensor<1x10x10x64xf32> to tensor<1x12x12x64xf32>
  %e = tensor.empty() : tensor<1x10x10x64xf32>
  %i = linalg.broadcast ins(%b : tensor<64xf32>) outs(%e : tensor<1x10x10x64xf32>) dimensions = [0, 1, 2]
  %c = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%p, %k : tensor<1x12x12x64xf32>, tensor<3x3x64xf32>) outs(%i : tensor<1x10x10x64xf32>) -> tensor<1x10x10x64xf32>
  return %c : tensor<1x10x10x64xf32>
}

//--- volume.mlir
#in = affine_map<(n, c, d, h, w, i, j, k) -> (n, c, d + i, h + j, w + k)>
#window = affine_map<(n, c, d, h, w, i, j, k) -> (i, j, k)>
#out = affine_map<(n, c, d, h, w, i, j, k) -> (n, c, d, h, w)>
func.func @kernel(%x: tensor<1x2x5x9x9xf32>) -> tensor<1x2x4x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x4x8x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
  %k = tensor.empty() : tensor<2x2x2xf32>
  %r = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %k : tensor<1x2x5x9x9xf32>, tensor<2x2x2xf32>) outs(%i : tensor<1x2x4x8x8xf32>) {
  ^bb0(%a: f32, %unused: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x2x4x8x8xf32>
  return %r : tensor<1x2x4x8x8xf32>
}

//--- multiplier.mlir
func.func @kernel(%x: tensor<1x12x12x4xf32>, %k: tensor<3x3x4x2xf32>) -> tensor<1x10x10x4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x10x4x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x10x10x4x2xf32>) -> tensor<1x10x10x4x2xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %k : tensor<1x12x12x4xf32>, tensor<3x3x4x2xf32>) outs(%i : tensor<1x10x10x4x2xf32>) -> tensor<1x10x10x4x2xf32>
  return %r : tensor<1x10x10x4x2xf32>
}
