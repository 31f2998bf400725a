//===- ModelConfig.h - config.json of a model -------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_MODEL_MODELCONFIG_H
#define CWM_LIB_MODEL_MODELCONFIG_H

#include "cwm/Model/ModelDirectory.h"

namespace cwm {

/// Reads all but `files`. Errors go on from "config.json ".
llvm::Error readModelConfig(const llvm::json::Object &root,
                            ModelConfig &config);

/// Writes all but `files`.
llvm::json::Object writeModelConfig(const ModelConfig &config);

} // namespace cwm

#endif // CWM_LIB_MODEL_MODELCONFIG_H
