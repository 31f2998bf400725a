//===- Declarations.cpp - The knobs that a schedule declares ------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Declarations.h"
#include "Binding.h"

#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace mlir;
using namespace cwm;

namespace {
class Reader {
public:
  Reader(const llvm::StringMap<ArrayAttr> &options, Declarations &result)
      : options(options), result(result) {}

  LogicalResult readOp(Operation *op) {
    if (auto knob = dyn_cast<transform::tune::KnobOp>(op))
      return readKnobOp(knob);
    if (auto alternatives = dyn_cast<transform::tune::AlternativesOp>(op))
      return readAlternatives(alternatives);
    if (Attribute bind = op->getDiscardableAttr(bindAttrName))
      return readBindings(op, bind);
    return success();
  }

private:
  LogicalResult readKnobOp(transform::tune::KnobOp op) {
    if (isa<transform::AnyParamType>(op.getType())) {
      return op.emitError()
             << "knob \"" << op.getName().getValue()
             << "\" has type !transform.any_param; expected the type of its "
                "options, such as !transform.param<i64>";
    }
    auto paramType = dyn_cast<transform::ParamType>(op.getType());
    Type type = paramType ? paramType.getType() : Type();
    if (auto it = options.find(op.getName()); it != options.end())
      op.setOptionsAttr(it->second);
    Knob knob;
    knob.name = op.getName().str();
    knob.kind = Knob::Kind::Param;
    knob.location = op.getLoc();
    if (failed(readOptions(op, op.getOptions(), type, knob)))
      return failure();
    if (std::optional<Attribute> selected = op.getSelected()) {
      knob.setList(ArrayAttr::get(op.getContext(), {*selected}));
      if (failed(checkTypes(op, knob, type)))
        return failure();
    }
    return declare(op, knob, op->getDiscardableAttr(defaultAttrName));
  }

  LogicalResult readAlternatives(transform::tune::AlternativesOp op) {
    // The choice is somebody else's: a parameter, or already made.
    if (op.getSelectedRegionParam() || op.getSelectedRegionAttr())
      return success();
    Knob knob;
    knob.name = op.getName().str();
    knob.kind = Knob::Kind::Alternatives;
    knob.location = op.getLoc();
    if (op.getAlternatives().empty())
      return op.emitError()
             << "alternatives \"" << knob.name << "\" has no region";
    Builder builder(op.getContext());
    SmallVector<Attribute> regions;
    for (size_t region = 0; region < op.getAlternatives().size(); ++region)
      regions.push_back(
          builder.getI64IntegerAttr(static_cast<int64_t>(region)));
    knob.setList(builder.getArrayAttr(regions));
    // Options given from outside restrict the regions that may be selected.
    if (auto it = options.find(knob.name); it != options.end()) {
      for (Attribute option : it->second) {
        if (!llvm::is_contained(regions, option))
          return op.emitError()
                 << "option " << option << " of alternatives \"" << knob.name
                 << "\" is not one of its " << regions.size() << " regions";
      }
      if (failed(readOptions(op, it->second, builder.getI64Type(), knob)))
        return failure();
    }
    return declare(op, knob, op->getDiscardableAttr(defaultAttrName));
  }

  LogicalResult readBindings(Operation *op, Attribute bind) {
    auto dictionary = dyn_cast<DictionaryAttr>(bind);
    if (!dictionary)
      return op->emitError()
             << "'cwm.bind' must be a dictionary {ATTRIBUTE = VALUE}";
    for (NamedAttribute entry : dictionary)
      if (failed(readTemplate(op, entry.getValue())))
        return failure();
    return success();
  }

  /// In-place declarations `{knob = "NAME", options = ...}`.
  LogicalResult readTemplate(Operation *op, Attribute value) {
    if (auto array = dyn_cast<ArrayAttr>(value)) {
      for (Attribute element : array)
        if (failed(readTemplate(op, element)))
          return failure();
      return success();
    }
    auto dictionary = dyn_cast<DictionaryAttr>(value);
    if (!dictionary)
      return success();
    if (!isKnobDictionary(dictionary)) {
      for (NamedAttribute entry : dictionary)
        if (failed(readTemplate(op, entry.getValue())))
          return failure();
      return success();
    }
    Knob knob;
    knob.name = dictionary.getAs<StringAttr>("knob").str();
    knob.kind = Knob::Kind::Binding;
    knob.location = op->getLoc();
    for (NamedAttribute entry : dictionary) {
      if (entry.getName() != "knob" && entry.getName() != "options" &&
          entry.getName() != "default") {
        return op->emitError()
               << "knob \"" << knob.name << "\" in 'cwm.bind' has an entry '"
               << entry.getName().getValue()
               << "'; expected 'knob', 'options' and 'default'";
      }
    }
    Attribute list = dictionary.get("options");
    if (!list)
      return success(); // a reference
    if (auto it = options.find(knob.name); it != options.end())
      list = it->second;
    if (failed(readOptions(op, list, Type(), knob)))
      return failure();
    return declare(op, knob, dictionary.get("default"));
  }

  //===--- Options --------------------------------------------------------===//

