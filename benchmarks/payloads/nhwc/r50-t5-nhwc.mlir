// conv 3x3 stride 2 + ReLU, channels last; written by benchmarks/make_nhwc.py from rep/r50-t5.mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @kernel(%x: tensor<1x56x56x128xf32>, %weight: tensor<3x3x128x128xf32> {cwm.constant}, %bias: tensor<128xf32> {cwm.constant}) -> tensor<1x28x28x128xf32> {
    %zero = arith.constant 0.000000e+00 : f32
    %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%d0: index, %d1: index, %d2: index, %d3: index):
      tensor.yield %zero : f32
    } : tensor<1x56x56x128xf32> to tensor<1x58x58x128xf32>
    %empty = tensor.empty() : tensor<1x28x28x128xf32>
    %bias_everywhere = linalg.broadcast ins(%bias : tensor<128xf32>) outs(%empty : tensor<1x28x28x128xf32>) dimensions = [0, 1, 2]
    %conv = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded, %weight : tensor<1x58x58x128xf32>, tensor<3x3x128x128xf32>) outs(%bias_everywhere : tensor<1x28x28x128xf32>) -> tensor<1x28x28x128xf32>
    %result = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%conv : tensor<1x28x28x128xf32>) outs(%empty : tensor<1x28x28x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %c0 = arith.cmpf ugt, %in, %zero : f32
      %r0 = arith.select %c0, %in, %zero : f32
      linalg.yield %r0 : f32
    } -> tensor<1x28x28x128xf32>
    return %result : tensor<1x28x28x128xf32>
  }
}
