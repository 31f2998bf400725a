//===- ErrorCapture.h - The first error instead of its output -- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SUPPORT_ERRORCAPTURE_H
#define CWM_SUPPORT_ERRORCAPTURE_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace cwm {

/// While it lives no diagnostic of its thread is printed, and the text of the
/// first error is kept.
class ErrorCapture {
public:
  explicit ErrorCapture(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (message.empty() &&
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            message = diagnostic.str();
          return mlir::success();
        }) {}

  /// Empty when there was none.
  llvm::StringRef getMessage() const { return message; }

private:
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace cwm

#endif // CWM_SUPPORT_ERRORCAPTURE_H