  LogicalResult readOptions(Operation *op, Attribute attr, Type type,
                            Knob &knob) {
    if (auto list = dyn_cast<ArrayAttr>(attr)) {
      llvm::SetVector<Attribute> unique(list.begin(), list.end());
      knob.setList(ArrayAttr::get(op->getContext(), unique.getArrayRef()));
      if (list.empty())
        return op->emitError()
               << "knob \"" << knob.name << "\" has an empty list of options";
      return checkTypes(op, knob, type);
    }
    if (auto range = dyn_cast<DictionaryAttr>(attr))
      return readRange(op, range, type, knob);
    return op->emitError()
           << "options of knob \"" << knob.name
           << "\" must be a list or {lower_bound, upper_bound, divisible_by}, "
              "got "
           << attr;
  }

  /// Options become the value of a parameter: a wrong type crashes transform
  /// ops (tile_using_for with a string).
  LogicalResult checkTypes(Operation *op, const Knob &knob, Type type) {
    if (!type)
      return success();
    for (Attribute option : knob.list) {
      auto typed = dyn_cast<TypedAttr>(option);
      if (!typed || typed.getType() != type)
        return op->emitError()
               << "option " << option << " of knob \"" << knob.name
               << "\" is not of type " << type << ", which its parameter needs";
    }
    return success();
  }

  LogicalResult readRange(Operation *op, DictionaryAttr range, Type type,
                          Knob &knob) {
    if (!type)
      type = IntegerType::get(op->getContext(), 64);
    if (!isa<IntegerType, IndexType>(type))
      return op->emitError()
             << "knob \"" << knob.name << "\" has a range of options but type "
             << type << "; expected an integer type";
    auto error = [&]() -> InFlightDiagnostic {
      return op->emitError() << "range of knob \"" << knob.name << "\" ";
    };
    std::optional<int64_t> lower, upper, divisibleBy, divides;
    ArrayAttr list;
    for (NamedAttribute entry : range) {
      StringRef key = entry.getName().getValue();
      if (key == "options" && isa<ArrayAttr>(entry.getValue())) {
        list = cast<ArrayAttr>(entry.getValue());
        continue;
      }
      std::optional<int64_t> *slot = key == "lower_bound"    ? &lower
                                     : key == "upper_bound"  ? &upper
                                     : key == "divisible_by" ? &divisibleBy
                                     : key == "divides"      ? &divides
                                                             : nullptr;
      auto integer = dyn_cast<IntegerAttr>(entry.getValue());
      if (!slot)
        return error() << "has an entry '" << key
                       << "'; expected 'lower_bound', 'upper_bound', "
                          "'divisible_by', 'divides' or 'options'";
      if (!integer || !integer.getValue().isSignedIntN(64))
        return error() << "has '" << key << "' = " << entry.getValue()
                       << "; expected a 64-bit integer";
      *slot = integer.getValue().getSExtValue();
    }
    if (divisibleBy && *divisibleBy <= 0)
      return error() << "has 'divisible_by' = " << *divisibleBy
                     << "; expected a positive integer";
    if (divides && *divides <= 0)
      return error() << "has 'divides' = " << *divides
                     << "; expected a positive integer";
    if (!list && (!lower || !upper))
      return error() << "needs 'lower_bound' and 'upper_bound'";
    int64_t step = divisibleBy.value_or(1);
    if (!list && !divides)
      return setRange(op, *lower, *upper, step, type, knob);

    // Lists and divisors are few: written out.
    SmallVector<Attribute> options;
    auto consider = [&](Attribute option, int64_t value) {
      if ((!lower || value >= *lower) && (!upper || value <= *upper) &&
          value % step == 0 && (!divides || (value && *divides % value == 0)))
        options.push_back(option);
    };
    if (list) {
      for (Attribute option : list) {
        auto integer = dyn_cast<IntegerAttr>(option);
        if (!integer || integer.getType() != type)
          return error() << "lists " << option << ", which is not of type "
                         << type;
        consider(option, integer.getValue().getSExtValue());
      }
    } else {
      if (*divides > int64_t(1) << 40)
        return error() << "has 'divides' = " << *divides
                       << "; expected at most 2^40";
      SmallVector<int64_t> divisors;
      for (int64_t low = 1; low * low <= *divides; ++low) {
        if (*divides % low == 0)
          for (int64_t divisor : {low, *divides / low})
            for (int64_t sign : {-1, 1})
              divisors.push_back(sign * divisor);
      }
      llvm::sort(divisors);
      divisors.erase(llvm::unique(divisors), divisors.end());
      for (int64_t divisor : divisors)
        consider(IntegerAttr::get(type, divisor), divisor);
    }
    if (options.empty())
      return error() << "is empty: no option fulfils all of " << range;
    return readOptions(op, ArrayAttr::get(op->getContext(), options), type,
                       knob);
  }

