//===- Payload.h - The IR being optimised, checked --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_PAYLOAD_PAYLOAD_H
#define CWM_PAYLOAD_PAYLOAD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace cwm {

/// Attribute of arguments that are the same at each call: weights.
inline constexpr llvm::StringLiteral constantAttrName = "cwm.constant";

/// Values that an input of a payload may take. Random inputs outside of the
/// domain would make the reference itself NaN (the variance of a layer norm),
/// or address elements that are not there.
enum class InputDomain { Any, Nonnegative, Index };

/// One tensor argument or result of a payload.
struct TensorSpec {
  /// Static extents, outermost first; empty for rank 0.
  std::vector<int64_t> shape;
  /// MLIR spelling of the element type, e.g. "f32", "i1".
  std::string elementType;
  /// Marked `{cwm.constant}`: a weight. Inputs only.
  bool isConstant = false;
  /// From `{cwm.domain = "nonnegative"}`. Inputs only.
  InputDomain domain = InputDomain::Any;
  /// From `{cwm.domain = "index", cwm.upper_bound = N}`: elements are in [0,
  /// N). 0 in other domains.
  int64_t upperBound = 0;

  /// Product of the extents; 1 for rank 0.
  int64_t getNumElements() const;
  /// Bytes of one element in memory (i1 takes one).
  int64_t getElementBytes() const;
  int64_t getNumBytes() const { return getNumElements() * getElementBytes(); }
};

/// A module that fulfils the payload contract (docs/GettingStarted.md): one
/// entry function with static-shape tensor arguments and results, at least one
/// linalg op, supported element types, dialects builtin, func, linalg, tensor,
/// arith, math only.
class Payload {
public:
  /// Checks `module` and takes it. `functionName` selects the entry; empty
  /// means the only public function. On a violation emits exactly one error
  /// that names the operation, its location and the rule, and fails.
  static mlir::FailureOr<Payload>
  create(mlir::OwningOpRef<mlir::ModuleOp> module,
         llvm::StringRef functionName = {});

  mlir::ModuleOp getModule() const { return *module; }
  mlir::func::FuncOp getEntry() const { return entry; }
  const std::vector<TensorSpec> &getInputs() const { return inputs; }
  const std::vector<TensorSpec> &getResults() const { return results; }

  /// Structural identity: hex of a 128-bit hash of the canonical state text.
  /// Names, locations and attribute order do not matter; scalars do.
  llvm::StringRef getWorkloadHash() const { return workloadHash; }
  /// The canonical state text s0.
  llvm::StringRef getStateText() const { return stateText; }
  /// Floating-point operations of one run: for each linalg op the number of
  /// iterations times the arithmetic ops of its body (a multiply-add is 2).
  double getFlops() const { return flops; }
  /// Those that do not depend on constant arguments alone: what is left in the
  /// timed kernel once the others have moved to @NAME_prepack.
  double getVariableFlops() const { return variableFlops; }
  /// Bytes of all inputs and results, each counted once.
  double getBytes() const;

private:
  Payload() = default;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp entry;
  std::vector<TensorSpec> inputs, results;
  std::string workloadHash, stateText;
  double flops = 0, variableFlops = 0;
};

/// Parses `path` ("-" for stdin) and checks it; emits diagnostics on failure.
mlir::FailureOr<Payload> loadPayload(llvm::StringRef path,
                                     llvm::StringRef functionName,
                                     mlir::MLIRContext *context);

} // namespace cwm

#endif // CWM_PAYLOAD_PAYLOAD_H
