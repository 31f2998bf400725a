// C = A * B, f32, M = 1023, N = 1000, K = 777: no extent divides a tile.
func.func @kernel(%a: tensor<1023x777xf32>, %b: tensor<777x1000xf32>) -> tensor<1023x1000xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %empty = tensor.empty() : tensor<1023x1000xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1023x1000xf32>) -> tensor<1023x1000xf32>
  %c = linalg.matmul ins(%a, %b : tensor<1023x777xf32>, tensor<777x1000xf32>) outs(%init : tensor<1023x1000xf32>) -> tensor<1023x1000xf32>
  return %c : tensor<1023x1000xf32>
}