  LogicalResult setRange(Operation *op, int64_t lower, int64_t upper,
                         int64_t step, Type type, Knob &knob) {
    // The first multiple not below the lower bound.
    int64_t below = lower % step < 0 ? lower % step + step : lower % step;
    int64_t first = lower;
    bool overflow =
        below != 0 && __builtin_add_overflow(lower, step - below, &first);
    if (overflow || first > upper)
      return op->emitError() << "range of knob \"" << knob.name
                             << "\" is empty: no multiple of " << step
                             << " in [" << lower << ", " << upper << "]";
    lower = first;
    auto fits = [&](int64_t value) {
      return type.isIndex() ||
             llvm::isIntN(type.getIntOrFloatBitWidth(), value);
    };
    if (!fits(lower) || !fits(upper) ||
        static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower) >
            static_cast<uint64_t>(INT64_MAX) - 1)
      return op->emitError() << "range of knob \"" << knob.name
                             << "\" does not fit type " << type;
    knob.lower = lower;
    knob.upper = upper;
    knob.step = step;
    knob.type = type;
    return success();
  }

  //===--- One name, one decision -----------------------------------------===//

  static bool sameOptions(const Knob &a, const Knob &b) {
    if (a.list || b.list)
      return a.list == b.list;
    return a.lower == b.lower && a.step == b.step && a.type == b.type &&
           a.getNumOptions() == b.getNumOptions();
  }

  /// Names go into keys, records and the header of the result: text, a line.
  static LogicalResult checkName(Operation *op, StringRef name) {
    bool isText =
        llvm::json::isUTF8(name) && llvm::none_of(name, [](unsigned char c) {
          return c < 0x20 || c == 0x7f;
        });
    if (isText && !name.empty())
      return success();
    std::string escaped;
    llvm::raw_string_ostream stream(escaped);
    llvm::printEscapedString(name, stream);
    return op->emitError() << "knob \"" << escaped
                           << "\" needs a name of UTF-8 text without control "
                              "characters";
  }

  LogicalResult declare(Operation *op, const Knob &knob,
                        Attribute defaultOption) {
    if (failed(checkName(op, knob.name)))
      return failure();
    auto [it, isNew] = result.index.try_emplace(knob.name, result.knobs.size());
    if (isNew)
      result.knobs.push_back(knob);
    Knob &known = result.knobs[it->second];
    if (!isNew) {
      if (!sameOptions(known, knob)) {
        InFlightDiagnostic diag =
            op->emitError() << "knob \"" << knob.name
                            << "\" is declared with two different lists of "
                               "options; one name is one decision";
        diag.attachNote(known.location) << "first declared here";
        return diag;
      }
      if (knob.kind == Knob::Kind::Alternatives)
        known.kind = knob.kind;
    }
    if (!defaultOption)
      return success();
    return setDefault(op, known, defaultOption);
  }

  LogicalResult setDefault(Operation *op, Knob &knob, Attribute option) {
    std::optional<uint64_t> index;
    if (knob.list) {
      auto *it = llvm::find(knob.list, option);
      if (it != knob.list.end())
        index = it - knob.list.begin();
    } else if (auto integer = dyn_cast<IntegerAttr>(option);
               integer && integer.getType() == knob.type) {
      index = knob.findOption(std::to_string(integer.getInt()));
    }
    // Options given from outside may lack the default that the file names.
    if (!index && options.count(knob.name))
      return success();
    if (!index)
      return op->emitError() << "default " << option << " of knob \""
                             << knob.name << "\" is not one of its options";
    auto [it, isNew] = givenDefaults.try_emplace(knob.name, *index);
    if (!isNew && it->second != *index)
      return op->emitError()
             << "knob \"" << knob.name << "\" has two different defaults";
    knob.defaultIndex = *index;
    return success();
  }

  const llvm::StringMap<ArrayAttr> &options;
  Declarations &result;
  llvm::StringMap<uint64_t> givenDefaults;
};
} // namespace

LogicalResult cwm::readDeclarations(StringRef space, ModuleOp schedule,
                                    const llvm::StringMap<ArrayAttr> &options,
                                    const llvm::StringMap<uint64_t> &defaults,
                                    Declarations &result) {
  Reader reader(options, result);
  WalkResult walk = schedule.walk<WalkOrder::PreOrder>([&](Operation *op) {
    return failed(reader.readOp(op)) ? WalkResult::interrupt()
                                     : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  auto unknown = [&](StringRef what, StringRef knob) {
    return schedule.emitError()
           << what << " given for knob \"" << knob << "\", which schedule '"
           << space << "' does not declare";
  };
  for (const auto &entry : options)
    if (!result.index.count(entry.getKey()))
      return unknown("options", entry.getKey());
  for (const auto &entry : defaults) {
    auto it = result.index.find(entry.getKey());
    if (it == result.index.end())
      return unknown("default", entry.getKey());
    Knob &knob = result.knobs[it->second];
    uint64_t index = entry.getValue();
    auto given = options.find(entry.getKey());
    uint64_t numOptions =
        given == options.end() ? knob.getNumOptions() : given->second.size();
    if (index >= numOptions)
      return schedule.emitError()
             << "default #" << index << " of knob \"" << knob.name
             << "\" does not exist: it has " << numOptions << " options";
    // Duplicates in the given list were dropped.
    if (given != options.end())
      index = llvm::find(knob.list, given->second[index]) - knob.list.begin();
    knob.defaultIndex = index;
  }
  return success();
}
