// conv 1x1, channels last; written by benchmarks/make_nhwc.py from rep/mbv2-t31.mlir.
module {
  func.func @kernel(%x: tensor<1x56x56x96xf32>, %weight: tensor<1x1x96x24xf32> {cwm.constant}, %bias: tensor<24xf32> {cwm.constant}) -> tensor<1x56x56x24xf32> {
    %empty = tensor.empty() : tensor<1x56x56x24xf32>
    %bias_everywhere = linalg.broadcast ins(%bias : tensor<24xf32>) outs(%empty : tensor<1x56x56x24xf32>) dimensions = [0, 1, 2]
    %conv = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %weight : tensor<1x56x56x96xf32>, tensor<1x1x96x24xf32>) outs(%bias_everywhere : tensor<1x56x56x24xf32>) -> tensor<1x56x56x24xf32>
    return %conv : tensor<1x56x56x24xf32>
  }
}
