//===- KnobCheck.h - cwm-tune --check-knobs ------------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TUNE_KNOBCHECK_H
#define CWM_LIB_TUNE_KNOBCHECK_H

#include "cwm/Payload/Payload.h"

#include "llvm/Support/Error.h"

namespace cwm {

/// Runs cwm-opt's check of the knobs of the schedule in file `schedule` on
/// `payload`: in a process of its own, since applying arbitrary candidates may
/// crash upstream code. Its warnings go to stderr, its summary to stdout.
llvm::Error runKnobCheck(const Payload &payload, llvm::StringRef schedule);

} // namespace cwm

#endif // CWM_LIB_TUNE_KNOBCHECK_H
