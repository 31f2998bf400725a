//===- BindingReader.cpp - Reads and checks cwm.bind ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Binding.h"

#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace cwm;

static LogicalResult readTemplate(Operation *op, Attribute value,
                                  const llvm::StringMap<unsigned> &index,
                                  BindTemplate &result) {
  StringAttr name;
  if (auto string = dyn_cast<StringAttr>(value))
    name = string;
  else if (auto dictionary = dyn_cast<DictionaryAttr>(value)) {
    if (isKnobDictionary(dictionary)) {
      name = dictionary.getAs<StringAttr>("knob");
    } else {
      result.kind = BindTemplate::Kind::Dictionary;
      for (NamedAttribute entry : dictionary) {
        result.names.push_back(entry.getName());
        if (failed(readTemplate(op, entry.getValue(), index,
                                result.children.emplace_back())))
          return failure();
      }
      return success();
    }
  } else if (auto array = dyn_cast<ArrayAttr>(value)) {
    result.kind = BindTemplate::Kind::Array;
    for (Attribute element : array)
      if (failed(
              readTemplate(op, element, index, result.children.emplace_back())))
        return failure();
    return success();
  } else {
    result.literal = value;
    return success();
  }
  auto it = index.find(name.getValue());
  if (it == index.end())
    return op->emitError() << "'cwm.bind' names knob \"" << name.getValue()
                           << "\", which is not declared";
  result.kind = BindTemplate::Kind::Knob;
  result.knob = it->second;
  return success();
}

/// Finds how values become the attribute, and tries each option of each
/// knob while the others have their default.
static LogicalResult checkBinding(Operation *op, ArrayRef<Knob> knobs,
                                  BoundAttribute &bound) {
  std::vector<unsigned> mentioned;
  bound.value.getKnobs(mentioned);
  llvm::sort(mentioned);
  mentioned.erase(llvm::unique(mentioned), mentioned.end());
  auto resolveWith = [&](unsigned changed, uint64_t option) {
    return bound.value.resolve(op->getContext(), [&](unsigned knob) {
      return knobs[knob].getOption(knob == changed ? option
                                                   : knobs[knob].defaultIndex);
    });
  };
  auto mismatch = [&](unsigned knob, uint64_t option, Attribute value) {
    InFlightDiagnostic diag = op->emitError();
    diag << "attribute '" << bound.name.getValue() << "' of '" << op->getName()
         << "' cannot be " << value;
    if (knob < knobs.size())
      diag << " (option " << knobs[knob].getOptionText(option) << " of knob \""
           << knobs[knob].name << "\")";
    return diag;
  };
  unsigned none = knobs.size();
  unsigned first = mentioned.empty() ? none : mentioned.front();
  uint64_t firstOption = first == none ? 0 : knobs[first].defaultIndex;
  Attribute initial = resolveWith(none, 0);
  std::optional<AttributeForm> form = findForm(op, bound.name, initial);
  if (!form)
    return mismatch(first, firstOption, initial);
  bound.form = *form;
  for (unsigned knob : mentioned) {
    uint64_t numOptions = knobs[knob].getNumOptions();
    for (uint64_t option = 0; option < numOptions; ++option) {
      // The inside of a range holds no surprise that its ends do not.
      if (!knobs[knob].list && option > 0 && option + 1 < numOptions)
        option = numOptions - 1;
      Attribute value = resolveWith(knob, option);
      Attribute converted = bound.form.convert(value);
      if (!converted || !acceptsAttribute(op, bound.name, converted))
        return mismatch(knob, option, value);
    }
  }
  return success();
}

LogicalResult cwm::readBinding(Operation *op, NamedAttribute entry,
                               ArrayRef<Knob> knobs,
                               const llvm::StringMap<unsigned> &index,
                               BoundAttribute &bound) {
  ArrayRef<StringAttr> names = op->getName().getAttributeNames();
  if (!llvm::is_contained(names, entry.getName())) {
    InFlightDiagnostic diag =
        op->emitError() << "'cwm.bind' names '" << entry.getName().getValue()
                        << "', which is not an attribute of '" << op->getName()
                        << "'";
    if (!names.empty()) {
      diag << "; it has ";
      llvm::interleaveComma(names, diag, [&](StringAttr name) {
        diag << "'" << name.getValue() << "'";
      });
    }
    return diag;
  }
  bound.name = entry.getName();
  if (failed(readTemplate(op, entry.getValue(), index, bound.value)))
    return failure();
  return checkBinding(op, knobs, bound);
}
