//===- CanonicalPrinter.cpp - Canonical text of IR pieces -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CanonicalPrinter.h"

#include "cwm/Trajectory/StateText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cwm;

/// Texts up to this length are never abbreviated: `!12` is hardly shorter.
static constexpr size_t maxPlainLength = 12;
/// An attribute of a foreign dialect longer than this is replaced by its hash.
static constexpr size_t maxOpaqueLength = 4096;
/// Dense constants with more elements are replaced by their content hash.
static constexpr int64_t maxDenseElements = 16;

static constexpr StringLiteral operandSegments = "operandSegmentSizes";

/// Marks modules that hold a schedule.
static constexpr StringLiteral scheduleMarker =
    transform::TransformDialect::kWithNamedSequenceAttrName;

CanonicalPrinter::CanonicalPrinter(MLIRContext *context, std::string &text,
                                   Abbreviate abbreviate)
    : state(context), os(text), abbreviate(abbreviate) {}

void CanonicalPrinter::printRoot(Operation *root) {
  collectSymbols(root);
  print(root);
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

void CanonicalPrinter::collectSymbols(Operation *root) {
  StringAttr nameKey =
      StringAttr::get(root->getContext(), SymbolTable::getSymbolAttrName());
  root->walk([&](Operation *op) {
    if (op == root || op->getNumRegions() > 1)
      return;
    Operation *table = op->getParentOp();
    if (!table->hasTrait<OpTrait::SymbolTable>())
      return;
    if (auto name = op->getAttrOfType<StringAttr>(nameKey))
      symbols.try_emplace({table, name}, op);
  });
}

void CanonicalPrinter::printSymbolName(Operation *symbol, StringAttr name) {
  // The name of a declaration says what is called: it is not ours to rename.
  auto interface = dyn_cast_or_null<SymbolOpInterface>(symbol);
  if (!symbol || (interface && interface.isDeclaration())) {
    os << '@' << name.getValue();
    return;
  }
  auto [it, isNew] = symbolNumbers.try_emplace(symbol, symbolNumbers.size());
  os << '@' << it->second;
}

void CanonicalPrinter::print(SymbolRefAttr reference) {
  StringAttr name = reference.getRootReference();
  Operation *symbol = nullptr;
  for (Operation *op = current; op && !symbol; op = op->getParentOp())
    symbol = symbols.lookup({op, name});
  printSymbolName(symbol, name);
  for (FlatSymbolRefAttr nested : reference.getNestedReferences()) {
    os << "::";
    symbol = symbol ? symbols.lookup({symbol, nested.getAttr()}) : nullptr;
    printSymbolName(symbol, nested.getAttr());
  }
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

bool CanonicalPrinter::printKnown(
    char sigil, const llvm::DenseMap<const void *, unsigned> &numbers,
    const void *key) {
  if (auto it = numbers.find(key); it != numbers.end()) {
    os << sigil << it->second;
    return true;
  }
  auto it = shortTexts.find(key);
  if (it == shortTexts.end())
    return false;
  os << it->second;
  return true;
}

void CanonicalPrinter::printAbbreviated(
    StringRef full, llvm::DenseMap<const void *, unsigned> &numbers,
    const void *key) {
  os << full;
  if (abbreviate == Abbreviate::Yes && full.size() > maxPlainLength)
    numbers.try_emplace(key, numbers.size());
  else
    shortTexts.try_emplace(key, full);
}

void CanonicalPrinter::print(Type type) {
  if (auto function = dyn_cast<FunctionType>(type)) {
    os << '(';
    printList(function.getInputs());
    os << ") -> (";
    printList(function.getResults());
    os << ')';
    return;
  }
  const void *key = type.getAsOpaquePointer();
  if (printKnown('!', typeNumbers, key))
    return;
  std::string full;
  llvm::raw_string_ostream stream(full);
  type.print(stream, state);
  printAbbreviated(full, typeNumbers, key);
}

void CanonicalPrinter::printOpaque(Attribute attribute) {
  const void *key = attribute.getAsOpaquePointer();
  if (printKnown('#', attributeNumbers, key))
    return;
  std::string full;
  llvm::raw_string_ostream stream(full);
  attribute.print(stream, state);
  if (full.size() > maxOpaqueLength)
    full = "hash<" + hashText(full).substr(0, 16) + ">";
  printAbbreviated(full, attributeNumbers, key);
}

template <typename Range> void CanonicalPrinter::printList(const Range &range) {
  llvm::interleave(range, os, [&](auto element) { print(element); }, ", ");
}

void CanonicalPrinter::printFloat(const APFloat &value) {
  // Shortest decimal that reads back as the same number; the bits where there
  // is none.
  SmallString<24> digits;
  if (value.isNaN() || value.isInfinity())
    value.bitcastToAPInt().toString(digits, 16, /*Signed=*/false,
                                    /*formatAsCLiteral=*/true);
  else if (value.isNegZero())
    digits = "-0";
  else
    value.toString(digits);
  os << digits;
}

static void printInteger(raw_ostream &os, const APInt &value, Type type) {
  if (type.isInteger(1))
    os << (value.isZero() ? "false" : "true");
  else
    value.print(os, /*isSigned=*/!type.isUnsignedInteger());
}

void CanonicalPrinter::print(Attribute attribute) {
  if (auto string = dyn_cast<StringAttr>(attribute)) {
    os << '"';
    llvm::printEscapedString(string.getValue(), os);
    os << '"';
  } else if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    printInteger(os, integer.getValue(), integer.getType());
    // i64 is what nearly all attributes hold.
    if (!integer.getType().isSignlessInteger(64) &&
        !integer.getType().isSignlessInteger(1)) {
      os << " : ";
      print(integer.getType());
    }
  } else if (auto number = dyn_cast<FloatAttr>(attribute)) {
    printFloat(number.getValue());
    os << " : ";
    print(number.getType());
  } else if (auto type = dyn_cast<TypeAttr>(attribute)) {
    print(type.getValue());
  } else if (isa<UnitAttr>(attribute)) {
    os << "unit";
  } else if (auto reference = dyn_cast<SymbolRefAttr>(attribute)) {
    print(reference);
  } else if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    os << '[';
    printList(array);
    os << ']';
  } else if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    os << '{';
    llvm::interleaveComma(dictionary, os, [&](NamedAttribute entry) {
      os << entry.getName().getValue() << '=';
      print(entry.getValue());
    });
    os << '}';
  } else if (auto sizes = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    os << "array<";
    llvm::interleaveComma(sizes.asArrayRef(), os);
    os << '>';
  } else if (auto kind = dyn_cast<linalg::IteratorTypeAttr>(attribute)) {
    // The commonest attribute of all, in one word.
    os << utils::stringifyIteratorType(kind.getValue());
  } else if (auto elements = dyn_cast<DenseElementsAttr>(attribute)) {
    printElements(elements);
  } else if (auto elements = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    printResource(elements);
  } else {
    printOpaque(attribute);
  }
}

