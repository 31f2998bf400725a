// depthwise 3x3 stride 2, channels last; written by benchmarks/make_nhwc.py from rep/mbv2-t22.mlir.
module {
  func.func @kernel(%x: tensor<1x112x112x96xf32>, %weight: tensor<3x3x96xf32> {cwm.constant}, %bias: tensor<96xf32> {cwm.constant}) -> tensor<1x56x56x96xf32> {
    %zero = arith.constant 0.000000e+00 : f32
    %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%d0: index, %d1: index, %d2: index, %d3: index):
      tensor.yield %zero : f32
    } : tensor<1x112x112x96xf32> to tensor<1x114x114x96xf32>
    %empty = tensor.empty() : tensor<1x56x56x96xf32>
    %bias_everywhere = linalg.broadcast ins(%bias : tensor<96xf32>) outs(%empty : tensor<1x56x56x96xf32>) dimensions = [0, 1, 2]
    %conv = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded, %weight : tensor<1x114x114x96xf32>, tensor<3x3x96xf32>) outs(%bias_everywhere : tensor<1x56x56x96xf32>) -> tensor<1x56x56x96xf32>
    return %conv : tensor<1x56x56x96xf32>
  }
}
