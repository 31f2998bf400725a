//===- ParseModule.cpp - A module from a file ------------------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/ParseModule.h"

#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

OwningOpRef<ModuleOp> cwm::parseModuleFile(StringRef path,
                                           MLIRContext *context) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = readInput(path);
  if (!buffer) {
    emitError(FileLineColLoc::get(context, path, 0, 0))
        << toString(buffer.takeError());
    return {};
  }
  StringRef name = (*buffer)->getBufferIdentifier();
  if (!isBytecode((*buffer)->getMemBufferRef())) {
    if (std::optional<TextPlace> place =
            findDeepNesting((*buffer)->getBuffer())) {
      emitError(FileLineColLoc::get(context, name, place->line, place->column))
          << describeNestingRule();
      return {};
    }
  }
  // The handler shows the line of a diagnostic as mlir-opt does.
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, ParserConfig(context));
}
