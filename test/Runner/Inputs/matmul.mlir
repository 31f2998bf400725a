func.func @kernel(%a: tensor<12x20xf32>, %b: tensor<20x16xf32>) -> tensor<12x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<12x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<12x16xf32>) -> tensor<12x16xf32>
  %r = linalg.matmul ins(%a, %b : tensor<12x20xf32>, tensor<20x16xf32>) outs(%init : tensor<12x16xf32>) -> tensor<12x16xf32>
  return %r : tensor<12x16xf32>
}
