//===- InspectSpace.cpp - Print what a schedule leaves open -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"
#include "cwm/Space/Space.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace cwm {
#define GEN_PASS_DEF_INSPECTSPACE
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;
using namespace cwm;

namespace {
struct InspectSpace : cwm::impl::InspectSpaceBase<InspectSpace> {
  using InspectSpaceBase::InspectSpaceBase;

  void runOnOperation() override {
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(getOperation()->clone()));
    FailureOr<std::unique_ptr<Space>> space =
        Space::create(std::move(copy), "schedule");
    if (failed(space))
      return signalPassFailure();
    llvm::raw_ostream &os = llvm::outs();
    (*space)->printCount(os);
    if (list)
      (*space)->printKnobs(os);
    if (int64_t limit = enumerate) {
      bool complete = (*space)->enumerate([&](const Assignment &candidate) {
        os << (*space)->getKey(candidate) << "\n";
        limit -= limit > 0;
        return limit != 0;
      });
      if (!complete) {
        getOperation().emitError()
            << "gave up the enumeration: too many options were looked at "
               "without finding a further candidate that satisfies all "
               "constraints";
        return signalPassFailure();
      }
    }
    RandomEngine engine(seed);
    for (int64_t i = 0; i < sample; ++i) {
      std::optional<Assignment> candidate = (*space)->sample(engine);
      if (!candidate) {
        std::string why;
        if ((*space)->getDefault(&why))
          why = "found no random candidate that satisfies all constraints";
        getOperation().emitError() << why;
        return signalPassFailure();
      }
      os << (*space)->getKey(*candidate) << "\n";
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
