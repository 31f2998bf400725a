//===- Knob.cpp - One named decision of a schedule ----------------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Space/Space.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cwm;

uint64_t Knob::getNumOptions() const {
  if (list)
    return list.size();
  return upper < lower
             ? 0
             : (static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower)) /
                       static_cast<uint64_t>(step) +
                   1;
}

Attribute Knob::getOption(uint64_t index) const {
  assert(index < getNumOptions() && "no such option");
  if (list)
    return list[index];
  return IntegerAttr::get(type, *getInteger(index));
}

std::optional<int64_t> Knob::getInteger(uint64_t index) const {
  assert(index < getNumOptions() && "no such option");
  if (!list)
    return static_cast<int64_t>(static_cast<uint64_t>(lower) +
                                index * static_cast<uint64_t>(step));
  if (auto boolean = dyn_cast<BoolAttr>(list[index]))
    return boolean.getValue();
  auto integer = dyn_cast<IntegerAttr>(list[index]);
  if (!integer || !integer.getValue().isSignedIntN(64))
    return std::nullopt;
  return integer.getValue().getSExtValue();
}

static bool isBareword(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-' || c == '/' ||
           c == ':';
  });
}

static std::string printShort(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto printList = [&](auto values) {
    os << "[";
    llvm::interleave(values, os, ",");
    os << "]";
  };
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    os << (boolean.getValue() ? "true" : "false");
  else if (auto integer = dyn_cast<IntegerAttr>(attr))
    os << integer.getValue();
  else if (auto string = dyn_cast<StringAttr>(attr);
           string && isBareword(string.getValue()))
    os << string.getValue();
  else if (auto array = dyn_cast<DenseI64ArrayAttr>(attr))
    printList(array.asArrayRef());
  else if (auto array = dyn_cast<DenseI32ArrayAttr>(attr))
    printList(array.asArrayRef());
  else if (auto array = dyn_cast<ArrayAttr>(attr))
    printList(llvm::map_range(array, printShort));
  else
    os << attr;
  return text;
}

void Knob::setList(ArrayAttr options) {
  list = options;
  texts.clear();
  llvm::StringMap<unsigned> uses;
  for (Attribute option : options) {
    texts.push_back(printShort(option));
    ++uses[texts.back()];
  }
  // The short form drops types; where that makes two options equal, both are
  // printed in full.
  for (auto [text, option] : llvm::zip_equal(texts, options)) {
    if (uses[text] > 1) {
      text.clear();
      llvm::raw_string_ostream(text) << option;
    }
  }
}

std::string Knob::getOptionText(uint64_t index) const {
  return list ? texts[index] : std::to_string(*getInteger(index));
}

std::optional<uint64_t> Knob::findOption(StringRef text) const {
  if (list) {
    auto it = llvm::find(texts, text);
    if (it == texts.end())
      return std::nullopt;
    return it - texts.begin();
  }
  int64_t value = 0;
  if (text.getAsInteger(10, value) || value < lower || value > upper)
    return std::nullopt;
  uint64_t offset = static_cast<uint64_t>(value) - static_cast<uint64_t>(lower);
  if (offset % static_cast<uint64_t>(step) != 0)
    return std::nullopt;
  return offset / static_cast<uint64_t>(step);
}
