// Parallel loops become calls of the OpenMP runtime where there are several
// threads, with cwm's passes and with upstream's only; stack memory is allocated
// once for each thread.
// RUN: cwm-opt %s --cwm-lower-to-cpu=threads=3 | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: cwm-opt %s --pass-pipeline='builtin.module(cwm-lower-to-cpu{threads=3 stock-only})' | FileCheck %s
// RUN: cwm-opt %s --cwm-lower-to-cpu=threads=3 | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=LLVM
// RUN: cwm-opt %s --cwm-lower-to-cpu | FileCheck %s --check-prefix=ONE --implicit-check-not=omp.
// RUN: cwm-opt --cwm-lower-to-cpu --dump-pass-pipeline %s 2>&1 | FileCheck %s --check-prefix=PASSES

// CHECK-LABEL: llvm.func @kernel(
// CHECK: %[[N:.*]] = llvm.mlir.constant(3 : i32)
// CHECK: omp.parallel num_threads(%[[N]] : i32)
// OWN: llvm.alloca
// CHECK: omp.wsloop
// CHECK: omp.loop_nest
// OWN-NOT: llvm.alloca
// CHECK: omp.terminator
// LLVM: call void @__kmpc_push_num_threads({{.*}}, i32 3)
// LLVM: call {{.*}} @__kmpc_fork_call(
// ONE-LABEL: llvm.func @kernel(
// PASSES: scf-forall-to-for
// PASSES-NOT: openmp
func.func @kernel(%x: tensor<64x12xf32>) -> tensor<64x12xf32> {
  %empty = tensor.empty() : tensor<64x12xf32>
  %r = scf.forall (%i) in (64) shared_outs(%o = %empty) -> (tensor<64x12xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 12] [1, 1] : tensor<64x12xf32> to tensor<12xf32>
    %e = tensor.empty() : tensor<12xf32>
    %a = linalg.exp ins(%row : tensor<12xf32>) outs(%e : tensor<12xf32>) -> tensor<12xf32>
    %own = tensor.extract_slice %o[%i, 0] [1, 12] [1, 1] : tensor<64x12xf32> to tensor<12xf32>
    // Reads the temporary backwards, so that it stays one.
    %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%own : tensor<12xf32>) {
    ^bb0(%out: f32):
      %at = linalg.index 0 : index
      %back = affine.apply affine_map<(d0) -> (-d0 + 11)>(%at)
      %v = tensor.extract %a[%back] : tensor<12xf32>
      linalg.yield %v : f32
    } -> tensor<12xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %b into %o[%i, 0] [1, 12] [1, 1] : tensor<12xf32> into tensor<64x12xf32>
    }
  }
  return %r : tensor<64x12xf32>
}
