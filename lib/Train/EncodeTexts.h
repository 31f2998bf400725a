//===- EncodeTexts.h - Latent states of a dataset, with a store --*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_ENCODETEXTS_H
#define CWM_LIB_TRAIN_ENCODETEXTS_H

#include "Stage.h"

#include "cwm/Dataset/Dataset.h"
#include "cwm/Model/LatentStore.h"

namespace cwm {

/// Makes sure that `store` has the latent states of all states and actions of
/// `dataset`. Says every ten seconds how far it is. False when `stop` was set,
/// here or in another process; what was encoded until then is kept.
llvm::Expected<bool>
encodeTexts(const Dataset &dataset, const ModelDirectory &model,
            LatentStore &store, const ProcessOptions &processes,
            const StopFlag &stop,
            llvm::function_ref<void(const llvm::Twine &)> progress);

} // namespace cwm

#endif // CWM_LIB_TRAIN_ENCODETEXTS_H
