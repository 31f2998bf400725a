//===- EvalRollouts.h - Roll-outs on fixed pools ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_EVALROLLOUTS_H
#define CWM_LIB_TRAIN_EVALROLLOUTS_H

#include "cwm/Dataset/Pool.h"
#include "cwm/Model/Encoder.h"
#include "cwm/Train/RolloutMetrics.h"

namespace cwm {

/// The candidates of pools up to the lowering, encoded. Those that could not be
/// applied have no states, and are left out.
llvm::Expected<LatentTrajectories> encodePools(llvm::ArrayRef<Pool> pools,
                                               Encoder &encoder);

/// The trajectories of a dataset, encoded. Those whose payload has no state are
/// left out.
llvm::Expected<LatentTrajectories> encodeDataset(const Dataset &dataset,
                                                 Encoder &encoder);

} // namespace cwm

#endif // CWM_LIB_TRAIN_EVALROLLOUTS_H
