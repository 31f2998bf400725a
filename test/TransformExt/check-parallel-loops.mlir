// RUN: cwm-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// Tiles side by side in two dimensions, each after its own part of the shared
// output; the last ones are smaller.
func.func @tiles(%x: tensor<10x64xf32>, %y: tensor<10x64xf32>) -> tensor<10x64xf32> {
  %r = scf.forall (%i, %j) = (0, 0) to (10, 64) step (4, 16) shared_outs(%o = %y) -> (tensor<10x64xf32>) {
    %n = affine.min affine_map<(d0) -> (4, -d0 + 10)>(%i)
    %a = tensor.extract_slice %x[%i, %j] [%n, 16] [1, 1] : tensor<10x64xf32> to tensor<?x16xf32>
    %own = tensor.extract_slice %o[%i, %j] [%n, 16] [1, 1] : tensor<10x64xf32> to tensor<?x16xf32>
    %e = linalg.exp ins(%a : tensor<?x16xf32>) outs(%own : tensor<?x16xf32>) -> tensor<?x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, %j] [%n, 16] [1, 1] : tensor<?x16xf32> into tensor<10x64xf32>
    }
  }
  return %r : tensor<10x64xf32>
}
// Offsets that are computed, a reading vector within the own part, one iteration
// of a dimension that moves nothing, and a loop within the loop.
func.func @computed(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.forall (%i, %once) in (2, 1) shared_outs(%o = %x) -> (tensor<8x32xf32>) {
    %offset = affine.apply affine_map<(d0) -> (d0 * -4 + 4)>(%i)
    %part = tensor.extract_slice %x[%offset, 0] [4, 32] [1, 1] : tensor<8x32xf32> to tensor<4x32xf32>
    %all = scf.for %k = %c0 to %c4 step %c1 iter_args(%sum = %part) -> (tensor<4x32xf32>) {
      %row = affine.apply affine_map<(d0, d1) -> (d0 + d1 * -4 + 4)>(%k, %i)
      %v = vector.transfer_read %o[%row, %c0], %zero {in_bounds = [true]} : tensor<8x32xf32>, vector<32xf32>
      %w = vector.transfer_write %v, %sum[%k, %c0] {in_bounds = [true]} : vector<32xf32>, tensor<4x32xf32>
      scf.yield %w : tensor<4x32xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all into %o[%offset, 0] [4, 32] [1, 1] : tensor<4x32xf32> into tensor<8x32xf32>
    }
  }
  return %r : tensor<8x32xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.cwm.check_parallel_loops
    transform.yield
  }
}

// -----

// What tile_using_forall makes of a reduction: each iteration adds to the whole.
func.func @reduction(%x: tensor<64x64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  // expected-note @below {{the loop}}
  %r = scf.forall (%i) = (0) to (64) step (32) shared_outs(%o = %y) -> (tensor<64xf32>) {
    %a = tensor.extract_slice %x[0, %i] [64, 32] [1, 1] : tensor<64x64xf32> to tensor<64x32xf32>
    %s = linalg.reduce ins(%a : tensor<64x32xf32>) outs(%o : tensor<64xf32>) dimensions = [1]
      (%in: f32, %init: f32) {
        %t = arith.addf %in, %init : f32
        linalg.yield %t : f32
      }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{threads may touch the same elements: in result #0 of a parallel loop iterations of its dimension #0 do not insert next to each other; a dimension of a reduction cannot be parallel}}
    transform.cwm.check_parallel_loops
    transform.yield
  }
}

// -----

// Steps of 8, slices of 9.
func.func @overlap(%x: tensor<9xf32>, %y: tensor<65xf32>) -> tensor<65xf32> {
  // expected-note @below {{the loop}}
  %r = scf.forall (%i) in (8) shared_outs(%o = %y) -> (tensor<65xf32>) {
    %offset = affine.apply affine_map<(d0) -> (d0 * 8)>(%i)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%offset] [9] [1] : tensor<9xf32> into tensor<65xf32>
    }
  }
  return %r : tensor<65xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{iterations of its dimension #0 do not insert next to each other}}
    transform.cwm.check_parallel_loops
    transform.yield
  }
}

