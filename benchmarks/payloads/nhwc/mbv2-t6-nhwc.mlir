// conv 1x1 + add, channels last; written by benchmarks/make_nhwc.py from rep/mbv2-t6.mlir.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @kernel(%x: tensor<1x56x56x144xf32>, %residual: tensor<1x56x56x24xf32>, %weight: tensor<1x1x144x24xf32> {cwm.constant}, %bias: tensor<24xf32> {cwm.constant}) -> tensor<1x56x56x24xf32> {
    %empty = tensor.empty() : tensor<1x56x56x24xf32>
    %bias_everywhere = linalg.broadcast ins(%bias : tensor<24xf32>) outs(%empty : tensor<1x56x56x24xf32>) dimensions = [0, 1, 2]
    %conv = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %weight : tensor<1x56x56x144xf32>, tensor<1x1x144x24xf32>) outs(%bias_everywhere : tensor<1x56x56x24xf32>) -> tensor<1x56x56x24xf32>
    %result = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%conv, %residual : tensor<1x56x56x24xf32>, tensor<1x56x56x24xf32>) outs(%empty : tensor<1x56x56x24xf32>) {
    ^bb0(%in: f32, %other: f32, %out: f32):
      %s = arith.addf %in, %other : f32
      linalg.yield %s : f32
    } -> tensor<1x56x56x24xf32>
    return %result : tensor<1x56x56x24xf32>
  }
}
