// max pool 3x3 stride 2, channels last; written by benchmarks/make_nhwc.py from rep/r50-t21.mlir.
module {
  func.func @kernel(%x: tensor<1x112x112x64xf32>) -> tensor<1x56x56x64xf32> {
    %lowest = arith.constant 0xFF800000 : f32
    %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%d0: index, %d1: index, %d2: index, %d3: index):
      tensor.yield %lowest : f32
    } : tensor<1x112x112x64xf32> to tensor<1x114x114x64xf32>
    %empty = tensor.empty() : tensor<1x56x56x64xf32>
    %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
    %window = tensor.empty() : tensor<3x3xf32>
    %result = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded, %window : tensor<1x114x114x64xf32>, tensor<3x3xf32>) outs(%init : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
    return %result : tensor<1x56x56x64xf32>
  }
}
