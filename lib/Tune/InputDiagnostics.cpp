//===- InputDiagnostics.cpp - Messages about input files ------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputDiagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

/// Where `location` is in a file, if it is anywhere.
static FileLineColLoc getPlace(Location location) {
  return location->findInstanceOf<FileLineColLoc>();
}

static bool hasLine(FileLineColLoc place) {
  return place && place.getLine() > 0;
}

/// Whether mlir-opt's way to show `place`, with its line, is good here: the
/// file is read again, for which a pipe would wait, and lines of constants or
/// of a generator have megabytes.
static bool isShowable(FileLineColLoc place) {
  constexpr size_t longestLine = 1000;
  StringRef name = place.getFilename().getValue();
  llvm::sys::fs::file_status status;
  // What is no file is shown without a line by upstream's handler as well.
  if (llvm::sys::fs::status(name, status))
    return true;
  if (!llvm::sys::fs::is_regular_file(status))
    return false;
  auto buffer = llvm::MemoryBuffer::getFile(name);
  if (!buffer)
    return false;
  llvm::line_iterator line(**buffer, /*SkipBlanks=*/false);
  while (!line.is_at_eof() && line.line_number() < place.getLine())
    ++line;
  return line.is_at_eof() || line->size() <= longestLine;
}

cwm::InputDiagnostics::InputDiagnostics(MLIRContext *context)
    : placed(sources, context, llvm::errs()),
      placeless(context, [this](Diagnostic &diagnostic) {
        return printPlaceless(diagnostic);
      }) {}

/// Leaves what has a line to the other handler.
LogicalResult cwm::InputDiagnostics::printPlaceless(Diagnostic &diagnostic) {
  FileLineColLoc place = getPlace(diagnostic.getLocation());
  if (hasLine(place) && isShowable(place))
    return failure();
  std::string prefix = place ? place.getFilename().str() : file;
  if (prefix.empty())
    prefix = "cwm-tune";
  else if (prefix == "-")
    prefix = "<stdin>";
  if (hasLine(place))
    prefix +=
        llvm::formatv(":{0}:{1}", place.getLine(), place.getColumn()).str();
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
