//===- Print.cpp - A space as text --------------------------------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceImpl.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cwm;

/// Exact below 2^53, else in powers of ten.
static void printNumber(llvm::raw_ostream &os, double number) {
  if (number < 9007199254740992.0)
    os << static_cast<uint64_t>(number);
  else
    os << llvm::format("%.3e", number);
}

void Space::printCount(llvm::raw_ostream &os) const {
  constexpr uint64_t limit = 2000000;
  double total = countUnconstrained();
  if (impl->constraints.empty()) {
    printNumber(os, total);
    os << " candidates\n";
    return;
  }
  if (std::optional<uint64_t> exact = countExact(limit))
    os << *exact << " candidates of ";
  else
    os << "an unknown number of candidates of ";
  printNumber(os, total);
  os << " before constraints\n";
}

static StringRef getKindName(Knob::Kind kind) {
  switch (kind) {
  case Knob::Kind::Param:
    return "param";
  case Knob::Kind::Alternatives:
    return "alternatives";
  case Knob::Kind::Binding:
    return "binding";
  }
  llvm_unreachable("unknown kind");
}

void Space::printKnobs(llvm::raw_ostream &os) const {
  for (const Knob &knob : knobs) {
    os << "knob " << knob.name << " (" << getKindName(knob.kind) << "): ";
    if (knob.list) {
      llvm::interleaveComma(knob.texts, os);
    } else {
      os << knob.lower << " to " << *knob.getInteger(knob.getNumOptions() - 1);
      if (knob.step != 1)
        os << " by " << knob.step;
    }
    os << "; default " << knob.getOptionText(knob.defaultIndex);
    if (!knob.liveWhen.empty()) {
      os << "; live when ";
      llvm::interleave(
          knob.liveWhen, os,
          [&](const auto &guard) {
            llvm::interleave(
                guard, os,
                [&](const auto &condition) {
                  const Knob &deciding = knobs[condition.first];
                  os << deciding.name << " = "
                     << deciding.getOptionText(condition.second);
                },
                " and ");
          },
          " or ");
    }
    os << "\n";
  }
}
