//===- RunnerMain.h - What the cwm-runner tool does -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_RUNNERMAIN_H
#define CWM_RUNNER_RUNNERMAIN_H

#include "mlir/IR/DialectRegistry.h"

namespace cwm {

/// The main function of cwm-runner. As a worker (`--role=compile`,
/// `--role=measure`) it serves requests on standard input until that ends;
/// otherwise it repeats one trial (`--payload= --script=`) in this process,
/// prints its result as JSON and exits with 0 when the status is ok.
int runnerMain(int argc, char **argv, const mlir::DialectRegistry &registry);

} // namespace cwm

#endif // CWM_RUNNER_RUNNERMAIN_H
