//===- Lowering.cpp - The pipeline cwm-lower-to-cpu -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Target/CPU/Lowering.h"

#include "cwm/Passes/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <mutex>

using namespace mlir;

std::string cwm::getCPULoweringPipeline(const CPULoweringOptions &options) {
  // Text, so that there is one source for our tools, for the plugin and for
  // the documentation. Passes of ours come with their condition.
  struct Step {
    bool enabled;
    StringRef text;
  };
  bool own = !options.stockOnly;
  bool parallel = options.threads > 1;
  std::string toOpenMP =
      "convert-scf-to-openmp{num-threads=" + std::to_string(options.threads) +
      "}";
  const Step steps[] = {
      // Bufferisation: no-ops after a schedule that has bufferised already.
      {own, "cwm-read-only-inputs"},
      {own, "cwm-decompose-tensor-ops"},
      {true, "func.func(convert-elementwise-to-linalg)"},
      {true, "eliminate-empty-tensors"},
      {true, "one-shot-bufferize{bufferize-function-boundaries "
             "allow-return-allocs-from-loops "
             "function-boundary-type-conversion=identity-layout-map}"},
      // Without the loops' carried buffers, results can be seen to be local.
      {true, "canonicalize"},
      {own, "cwm-results-to-out-params"},
      {!own, "buffer-results-to-out-params{hoist-static-allocs "
             "modify-public-functions}"},
      {true, "func.func(buffer-loop-hoisting)"},
      {own, "cwm-hoist-constants"},
      // Register tiles that pass through a buffer: LLVM keeps small ones on the
      // stack in registers. In the body of a parallel loop they would be
      // allocated in each iteration, which only a pass of ours puts right.
      {own || !parallel,
       "func.func(promote-buffers-to-stack{max-alloc-size-in-bytes=4096 "
       "max-rank-of-allocated-memref=8})"},
      // buffer-deallocation-pipeline, written out.
      {true, "ownership-based-buffer-deallocation"},
      {true, "canonicalize"},
      {true, "buffer-deallocation-simplification"},
      {true, "bufferization-lower-deallocations"},
      {true, "cse"},
      {true, "canonicalize"},
      {own, "cwm-runtime-allocations"},
      // Copies, leftover linalg ops and vectors to loops and 1-D vectors. Full
      // unrolling: the other way goes through memref.alloca in loops, which
      // overflows the stack.
      {own, "cwm-expand-powers"},
      {own, "cwm-lower-copies"},
      {own, "cwm-vectorize-linalg"},
      {true, "func.func(convert-linalg-to-loops)"},
      {true, "func.func(lower-vector-mask)"},
      {true, "func.func(lower-vector-multi-reduction{lowering-strategy="
             "inner-reduction})"},
      // Before rows of matrices become values that fold into transposes.
      {own, "cwm-lower-transposes"},
      {own, "cwm-shuffle-strided-reads"},
      {true, "func.func(convert-vector-to-scf{full-unroll})"},
      {own, "cwm-scalarize-boolean-transfers"},
      {own, "cwm-scalarize-reads"},
      {own, "cwm-mask-odd-rows"},
      {!parallel, "func.func(scf-forall-to-for)"},
      {parallel, "func.func(scf-forall-to-parallel)"},
      {parallel, toOpenMP},
      // The conversion leaves a memref.alloca_scope in each loop, which cannot
      // hold branches.
      {parallel && own, "cwm-hoist-parallel-allocas"},
      {parallel && !own, "canonicalize"},
      // Arithmetic. After dot products of bf16 have been found; before exp and
      // its like become polynomials, which are in f32.
      {own, "cwm-widen-bfloats"},
      {own && options.polynomialMath, "cwm-polynomial-math"},
      {own, "cwm-relax-arithmetic"},
      {own && options.contract, "cwm-contract-arithmetic"},
      // To the LLVM dialect. Math first: convert-vector-to-llvm would leave
      // vectors of rank 2 around what goes to libm.
      {own, "cwm-noalias-arguments"},
      {true, "expand-strided-metadata"},
      {true, "lower-affine"},
      {true, "convert-scf-to-cf"},
      {true, "canonicalize"},
      {true, "cse"},
      {own, "cwm-join-rows"},
      {true, "convert-math-to-llvm"},
      {true, "convert-math-to-libm"},
      {true, "convert-vector-to-llvm{enable-x86vector "
             "reassociate-fp-reductions vector-contract-lowering=outerproduct "
             "vector-transpose-lowering=shuffle16x16}"},
      {true, "expand-strided-metadata"},
      {true, "lower-affine"},
      // Ours calls the pooled allocator of runtime/, the other malloc.
      {own, "finalize-memref-to-llvm{use-generic-functions}"},
      {!own, "finalize-memref-to-llvm"},
      {true, "convert-func-to-llvm{use-bare-ptr-memref-call-conv}"},
      {true, "convert-arith-to-llvm"},
      {true, "convert-ub-to-llvm"},
      {true, "convert-index-to-llvm"},
      {true, "convert-cf-to-llvm"},
      {parallel, "convert-openmp-to-llvm"},
      {true, "reconcile-unrealized-casts"},
      {own, "cwm-bfloats-as-bits"},
  };
  std::string text;
  llvm::ListSeparator separator(",");
  for (const Step &step : steps) {
    if (!step.enabled)
      continue;
    text += StringRef(separator);
    text += step.text;
  }
  return text;
}

namespace {
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<bool> polynomialMath{
      *this, "polynomial-math",
      llvm::cl::desc("polynomial exp, tanh, erf and log instead of libm calls"),
      llvm::cl::init(true)};
  Option<bool> contract{*this, "contract",
                        llvm::cl::desc("let LLVM form fused multiply-adds"),
                        llvm::cl::init(true)};
  Option<bool> stockOnly{*this, "stock-only",
                         llvm::cl::desc("use upstream passes only"),
                         llvm::cl::init(false)};
  Option<int64_t> threads{
      *this, "threads",
      llvm::cl::desc("run parallel loops on so many threads, by OpenMP"),
      llvm::cl::init(1)};
};
} // namespace

/// What the text of the pipeline names. Registration twice does no harm: the
/// registry knows a pass by its argument.
static void registerUpstreamPasses() {
  registerConversionPasses();
  bufferization::registerBufferizationPasses();
  registerLinalgPasses();
  memref::registerMemRefPasses();
  registerSCFPasses();
  vector::registerVectorPasses();
  registerTransformsPasses();
}

void cwm::registerCPULoweringPipeline() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerUpstreamPasses();
    registerPasses();
    PassPipelineRegistration<PipelineOptions>(
        "cwm-lower-to-cpu",
        "Lower a scheduled payload to the LLVM dialect: bufferise what is "
        "still on tensors, lower vectors and loops. Results become trailing "
        "out-parameters, all parameters are bare pointers.",
        [](OpPassManager &manager, const PipelineOptions &options) {
          CPULoweringOptions lowering;
          lowering.polynomialMath = options.polynomialMath;
          lowering.contract = options.contract;
          lowering.stockOnly = options.stockOnly;
          lowering.threads = options.threads;
          buildCPULowering(manager, lowering);
        });
  });
}

void cwm::buildCPULowering(OpPassManager &manager,
                           const CPULoweringOptions &options) {
  registerCPULoweringPipeline();
  std::string text = getCPULoweringPipeline(options);
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (failed(parsePassPipeline(text, manager, stream)))
    llvm::report_fatal_error(Twine("cwm-lower-to-cpu does not parse: ") +
                             message);
}
