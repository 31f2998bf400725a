// RUN: split-file %s %t
// RUN: cwm-opt %t/softmax.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=vt=32' | FileCheck %s --check-prefix=SOFTMAX
// RUN: cwm-opt %t/variance.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=vt=16' | FileCheck %s --check-prefix=VARIANCE
// RUN: cwm-opt %t/pool.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json' | FileCheck %s --check-prefix=POOL
// RUN: cwm-opt %t/all.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=vt=16' | FileCheck %s --check-prefix=ALL
// RUN: cwm-opt %t/pool.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json' --cwm-lower-to-cpu | FileCheck %s --check-prefix=LLVM
// RUN: not cwm-opt %t/several.mlir --cwm-apply-sketch='sketch=chain-rows hardware=%S/Inputs/avx512.json' 2>&1 | FileCheck %s --check-prefix=NOFIT
// RUN: not cwm-opt %t/columns.mlir --cwm-apply-sketch='sketch=chain-rows hardware=%S/Inputs/avx512.json' 2>&1 | FileCheck %s --check-prefix=NOFIT

// One row goes through the chain: two reductions with partial results in
// registers, exponentials computed once, in a buffer of one row.
// SOFTMAX-LABEL: func.func @kernel(
// SOFTMAX-NOT: memref<{{.*}}x96xf32>{{.*}}alloc
// SOFTMAX: scf.for
// SOFTMAX: scf.for {{.*}} iter_args({{.*}}) -> (vector<32xf32>)
// SOFTMAX: arith.maximumf {{.*}} : vector<32xf32>
// SOFTMAX: vector.reduction <maximumf>
// SOFTMAX: memref.alloc() {{.*}} : memref<96xf32>
// SOFTMAX: math.exp {{.*}} : vector<32xf32>
// SOFTMAX: scf.for {{.*}} iter_args({{.*}}) -> (vector<32xf32>)
// SOFTMAX: vector.reduction <add>
// SOFTMAX-NOT: math.exp
// SOFTMAX: arith.divf {{.*}} : vector<32xf32>
// SOFTMAX-NOT: linalg.
// SOFTMAX-NOT: tensor<

// Unit dimensions are no obstacle; 37 = 2 * 16 + 5.
// VARIANCE: %[[C32:.*]] = arith.constant 32 : index
// VARIANCE: scf.for {{.*}} to %[[C32]] {{.*}} -> (vector<16xf32>)
// VARIANCE: arith.mulf {{.*}} : vector<16xf32>
// VARIANCE: arith.mulf {{.*}} : vector<5xf32>
// VARIANCE: vector.reduction <add>
// VARIANCE-NOT: linalg.

// The two dimensions of an image are one row, which is one vector.
// POOL: memref.collapse_shape {{.*}} : memref<1x10x7x7xf32> into memref<10x49xf32>
// POOL: vector.transfer_read {{.*}} vector<49xf32>
// POOL: vector.reduction <add>
// POOL-NOT: linalg.
// LLVM: llvm.func @kernel
// LLVM: llvm.intr.vector.reduce.fadd

// No loop around it.
// ALL: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xi32>)
// ALL: vector.reduction <maxsi>
// ALL-NOT: linalg.

// NOFIT: error: sketch 'chain-rows' does not fit this payload; those that fit: {{.*}}fallback

//--- softmax.mlir
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @kernel(%x: tensor<6x96xf32>) -> tensor<6x96xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x96xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %e2 = tensor.empty() : tensor<6x96xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<6x96xf32>, tensor<6xf32>) outs(%e2 : tensor<6x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<6x96xf32>
  %g = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<6x96xf32>) outs(%g : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<6x96xf32>, tensor<6xf32>) outs(%e2 : tensor<6x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<6x96xf32>
  return %q : tensor<6x96xf32>
}

//--- variance.mlir
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i, 0)>
func.func @kernel(%x: tensor<5x37xf32>, %mean: tensor<5x1xf32>) -> tensor<5x1xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 37.0 : f32
  %e = tensor.empty() : tensor<5x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x1xf32>) -> tensor<5x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %mean : tensor<5x37xf32>, tensor<5x1xf32>) outs(%f : tensor<5x1xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %r = arith.addf %q, %o : f32
    linalg.yield %r : f32
  } -> tensor<5x1xf32>
  %v = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<5x1xf32>) outs(%e : tensor<5x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %a, %n : f32
    linalg.yield %r : f32
  } -> tensor<5x1xf32>
  return %v : tensor<5x1xf32>
}

//--- pool.mlir
func.func @kernel(%x: tensor<1x10x7x7xf32>) -> tensor<1x10xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x10xf32>) -> tensor<1x10xf32>
  %s = linalg.reduce ins(%x : tensor<1x10x7x7xf32>) outs(%f : tensor<1x10xf32>) dimensions = [2, 3]
    (%a: f32, %o: f32) {
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    }
  return %s : tensor<1x10xf32>
}

//--- all.mlir
func.func @kernel(%x: tensor<3x64xi32>) -> tensor<i32> {
  %least = arith.constant -2147483648 : i32
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%least : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %s = linalg.reduce ins(%x : tensor<3x64xi32>) outs(%f : tensor<i32>) dimensions = [0, 1]
    (%a: i32, %o: i32) {
      %r = arith.maxsi %a, %o : i32
      linalg.yield %r : i32
    }
  return %s : tensor<i32>
}

//--- several.mlir
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
func.func @kernel(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #transposed], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%e, %e : tensor<8x8xf32>, tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    linalg.yield %a, %a : f32, f32
  } -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %r#0, %r#1 : tensor<8x8xf32>, tensor<8x8xf32>
}

//--- columns.mlir
func.func @kernel(%x: tensor<16x64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce ins(%x : tensor<16x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
    (%a: f32, %o: f32) {
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    }
  return %s : tensor<64xf32>
}
