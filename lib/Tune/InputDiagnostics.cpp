//===- InputDiagnostics.cpp - Messages about input files ------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputDiagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

/// Where `location` is in a file, if it is anywhere.
static FileLineColLoc getPlace(Location location) {
  return location->findInstanceOf<FileLineColLoc>();
}

static bool hasLine(FileLineColLoc place) {
  return place && place.getLine() > 0;
}

cwm::InputDiagnostics::InputDiagnostics(MLIRContext *context)
    : placed(sources, context, llvm::errs()),
      placeless(context, [this](Diagnostic &diagnostic) {
        return printPlaceless(diagnostic);
      }) {}

/// Leaves what has a line to the other handler.
LogicalResult cwm::InputDiagnostics::printPlaceless(Diagnostic &diagnostic) {
  FileLineColLoc place = getPlace(diagnostic.getLocation());
  if (hasLine(place))
    return failure();
  std::string prefix = place ? place.getFilename().str() : file;
  if (prefix.empty())
    prefix = "cwm-tune";
  else if (prefix == "-")
    prefix = "<stdin>";
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    llvm::WithColor::error(llvm::errs(), prefix) << diagnostic << "\n";
    break;
  case DiagnosticSeverity::Warning:
    llvm::WithColor::warning(llvm::errs(), prefix) << diagnostic << "\n";
    break;
  case DiagnosticSeverity::Remark:
    llvm::WithColor::remark(llvm::errs(), prefix) << diagnostic << "\n";
    break;
  case DiagnosticSeverity::Note:
    llvm::WithColor::note(llvm::errs(), prefix) << diagnostic << "\n";
    break;
  }
  for (Diagnostic &note : diagnostic.getNotes()) {
    FileLineColLoc where = getPlace(note.getLocation());
    std::string noted = prefix;
    if (hasLine(where))
      noted = llvm::formatv("{0}:{1}:{2}", where.getFilename().getValue(),
                            where.getLine(), where.getColumn());
    llvm::WithColor::note(llvm::errs(), noted) << note << "\n";
  }
  return success();
}
