//===- CommandLine.cpp - What the tools' command lines share -- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/CommandLine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

void cwm::removeLibraryOptions() {
  SmallVector<cl::Option *> foreign;
  for (auto &entry : cl::getRegisteredOptions()) {
    bool isGeneric =
        StringSwitch<bool>(entry.first)
            .Cases({"help", "help-hidden", "help-list", "help-list-hidden"},
                   true)
            .Cases({"version", "print-options", "print-all-options"}, true)
            .Default(false);
    if (!isGeneric)
      foreign.push_back(entry.second);
  }
  for (cl::Option *option : foreign)
    option->removeArgument();
}

Error cwm::makeFlagError(const Twine &message) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           message);
}

Error cwm::checkFlagRange(StringRef flag, int64_t value, int64_t low,
                          int64_t high) {
  if (value >= low && value <= high)
    return Error::success();
  return makeFlagError("--" + flag + "=" + Twine(value) + ": must be from " +
                       Twine(low) + " to " + Twine(high));
}

Error cwm::checkFlagName(StringRef flag, StringRef value,
                         ArrayRef<StringRef> names) {
  if (is_contained(names, value))
    return Error::success();
  return makeFlagError("--" + flag + "=" + value +
                       ": known are: " + join(names, ", "));
}

std::string cwm::findEmptyFlag(ArrayRef<const cl::opt<std::string> *> flags) {
  for (const cl::opt<std::string> *flag : flags)
    if (flag->getNumOccurrences() > 0 && flag->getValue().empty())
      return flag->ArgStr.str();
  return "";
}

Error cwm::checkEmptyFlag(StringRef flag) {
  if (flag.empty())
    return Error::success();
  return makeFlagError((flag.size() == 1 ? "-" : "--") + flag +
                       " has an empty value");
}