/// A short content hash of raw bytes.
static std::string hashBytes(ArrayRef<char> bytes) {
  return hashText(StringRef(bytes.data(), bytes.size())).substr(0, 16);
}

void CanonicalPrinter::printElements(DenseElementsAttr elements) {
  Type elementType = elements.getElementType();
  auto printOne = [&](const auto &value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, APFloat>)
      printFloat(value);
    else
      printInteger(os, value, elementType);
  };
  auto printAll = [&](auto tag) {
    using T = decltype(tag);
    if (elements.isSplat())
      return printOne(elements.getSplatValue<T>());
    os << '[';
    llvm::interleaveComma(elements.getValues<T>(), os, printOne);
    os << ']';
  };
  bool isShort =
      elements.isSplat() || elements.getNumElements() <= maxDenseElements;
  os << "dense<";
  if (isShort && isa<FloatType>(elementType)) {
    printAll(APFloat(0.0));
  } else if (isShort && elementType.isIntOrIndex()) {
    printAll(APInt());
  } else if (auto strings = dyn_cast<DenseStringElementsAttr>(elements)) {
    std::string joined;
    for (StringRef string : strings.getRawStringData())
      joined += llvm::utostr(string.size()) + ":" + string.str();
    os << "hash " << hashText(joined).substr(0, 16);
  } else {
    os << "hash " << hashBytes(elements.getRawData());
  }
  os << "> : ";
  print(elements.getType());
}

