// C[i] = A[i] * B[i], f32: 12 products of 128 x 64 and 64 x 128.
func.func @kernel(%a: tensor<12x128x64xf32>, %b: tensor<12x64x128xf32>) -> tensor<12x128x128xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %empty = tensor.empty() : tensor<12x128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<12x128x128xf32>) -> tensor<12x128x128xf32>
  %c = linalg.batch_matmul ins(%a, %b : tensor<12x128x64xf32>, tensor<12x64x128xf32>) outs(%init : tensor<12x128x128xf32>) -> tensor<12x128x128xf32>
  return %c : tensor<12x128x128xf32>
}
