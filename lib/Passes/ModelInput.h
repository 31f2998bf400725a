//===- ModelInput.h - What passes with a model begin with -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_PASSES_MODELINPUT_H
#define CWM_LIB_PASSES_MODELINPUT_H

#include "cwm/Model/WorldModel.h"

#include "mlir/IR/BuiltinOps.h"

namespace cwm {

/// The model in `folder`, or where that is empty the one that is installed.
/// Emits an error at `module` and fails where there is none.
mlir::FailureOr<ModelDirectory> loadModelDirectory(mlir::ModuleOp module,
                                                   llvm::StringRef folder);

/// The same with all that scores need, for the machine of the file `hardware`
/// or this one, and with `module` as the payload.
mlir::FailureOr<std::unique_ptr<WorldModel>>
loadWorldModel(mlir::ModuleOp module, llvm::StringRef folder,
               llvm::StringRef hardware, int64_t threads);

/// Places of scores, the highest first; equal ones in their order.
std::vector<size_t> orderByScore(llvm::ArrayRef<float> scores);

/// A bound schedule in a file, and its actions.
struct LibrarySchedule {
  std::string name; ///< the file's, without folder and extension
  std::vector<Action> actions;
};

/// Reads one schedule of each file. Emits an error that names the file and
/// fails where one cannot be read, has no entry point, or has knobs that are
/// not bound.
mlir::FailureOr<std::vector<LibrarySchedule>>
readSchedules(mlir::ModuleOp module, llvm::ArrayRef<std::string> files);

} // namespace cwm

#endif // CWM_LIB_PASSES_MODELINPUT_H
