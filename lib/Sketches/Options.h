//===- Options.h - Filling in the knobs of a sketch -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SKETCHES_OPTIONS_H
#define CWM_LIB_SKETCHES_OPTIONS_H

#include "Contraction.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Builders.h"

namespace cwm {

/// The last of `values`, which are not empty, that is at most `limit`.
inline int64_t lastUpTo(llvm::ArrayRef<int64_t> values, int64_t limit) {
  int64_t result = values.front();
  for (int64_t value : values)
    if (value <= limit)
      result = value;
  return result;
}

/// One entry of an array of a schedule: a number, or what a knob says.
struct PatternEntry {
  PatternEntry(int64_t value) : value(value) {}
  PatternEntry(int value) : value(value) {} // 0 is a pointer, too
  PatternEntry(const char *knob) : knob(knob) {}

  int64_t value = 0;
  llvm::StringRef knob;
};

/// How evenly `parts` of one size go to `threads`: 1 where all have as many,
/// less where some wait.
inline double getBalance(int64_t parts, int64_t threads) {
  int64_t rounded = (parts + threads - 1) / threads * threads;
  return static_cast<double>(parts) / static_cast<double>(rounded);
}

/// True where `parts` are worth sharing out among `threads`, which may be one.
inline bool canShare(int64_t parts, int64_t threads) {
  return threads > 1 && parts > 1 && getBalance(parts, threads) >= 0.75;
}

/// Elements of `elementBits` in a vector register, at least one.
inline int64_t getNumLanes(const HardwareDescription &hardware,
                           int64_t elementBits) {
  return std::max<int64_t>(hardware.vectorBits / elementBits, 1);
}

/// Fills in the knobs of one sketch.
class SketchOptions {
public:
  SketchOptions(llvm::StringRef name, mlir::MLIRContext *context)
      : builder(context) {
    sketch.name = name.str();
  }

  void flag(llvm::StringRef knob, bool value) {
    structure(knob, mlir::Attribute(builder.getBoolAttr(value)));
  }

  void structure(llvm::StringRef knob, mlir::Attribute value) {
    sketch.options[knob] = builder.getArrayAttr(value);
  }
  void structure(llvm::StringRef knob, llvm::ArrayRef<int64_t> values) {
    structure(knob, builder.getDenseI64ArrayAttr(values));
  }
  void structure(llvm::StringRef knob, int64_t value) {
    structure(knob, builder.getI64IntegerAttr(value));
  }
  /// An array of numbers and names of knobs.
  void pattern(llvm::StringRef knob, llvm::ArrayRef<PatternEntry> entries) {
    llvm::SmallVector<mlir::Attribute> attrs;
    for (const PatternEntry &entry : entries)
      attrs.push_back(
          entry.knob.empty()
              ? mlir::Attribute(builder.getI64IntegerAttr(entry.value))
              : mlir::Attribute(builder.getStringAttr(entry.knob)));
    sketch.templates[knob] = builder.getArrayAttr(attrs);
  }
  /// The tile sizes of the last op, and whether `threads` share its loops
  /// where `shared` has the size; these make `parts`.
  void share(llvm::SmallVector<PatternEntry> tile,
             llvm::ArrayRef<PatternEntry> shared, int64_t parts,
             int64_t threads) {
    bool isShared = canShare(parts, threads);
    structure("threads", int64_t(isShared));
    pattern("share", shared);
    for (auto [size, part] : llvm::zip_equal(tile, shared))
      if (isShared && (part.value || !part.knob.empty()))
        size = 0;
    pattern("tile", tile);
  }
  /// One of several lists of sizes.
  void sizes(llvm::StringRef knob,
             llvm::ArrayRef<llvm::SmallVector<int64_t>> lists,
             size_t preferred) {
    llvm::SmallVector<mlir::Attribute> attrs;
    for (llvm::ArrayRef<int64_t> list : lists)
      attrs.push_back(builder.getDenseI64ArrayAttr(list));
    sketch.options[knob] = builder.getArrayAttr(attrs);
    sketch.defaults[knob] = preferred;
  }
  /// The name of a sequence.
  void sequence(llvm::StringRef knob, llvm::StringRef name) {
    structure(knob, mlir::FlatSymbolRefAttr::get(builder.getContext(), name));
  }
  /// The options of a decision; `preferred` must be one of them.
  void choice(llvm::StringRef knob, llvm::ArrayRef<int64_t> values,
              int64_t preferred) {
    sketch.options[knob] = builder.getI64ArrayAttr(values);
    sketch.defaults[knob] = llvm::find(values, preferred) - values.begin();
  }
  void iterators(llvm::StringRef knob,
                 llvm::ArrayRef<mlir::utils::IteratorType> types) {
    structure(knob, getIterators(types));
  }
  mlir::DictionaryAttr
  getIterators(llvm::ArrayRef<mlir::utils::IteratorType> types) {
    llvm::SmallVector<mlir::Attribute> attrs;
    for (mlir::utils::IteratorType type : types)
      attrs.push_back(
          mlir::linalg::IteratorTypeAttr::get(builder.getContext(), type));
    return builder.getDictionaryAttr(
        builder.getNamedAttr("iterator_types", builder.getArrayAttr(attrs)));
  }

  mlir::Builder builder;
  FittingSketch sketch;
};

} // namespace cwm

#endif // CWM_LIB_SKETCHES_OPTIONS_H
