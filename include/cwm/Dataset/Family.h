//===- Family.h - What kind of operators a payload has ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DATASET_FAMILY_H
#define CWM_DATASET_FAMILY_H

#include "cwm/Database/TrajectoryStore.h"
#include "cwm/Payload/Payload.h"

namespace cwm {

/// The names that getOperatorFamily() gives.
llvm::ArrayRef<llvm::StringRef> getOperatorFamilies();

/// The kind of the payload's heaviest operation, by structure and not by name:
/// matmul, batch_matmul, vector (a product with one vector), conv1d, conv2d,
/// conv3d, grouped, depthwise, pool; of payloads without products: softmax
/// (reductions and exponentials), norm (reductions and a root), reduce,
/// elementwise, layout (data is only moved).
llvm::StringRef getOperatorFamily(const Payload &payload);

/// The extents of the loops of the heaviest operation, "128x768x768": payloads
/// that differ in bias, activation and layout of operands have the same.
std::string getShapeKey(const Payload &payload);

/// What is stored of a payload that was read from `file`.
WorkloadInfo makeWorkloadInfo(const Payload &payload, llvm::StringRef file);

} // namespace cwm

#endif // CWM_DATASET_FAMILY_H
