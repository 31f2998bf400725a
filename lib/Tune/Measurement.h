//===- Measurement.h - What measures and what scores a run ---- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CWM_LIB_TUNE_MEASUREMENT_H
#define CWM_LIB_TUNE_MEASUREMENT_H

#include "cwm/Model/Scorer.h"
#include "cwm/Payload/Payload.h"
#include "cwm/Runner/Measurer.h"
#include "cwm/Target/CPU/Hardware.h"
#include "cwm/Tune/Options.h"
#include "cwm/Tune/WorkDirectory.h"

namespace cwm {

/// Workers that compile: `jobs`, or one less than the `cpus` when that is 0; no
/// more than there are trials.
/// Compiling workers of a run on a machine with `cpus` CPUs.
unsigned getNumCompileWorkers(const TuneOptions &options, size_t cpus);

/// Worker processes, or the replay of recorded results.
/// What --measurer names, ready for candidates of `payload`; `seed` is that of
/// the inputs candidates are checked with. `onNote` receives what the user
/// should know while it starts; may be null.
llvm::Expected<std::unique_ptr<Measurer>>
createMeasurer(const TuneOptions &options, uint64_t seed,
               const Payload &payload, const HardwareDescription &hardware,
               const WorkDirectory &workDirectory,
               std::function<void(llvm::StringRef)> onNote);

/// What --scorer and --model name, for the payload of a search; `note` is told
/// why a model that is not asked for is not used either.
llvm::Expected<std::unique_ptr<Scorer>>
createScorer(const TuneOptions &options, const ScoringContext &payload,
             llvm::StringRef targetKey,
             llvm::function_ref<void(const llvm::Twine &)> note);

} // namespace cwm

#endif // CWM_LIB_TUNE_MEASUREMENT_H
