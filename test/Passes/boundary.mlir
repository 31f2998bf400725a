// RUN: cwm-opt %s -cwm-read-only-inputs | FileCheck %s --check-prefix=READONLY
// RUN: cwm-opt %s -cwm-noalias-arguments | FileCheck %s --check-prefix=NOALIAS

// READONLY-LABEL: @tensors(
// READONLY-SAME: tensor<4xf32> {bufferization.writable = false}, %{{.*}}: tensor<4xf32> {bufferization.writable = true}, %{{.*}}: f32)
// NOALIAS-LABEL: @tensors(
// NOALIAS-NOT: llvm.noalias
func.func @tensors(%a: tensor<4xf32>, %b: tensor<4xf32> {bufferization.writable = true}, %c: f32) {
  return
}

// READONLY-LABEL: @buffers(
// READONLY-NOT: writable
// NOALIAS-LABEL: @buffers(
// NOALIAS-SAME: memref<4xf32> {llvm.noalias}, %{{.*}}: f32)
func.func @buffers(%a: memref<4xf32>, %c: f32) {
  return
}

// NOALIAS-LABEL: @internal(
// NOALIAS-NOT: llvm.noalias
func.func private @internal(%a: memref<4xf32>) {
  return
}

// READONLY-LABEL: @declared(tensor<4xf32>)
// NOALIAS-LABEL: @declared(tensor<4xf32>)
func.func private @declared(tensor<4xf32>)
