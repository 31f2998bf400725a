//===- CanonicalPrinter.h - Canonical text of IR pieces ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAJECTORY_CANONICALPRINTER_H
#define CWM_LIB_TRAJECTORY_CANONICALPRINTER_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace cwm {

/// Prints IR in cwm's canonical form. One object prints one text: numbers and
/// abbreviations are assigned in the order of first use.
class CanonicalPrinter {
public:
  enum class Abbreviate { No, Yes };

  /// With `Abbreviate::Yes`, a type or opaque attribute whose text is long is
  /// printed in full once and as `!N` or `#N` from then on.
  CanonicalPrinter(mlir::MLIRContext *context, std::string &text,
                   Abbreviate abbreviate);

  void printRoot(mlir::Operation *root);
  void print(mlir::Attribute attribute);
  void print(mlir::Type type);

private:
  /// A symbol is identified by its table and name.
  using SymbolKey = std::pair<mlir::Operation *, mlir::Attribute>;

  void collectSymbols(mlir::Operation *root);
  void print(mlir::Operation *op);
  void printOperands(mlir::Operation *op);
  void printAttributes(mlir::Operation *op, mlir::DictionaryAttr attributes,
                       bool operandsAreSegmented);
  void print(mlir::Region &region);
  void print(mlir::Value value);
  void print(mlir::SymbolRefAttr reference);
  void printSymbolName(mlir::Operation *symbol, mlir::StringAttr name);
  void printFloat(const llvm::APFloat &value);
  void printNumber(mlir::IntegerAttr number);
  void printElements(mlir::DenseElementsAttr elements);
  void printResource(mlir::DenseResourceElementsAttr elements);
  void printOpaque(mlir::Attribute attribute);
  /// Prints what stands for a type or attribute that was printed before: its
  /// number after `sigil`, or its short text. False when it is new.
  bool printKnown(char sigil,
                  const llvm::DenseMap<const void *, unsigned> &numbers,
                  const void *key);
  void printAbbreviated(llvm::StringRef full,
                        llvm::DenseMap<const void *, unsigned> &numbers,
                        const void *key);
  template <typename Range> void printList(const Range &range);

  mlir::AsmState state;
  llvm::raw_string_ostream os;
  const Abbreviate abbreviate;

  llvm::DenseMap<mlir::Value, unsigned> valueNumbers;
  unsigned nextValue = 0;
  llvm::DenseMap<mlir::Block *, unsigned> blockNumbers;
  llvm::DenseMap<SymbolKey, mlir::Operation *> symbols;
  llvm::DenseMap<mlir::Operation *, unsigned> symbolNumbers;
  llvm::DenseMap<const void *, unsigned> typeNumbers, attributeNumbers;
  /// Texts of types and opaque attributes too short to abbreviate.
  llvm::DenseMap<const void *, std::string> shortTexts;
  /// The op whose attributes are being printed: where references resolve from.
  mlir::Operation *current = nullptr;
};

} // namespace cwm

#endif // CWM_LIB_TRAJECTORY_CANONICALPRINTER_H
