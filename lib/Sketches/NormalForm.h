//===- NormalForm.h - Payloads as the sketches see them ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SKETCHES_NORMALFORM_H
#define CWM_LIB_SKETCHES_NORMALFORM_H

#include "cwm/Payload/Payload.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace cwm {

/// What a normal form has besides generics and fusion.
struct NormalFormOptions {
  /// Elementwise ops are fused.
  bool fuse = true;
  /// No unit dimensions, as after linalg-fold-unit-extent-dims.
  bool foldUnitExtents = false;
  /// Reductions start from a fill, as after
  /// transform.apply_patterns.cwm.separate_initial_values.
  bool separateInitialValues = false;
  /// Reductions have one result, as after
  /// transform.apply_patterns.cwm.split_results; with the former only.
  bool splitResults = false;
  /// Contractions add up in f32 at least, as after
  /// transform.apply_patterns.cwm.widen_sums.
  bool widenSums = false;
  /// Dimensions that lie together are one, as after cwm-collapse-dims.
  bool collapseDims = false;
};

/// The payload in the form that the sequences `@cwm_normalise` and, with
/// `foldUnitExtents`, `@cwm_normalise_chain` of schedules/cpu/common.mlir give
/// it: `linalg.softmax` is decomposed, named ops are generics, but for fills
/// and those that `keepsName`, and elementwise ops are fused. Null when that
/// fails.
mlir::OwningOpRef<mlir::ModuleOp>
normalise(const Payload &payload,
          llvm::function_ref<bool(mlir::linalg::LinalgOp)> keepsName,
          const NormalFormOptions &options = {});

/// True for reshapes; false for null.
bool isReshape(mlir::Operation *op);

/// True for arithmetic on whole tensors, which schedules have to turn into
/// linalg ops.
bool hasTensorArithmetic(const Payload &payload);

/// True where there is a `linalg.softmax`, which schedules have to decompose.
bool hasSoftmax(const Payload &payload);

/// Completes `result` with an `Analysis` of the entry function in `module`, a
/// normal form of `payload`. nullopt when the payload is of another kind; then
/// `why` (may be null) receives the reason.
template <typename Analysis, typename Result>
std::optional<Result>
analyseNormalForm(mlir::OwningOpRef<mlir::ModuleOp> module,
                  const Payload &payload, Result result, std::string *why) {
  std::optional<llvm::StringRef> reason = "the normal form fails";
  if (module) {
    auto entry = module->lookupSymbol<mlir::func::FuncOp>(
        mlir::func::FuncOp(payload.getEntry()).getSymName());
    reason = Analysis(entry).run(result);
  }
  if (!reason)
    return result;
  if (why)
    *why = reason->str();
  return std::nullopt;
}

} // namespace cwm

#endif // CWM_LIB_SKETCHES_NORMALFORM_H
