//===- Contraction.h - Options of the contraction sketches ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SKETCHES_CONTRACTION_H
#define CWM_LIB_SKETCHES_CONTRACTION_H

#include "Analysis.h"

#include "cwm/Target/CPU/Hardware.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace cwm {

/// A sketch file that fits a payload, with what C++ replaces in it.
struct FittingSketch {
  /// Name of the space and, without folder and extension, of the file unless
  /// `file` has another.
  std::string name;
  /// Option lists by knob: structure (one option) and shape-dependent lists.
  llvm::StringMap<mlir::ArrayAttr> options;
  /// What stands for a structure whose entries are numbers and names of knobs.
  llvm::StringMap<mlir::ArrayAttr> templates;
  /// Index of the default option by knob.
  llvm::StringMap<uint64_t> defaults;
  std::string file;

  llvm::StringRef getFile() const { return file.empty() ? name : file; }
};

/// The contraction sketches that fit, best default first, for kernels of
/// `threads` threads.
std::vector<FittingSketch> fitContraction(const ContractionPayload &payload,
                                          const HardwareDescription &hardware,
                                          int64_t threads,
                                          mlir::MLIRContext *context);

/// contraction-direct: the right operand is contiguous along n.
std::optional<FittingSketch> fitDirect(const ContractionPayload &payload,
                                       const HardwareDescription &hardware,
                                       int64_t threads,
                                       mlir::MLIRContext *context);

/// Whether operands in place are a better default than packed ones: the right
/// one is read for a few tiles of rows only, or stays in the second-level
/// cache.
bool prefersDirect(const ContractionPayload &payload,
                   const HardwareDescription &hardware);

} // namespace cwm

#endif // CWM_LIB_SKETCHES_CONTRACTION_H
