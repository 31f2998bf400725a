// C = A * B, i8 added up in i32, 1024 x 1024 x 1024.
func.func @kernel(%a: tensor<1024x1024xi8>, %b: tensor<1024x1024xi8>) -> tensor<1024x1024xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<1024x1024xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<1024x1024xi32>) -> tensor<1024x1024xi32>
  %c = linalg.matmul ins(%a, %b : tensor<1024x1024xi8>, tensor<1024x1024xi8>) outs(%init : tensor<1024x1024xi32>) -> tensor<1024x1024xi32>
  return %c : tensor<1024x1024xi32>
}
