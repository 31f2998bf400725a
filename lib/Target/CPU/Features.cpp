//===- Features.cpp - What LLVM knows of a CPU ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Features.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

Expected<cwm::VectorRegisters> cwm::getVectorRegisters(StringRef cpu,
                                                       StringRef features) {
  InitializeNativeTarget();
  Triple triple(sys::getProcessTriple());
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeError(message);
  // LLVM only warns about unknown names; ask it about each one first.
  std::unique_ptr<MCSubtargetInfo> generic(
      target->createMCSubtargetInfo(triple, "", ""));
  if (cpu.empty() || !generic->isCPUStringValid(cpu))
    return makeError("field 'cpu': LLVM knows no " + triple.getArchName() +
                     " processor '" + cpu + "'");
  SmallVector<StringRef> names;
  features.split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef name : names) {
    if (!name.starts_with("+") && !name.starts_with("-"))
      return makeError("field 'features': '" + name +
                       "' must start with + or -");
    if (none_of(generic->getAllProcessorFeatures(),
                [&](const SubtargetFeatureKV &feature) {
                  return name.drop_front() == feature.Key;
                }))
      return makeError("field 'features': LLVM knows no " +
                       triple.getArchName() + " feature '" + name.drop_front() +
                       "'");
  }

  VectorRegisters registers;
  if (!triple.isX86()) {
    registers.count = 32;
    return registers;
  }
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, cpu, features));
  if (subtarget->checkFeatures("+avx512f")) {
    registers.bits = 512;
    registers.count = 32;
  } else if (subtarget->checkFeatures("+avx")) {
    registers.bits = 256;
  }
  return registers;
}
