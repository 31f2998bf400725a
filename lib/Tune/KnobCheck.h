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
/// What cwm-check-knobs says of `schedule`, of the sketches that fit where it
/// is empty, on the machine described in `hardware` (empty: this one). Runs
/// cwm-opt: a schedule may crash what interprets it. Warnings go to stderr.
llvm::Expected<std::string> runKnobCheck(const Payload &payload,
                                         llvm::StringRef schedule,
                                         llvm::StringRef hardware,
                                         int64_t threads);

} // namespace cwm

#endif // CWM_LIB_TUNE_KNOBCHECK_H
