//===- ParseModule.h - A module from a file --------------------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SUPPORT_PARSEMODULE_H
#define CWM_SUPPORT_PARSEMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace cwm {

/// Parses the file `path` ("-": stdin), text or bytecode. What cannot be read
/// (see readInput), text that is nested too deeply for the parser (see
/// findDeepNesting) and what does not parse is a diagnostic and a null.
mlir::OwningOpRef<mlir::ModuleOp> parseModuleFile(llvm::StringRef path,
                                                  mlir::MLIRContext *context);

} // namespace cwm

#endif // CWM_SUPPORT_PARSEMODULE_H
