func.func @kernel(%a: tensor<24x40xf32>, %b: tensor<40x32xf32>) -> tensor<24x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<24x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<24x32xf32>) -> tensor<24x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<24x40xf32>, tensor<40x32xf32>)
                     outs(%init : tensor<24x32xf32>) -> tensor<24x32xf32>
  return %c : tensor<24x32xf32>
}
