//===- InputDiagnostics.h - Messages about input files -------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TUNE_INPUTDIAGNOSTICS_H
#define CWM_LIB_TUNE_INPUTDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

#include <string>

namespace cwm {

/// While it lives, diagnostics of the context go to stderr, those with a place
/// as mlir-opt shows them. What belongs to no line (a file that cannot be read,
/// an empty one, an operation without a location) is printed with the name of
/// its file only: upstream's handler would make up a line 0. Where the line is
/// too long to be shown, its number is.
class InputDiagnostics {
public:
  explicit InputDiagnostics(mlir::MLIRContext *context);

  /// The input that is being read: the file of what has no location at all.
  /// Empty: none.
  void setFile(llvm::StringRef name) { file = name.str(); }

private:
  mlir::LogicalResult printPlaceless(mlir::Diagnostic &diagnostic);

  std::string file;
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler placed;
  /// On top of the one above.
  mlir::ScopedDiagnosticHandler placeless;
};

} // namespace cwm

#endif // CWM_LIB_TUNE_INPUTDIAGNOSTICS_H
