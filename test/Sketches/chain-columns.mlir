// RUN: split-file %s %t
// RUN: cwm-opt %t/bias.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=tile=[1,32]' | FileCheck %s --check-prefix=BIAS
// RUN: cwm-opt %t/variance.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=tile=[0,32],kt=2' | FileCheck %s --check-prefix=VARIANCE
// RUN: cwm-opt %t/softmax.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=tile=[1,0,16],kt=4' | FileCheck %s --check-prefix=SOFTMAX
// RUN: not cwm-opt %t/rows.mlir --cwm-apply-sketch='sketch=chain-columns hardware=%S/Inputs/avx512.json' 2>&1 | FileCheck %s --check-prefix=NOFIT

// A strip of the innermost dimension at a time; 40 = 32 + 8.
// BIAS-LABEL: func.func @kernel(
// BIAS: scf.for
// BIAS-NOT: scf.for
// BIAS: arith.addf {{.*}} : vector<32xf32>
// BIAS: arith.maximumf {{.*}} : vector<32xf32>
// BIAS: arith.maximumf {{.*}} : vector<8xf32>
// BIAS-NOT: linalg.
// BIAS-NOT: tensor<

// Down the columns in unrolled steps, the strip in registers; the products of a
// sum of squares stay vectors.
// VARIANCE-LABEL: func.func @kernel(
// VARIANCE: scf.for {{.*}} iter_args({{.*}}) -> (vector<32xf32>)
// VARIANCE: vector.transfer_read {{.*}} vector<2x32xf32>
// VARIANCE: arith.mulf {{.*}} : vector<2x32xf32>
// VARIANCE-COUNT-2: arith.addf {{.*}} : vector<32xf32>
// VARIANCE-NOT: vector.from_elements
// VARIANCE-NOT: vector.reduction
// VARIANCE: return

// Over channels: the exponentials of one strip of columns in a buffer.
// SOFTMAX-LABEL: func.func @kernel(
// SOFTMAX: scf.for
// SOFTMAX: scf.for
// SOFTMAX: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>)
// SOFTMAX: arith.maximumf {{.*}} : vector<16xf32>
// SOFTMAX: math.exp {{.*}} : vector<4x16xf32>
// SOFTMAX: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>)
// SOFTMAX: arith.addf {{.*}} : vector<16xf32>
// SOFTMAX-NOT: math.exp
// SOFTMAX: arith.divf {{.*}} : vector<4x16xf32>
// SOFTMAX-NOT: linalg.

// NOFIT: error: sketch 'chain-columns' does not fit this payload; those that fit: chain-rows, fallback

//--- bias.mlir
#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>
func.func @kernel(%x: tensor<6x40xf32>, %b: tensor<40xf32>) -> tensor<6x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x40xf32>
  %r = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<6x40xf32>, tensor<40xf32>) outs(%e : tensor<6x40xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<6x40xf32>
  return %r : tensor<6x40xf32>
}

//--- variance.mlir
#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>
func.func @kernel(%x: tensor<10x64xf32>, %mean: tensor<64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #col, #col], iterator_types = ["reduction", "parallel"]} ins(%x, %mean : tensor<10x64xf32>, tensor<64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %r = arith.addf %q, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}

//--- softmax.mlir
#id = affine_map<(n, i, j) -> (n, i, j)>
#col = affine_map<(n, i, j) -> (n, j)>
func.func @kernel(%x: tensor<2x12x48xf32>) -> tensor<2x12x48xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x48xf32>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<2x48xf32>) -> tensor<2x48xf32>
  %m = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<2x12x48xf32>) outs(%f : tensor<2x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x48xf32>
  %e2 = tensor.empty() : tensor<2x12x48xf32>
  %p = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<2x12x48xf32>, tensor<2x48xf32>) outs(%e2 : tensor<2x12x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<2x12x48xf32>
  %g = linalg.fill ins(%zero : f32) outs(%e : tensor<2x48xf32>) -> tensor<2x48xf32>
  %s = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["parallel", "reduction", "parallel"]} ins(%p : tensor<2x12x48xf32>) outs(%g : tensor<2x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x48xf32>
  %q = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %s : tensor<2x12x48xf32>, tensor<2x48xf32>) outs(%e2 : tensor<2x12x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<2x12x48xf32>
  return %q : tensor<2x12x48xf32>
}

//--- rows.mlir
func.func @kernel(%x: tensor<16x64xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %s = linalg.reduce ins(%x : tensor<16x64xf32>) outs(%f : tensor<16xf32>) dimensions = [1]
    (%a: f32, %o: f32) {
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    }
  return %s : tensor<16xf32>
}
