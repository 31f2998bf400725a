// depthwise 3x3 + ReLU6, channels last; written by benchmarks/make_nhwc.py from rep/mbv2-t4.mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @kernel(%x: tensor<1x56x56x144xf32>, %weight: tensor<3x3x144xf32> {cwm.constant}, %bias: tensor<144xf32> {cwm.constant}) -> tensor<1x56x56x144xf32> {
    %zero = arith.constant 0.000000e+00 : f32
    %six = arith.constant 6.000000e+00 : f32
    %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%d0: index, %d1: index, %d2: index, %d3: index):
      tensor.yield %zero : f32
    } : tensor<1x56x56x144xf32> to tensor<1x58x58x144xf32>
    %empty = tensor.empty() : tensor<1x56x56x144xf32>
    %bias_everywhere = linalg.broadcast ins(%bias : tensor<144xf32>) outs(%empty : tensor<1x56x56x144xf32>) dimensions = [0, 1, 2]
    %conv = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %weight : tensor<1x58x58x144xf32>, tensor<3x3x144xf32>) outs(%bias_everywhere : tensor<1x56x56x144xf32>) -> tensor<1x56x56x144xf32>
    %result = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%conv : tensor<1x56x56x144xf32>) outs(%empty : tensor<1x56x56x144xf32>) {
    ^bb0(%in: f32, %out: f32):
      %c0 = arith.cmpf ult, %in, %zero : f32
      %r0 = arith.select %c0, %zero, %in : f32
      %c1 = arith.cmpf ugt, %r0, %six : f32
      %r1 = arith.select %c1, %six, %r0 : f32
      linalg.yield %r1 : f32
    } -> tensor<1x56x56x144xf32>
    return %result : tensor<1x56x56x144xf32>
  }
}
