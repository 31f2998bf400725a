//===- Chain.h - Payloads of elementwise ops and reductions -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SKETCHES_CHAIN_H
#define CWM_LIB_SKETCHES_CHAIN_H

#include "Contraction.h"

#include "cwm/Payload/Payload.h"

#include <optional>

namespace cwm {

/// A payload of elementwise ops and reductions in the form that
/// `@cwm_normalise_chain` of schedules/cpu/common.mlir and cwm-collapse-dims
/// give it.
///
/// Dimensions that go together, in the loops of any op and in any value, are
/// one class; a class is a number.
struct ChainPayload {
  struct DimClass {
    int64_t extent = 0;
    /// Some op reduces over it: no loop around the whole chain.
    bool isReduced = false;
  };
  struct Op {
    /// Class and kind of each loop.
    llvm::SmallVector<unsigned> loops;
    llvm::SmallVector<mlir::utils::IteratorType> iterators;
    unsigned numResults = 1;

    /// Of the first loop of this class, which is there.
    bool isReduction(unsigned loop) const {
      return iterators[llvm::find(loops, loop) - loops.begin()] ==
             mlir::utils::IteratorType::reduction;
    }
  };
  std::vector<DimClass> classes;
  /// All but fills, in order; the last one gives one of the results.
  std::vector<Op> ops;
  /// Classes of the dimensions of each value with more than one element.
  std::vector<llvm::SmallVector<unsigned>> values;
  /// What the function returns.
  struct Result {
    llvm::SmallVector<unsigned> dims;
    /// Unit dimensions were folded away.
    bool isReshaped = false;
  };
  std::vector<Result> results;
  /// Which of them the last op gives, the first one.
  unsigned lastResult = 0;
  /// Others are given by other ops.
  bool hasResultsOfSeveralOps = false;
  /// cwm-collapse-dims has changed it.
  bool isCollapsed = false;
  /// So have transform.apply_patterns.cwm.separate_initial_values and
  /// .split_results.
  bool separatesInitialValues = false;
  /// There is a linalg.softmax.
  bool hasSoftmax = false;
  /// Width of the widest element.
  int64_t elementBits = 0;

  const Op &getLast() const { return ops.back(); }
  bool hasSeveralResults() const { return results.size() > 1; }
};

/// nullopt when `payload` is of another kind; then `why` (may be null) receives
/// the reason, for tests and messages. With `collapse`, in the form after
/// cwm-collapse-dims, with `separateInitialValues` after those patterns: the
/// schedule then needs a pass or op of ours.
std::optional<ChainPayload> analyseChain(const Payload &payload, bool collapse,
                                         bool separateInitialValues = false,
                                         std::string *why = nullptr);

/// The sketches for chains that fit, best default first. With `planes`, also
/// those whose ops reduce over two dimensions with another between them.
std::vector<FittingSketch> fitChain(const ChainPayload &payload, bool planes,
                                    const HardwareDescription &hardware,
                                    int64_t threads,
                                    mlir::MLIRContext *context);

} // namespace cwm

#endif // CWM_LIB_SKETCHES_CHAIN_H
