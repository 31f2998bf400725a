//===- Sketches.h - Which sketch fits which payload -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SKETCHES_SKETCHES_H
#define CWM_SKETCHES_SKETCHES_H

#include "cwm/Payload/Payload.h"
#include "cwm/Space/Space.h"
#include "cwm/Target/CPU/Hardware.h"

namespace cwm {

/// The spaces of all sketches that fit `payload` on `hardware`, best first:
/// entry 0's default candidate is the baseline. Never empty on success: the
/// fallback fits every legal payload. `schedulesDir` holds the sketch files
/// (see getSchedulesDir). Fails with a diagnostic when a file is missing or
/// malformed. Where nothing but the fallback fits, `why` (may be null) receives
/// what is in the way of each kind of sketch. With several `threads`, the
/// schedules share their outermost loops out among these.
mlir::FailureOr<std::vector<std::unique_ptr<Space>>>
buildSpaces(const Payload &payload, const HardwareDescription &hardware,
            llvm::StringRef schedulesDir, std::string *why = nullptr,
            int64_t threads = 1);

/// The same for the only public function of `module`, which is left as it is,
/// with the hardware description in the file `hardware` (empty: this machine)
/// and the installed sketches.
mlir::FailureOr<std::vector<std::unique_ptr<Space>>>
buildSpacesOf(mlir::ModuleOp module, llvm::StringRef hardware,
              int64_t threads = 1);

/// The space of a user's own schedule, taken as it is.
mlir::FailureOr<std::unique_ptr<Space>>
buildUserSpace(llvm::StringRef path, mlir::MLIRContext *context);

/// Where the sketches are: `CWM_SCHEDULES_DIR` in the environment, else
/// relative to the running executable (build tree or installation).
std::string getSchedulesDir(llvm::StringRef target);

} // namespace cwm

#endif // CWM_SKETCHES_SKETCHES_H