void CanonicalPrinter::printResource(DenseResourceElementsAttr elements) {
  // The key of a resource is a name; what counts is the blob.
  os << "resource<";
  if (AsmResourceBlob *blob = elements.getRawHandle().getBlob())
    os << "hash " << hashBytes(blob->getData());
  else
    os << elements.getRawHandle().getKey();
  os << "> : ";
  print(elements.getType());
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void CanonicalPrinter::print(Value value) {
  auto [it, isNew] = valueNumbers.try_emplace(value, nextValue);
  if (isNew)
    ++nextValue;
  os << '%' << it->second;
}

/// The sizes of the operand groups; null where there are none, or where they do
/// not fit, since IR between two steps need not be valid.
static DenseI32ArrayAttr getOperandSegments(Operation *op) {
  auto segments = op->getAttrOfType<DenseI32ArrayAttr>(operandSegments);
  if (!segments)
    return {};
  uint64_t sum = 0;
  for (int32_t size : segments.asArrayRef()) {
    if (size < 0)
      return {};
    sum += size;
  }
  return sum == op->getNumOperands() ? segments : DenseI32ArrayAttr();
}

void CanonicalPrinter::printOperands(Operation *op) {
  if (op->getNumOperands() == 0)
    return;
  os << ' ';
  DenseI32ArrayAttr segments = getOperandSegments(op);
  if (!segments)
    return printList(op->getOperands());
  // Groups of operands are divided by semicolons.
  unsigned start = 0;
  llvm::interleave(
      segments.asArrayRef(), os,
      [&](int32_t size) {
        printList(op->getOperands().slice(start, size));
        start += size;
      },
      "; ");
}

/// Attributes that say nothing because they hold the value of their absence.
static bool isDefault(Attribute attribute) {
  if (auto flags = dyn_cast<arith::FastMathFlagsAttr>(attribute))
    return flags.getValue() == arith::FastMathFlags::none;
  if (auto flags = dyn_cast<arith::IntegerOverflowFlagsAttr>(attribute))
    return flags.getValue() == arith::IntegerOverflowFlags::none;
  return false;
}

void CanonicalPrinter::printAttributes(Operation *op, DictionaryAttr attributes,
                                       bool operandsAreSegmented) {
  current = op;
  StringRef symbolName = SymbolTable::getSymbolAttrName();
  for (NamedAttribute entry : attributes) {
    StringRef name = entry.getName().getValue();
    if ((operandsAreSegmented && name == operandSegments) ||
        name == symbolName || name == scheduleMarker ||
        isDefault(entry.getValue()))
      continue;
    os << ' ' << name;
    if (isa<UnitAttr>(entry.getValue()))
      continue;
    os << '=';
    print(entry.getValue());
  }
}

/// A schedule that travels in the payload's module is no part of the payload.
static bool isSchedule(Operation &op) {
  return isa<transform::NamedSequenceOp>(op) || op.hasAttr(scheduleMarker);
}

/// Named structured ops imply their body, which their own syntax omits too.
static bool hasImpliedBody(Operation *op) {
  return isa<linalg::LinalgOp>(op) &&
         !isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp>(op);
}

void CanonicalPrinter::print(Operation *op) {
  if (op->getNumResults() != 0) {
    printList(op->getResults());
    os << " = ";
  }
  os << op->getName().getStringRef();
  DictionaryAttr attributes = op->getAttrDictionary();
  if (auto name =
          attributes.getAs<StringAttr>(SymbolTable::getSymbolAttrName())) {
    Operation *symbol = symbols.lookup({op->getParentOp(), name});
    if (symbol == op) {
      os << ' ';
      printSymbolName(op, name);
    }
  }
  printOperands(op);
  if (op->getNumSuccessors() != 0) {
    os << " [";
    llvm::interleaveComma(op->getSuccessors(), os, [&](Block *successor) {
      os << '^' << blockNumbers.lookup(successor);
    });
    os << ']';
  }
  printAttributes(op, attributes,
                  op->getNumOperands() != 0 && getOperandSegments(op));

  // A constant states its type with its value.
  auto value = attributes.getAs<TypedAttr>("value");
  bool hasTypeInValue = op->hasTrait<OpTrait::ConstantLike>() &&
                        op->getNumResults() == 1 && value &&
                        value.getType() == op->getResult(0).getType();
  if (op->getNumResults() != 0 && !hasTypeInValue) {
    os << " : ";
    printList(op->getResultTypes());
  }
  if (op->getNumRegions() != 0 && !hasImpliedBody(op)) {
    // Nothing outside can be named inside: number from zero again, so that
    // the text of a function does not depend on what precedes it.
    bool isIsolated = op->hasTrait<OpTrait::IsIsolatedFromAbove>();
    unsigned outer = nextValue;
    if (isIsolated)
      nextValue = 0;
    for (Region &region : op->getRegions())
      print(region);
    if (isIsolated)
      nextValue = outer;
  }
  os << '\n';
}

void CanonicalPrinter::print(Region &region) {
  os << " {\n";
  if (!region.hasOneBlock())
    for (auto [index, block] : llvm::enumerate(region))
      blockNumbers[&block] = index;
  for (Block &block : region) {
    if (!region.hasOneBlock())
      os << '^' << blockNumbers[&block];
    if (block.getNumArguments() != 0) {
      os << '(';
      llvm::interleaveComma(block.getArguments(), os,
                            [&](BlockArgument argument) {
                              print(argument);
                              os << ": ";
                              print(argument.getType());
                            });
      os << ')';
    }
    if (!region.hasOneBlock() || block.getNumArguments() != 0)
      os << '\n';
    for (Operation &op : block)
      if (!isSchedule(op))
        print(&op);
  }
  os << '}';
}
