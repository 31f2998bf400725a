//===- Contract.h - Rules that make a module a payload ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_PAYLOAD_CONTRACT_H
#define CWM_LIB_PAYLOAD_CONTRACT_H

#include "cwm/Payload/Payload.h"

namespace cwm {

/// Name of another argument attribute that a payload may carry.
inline constexpr llvm::StringLiteral domainAttrName = "cwm.domain";
inline constexpr llvm::StringLiteral upperBoundAttrName = "cwm.upper_bound";

/// The function called `name`, or the only public one when `name` is empty.
/// Emits one error when there is no such function.
mlir::FailureOr<mlir::func::FuncOp> findEntry(mlir::ModuleOp module,
                                              llvm::StringRef name);

/// Checks the arguments and results of `entry` and describes them.
llvm::LogicalResult checkSignature(mlir::func::FuncOp entry,
                                   std::vector<TensorSpec> &inputs,
                                   std::vector<TensorSpec> &results);

/// Makes ordinary constants of those whose data is in a resource section
/// (`dense_resource`), so that everything else knows one kind only. Emits one
/// error when the data is missing.
llvm::LogicalResult inlineResources(mlir::ModuleOp module);

/// Refuses ops that read elements of a tensor that nobody wrote: results would
/// be arbitrary, and NaN where buffers are filled with NaN.
llvm::LogicalResult checkDefined(mlir::func::FuncOp entry);

/// Refuses indices, offsets and sizes that are made of elements of an argument
/// for which no range is given: random ones would be out of bounds.
llvm::LogicalResult checkIndices(mlir::func::FuncOp entry,
                                 llvm::ArrayRef<TensorSpec> inputs);

/// Checks every operation of `module`, whose only function is `entry`.
llvm::LogicalResult checkOperations(mlir::ModuleOp module,
                                    mlir::func::FuncOp entry);

} // namespace cwm

#endif // CWM_LIB_PAYLOAD_CONTRACT_H