// -----

// Slices that interleave are apart, but this is not shown.
func.func @interleaved(%x: tensor<8xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  // expected-note @below {{the loop}}
  %r = scf.forall (%i) in (8) shared_outs(%o = %y) -> (tensor<64xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [8] [8] : tensor<8xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{iterations of its dimension #0 do not insert next to each other}}
    transform.cwm.check_parallel_loops
    transform.yield
  }
}

// -----

// An offset that is not linear, and one of two variables together.
func.func @folded(%x: tensor<8xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  // expected-note @below {{the loop}}
  %r = scf.forall (%i) in (16) shared_outs(%o = %y) -> (tensor<64xf32>) {
    %offset = affine.apply affine_map<(d0) -> ((d0 mod 8) * 8)>(%i)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%offset] [8] [1] : tensor<8xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{iterations of its dimension #0 do not insert next to each other}}
    transform.cwm.check_parallel_loops
    transform.yield
  }
}

// -----

func.func @together(%x: tensor<8xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  // expected-note @below {{the loop}}
  %r = scf.forall (%i, %j) in (4, 4) shared_outs(%o = %y) -> (tensor<64xf32>) {
    %offset = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1 * 8)>(%i, %j)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%offset] [8] [1] : tensor<8xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{iterations of its dimension #0 do not insert next to each other}}
    transform.cwm.check_parallel_loops
    transform.yield
  }
}

// -----

// A size that nothing bounds.
func.func @unbounded(%x: tensor<?xf32>, %n: index, %y: tensor<64xf32>) -> tensor<64xf32> {
  // expected-note @below {{the loop}}
  %r = scf.forall (%i) = (0) to (64) step (8) shared_outs(%o = %y) -> (tensor<64xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [%n] [1] : tensor<?xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{iterations of its dimension #0 do not insert next to each other}}
    transform.cwm.check_parallel_loops
    transform.yield
  }
}

// -----

// Reads its neighbour's part.
func.func @neighbour(%y: tensor<64xf32>) -> tensor<64xf32> {
  // expected-note @below {{the loop}}
  %r = scf.forall (%i) = (8) to (64) step (8) shared_outs(%o = %y) -> (tensor<64xf32>) {
    %before = affine.apply affine_map<(d0) -> (d0 - 8)>(%i)
    %a = tensor.extract_slice %o[%before] [8] [1] : tensor<64xf32> to tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %a into %o[%i] [8] [1] : tensor<8xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{in result #0 of a parallel loop 'tensor.extract_slice' reads what other iterations may write}}
    transform.cwm.check_parallel_loops
    transform.yield
  }
}

// -----

// Reads the whole.
func.func @whole(%x: tensor<8xf32>, %y: tensor<64xf32>, %z: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the loop}}
  %r:2 = scf.forall (%i) = (0) to (64) step (8) shared_outs(%o = %y, %p = %z) -> (tensor<64xf32>, tensor<64xf32>) {
    %first = tensor.extract %p[%c0] : tensor<64xf32>
    %a = tensor.insert %first into %x[%c0] : tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [8] [1] : tensor<8xf32> into tensor<64xf32>
      tensor.parallel_insert_slice %a into %p[%i] [8] [1] : tensor<8xf32> into tensor<64xf32>
    }
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{in result #1 of a parallel loop 'tensor.extract' reads what other iterations may write}}
    transform.cwm.check_parallel_loops
    transform.yield
  }
}

// -----

func.func @twice(%x: tensor<8xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  // expected-note @below {{the loop}}
  %r = scf.forall (%i) = (0) to (64) step (16) shared_outs(%o = %y) -> (tensor<64xf32>) {
    %next = affine.apply affine_map<(d0) -> (d0 + 8)>(%i)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [8] [1] : tensor<8xf32> into tensor<64xf32>
      tensor.parallel_insert_slice %x into %o[%next] [8] [1] : tensor<8xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{each iteration inserts 2 slices; one is expected}}
    transform.cwm.check_parallel_loops
    transform.yield
  }
}
