//===- Library.h - Sketch files and the sequences they share ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SKETCHES_LIBRARY_H
#define CWM_LIB_SKETCHES_LIBRARY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace cwm {

/// Reads `<folder>/<name>.mlir` and gives each sequence that it only declares
/// the body from `<folder>/common.mlir`, so that the result stands alone.
/// Emits one error and fails when a file is missing or malformed or a
/// declared sequence has no body.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
loadSketch(llvm::StringRef folder, llvm::StringRef name,
           mlir::MLIRContext *context);

/// Puts each template in the place of the knob of its name, in every `cwm.bind`
/// of `schedule`: an option of a knob could not mention other knobs.
void fillTemplates(mlir::ModuleOp schedule,
                   const llvm::StringMap<mlir::ArrayAttr> &templates);

/// Reads a schedule as it is; the same errors.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
readSchedule(llvm::StringRef path, mlir::MLIRContext *context);

} // namespace cwm

#endif // CWM_LIB_SKETCHES_LIBRARY_H
