//===- Worker.h - The two kinds of worker -----------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_WORKER_H
#define CWM_RUNNER_WORKER_H

#include "cwm/Runner/Protocol.h"

#include "mlir/IR/DialectRegistry.h"

namespace cwm {

struct WorkerOptions {
  /// Tests of the processes' robustness need candidates that kill.
  bool staticRules = true;
};

/// Serve requests until the driver closes the stream. The return value is the
/// exit code.
int runCompileWorker(int input, int output,
                     const mlir::DialectRegistry &registry,
                     const WorkerOptions &options);
int runMeasureWorker(int input, int output,
                     const mlir::DialectRegistry &registry,
                     const WorkerOptions &options);

} // namespace cwm

#endif // CWM_RUNNER_WORKER_H
