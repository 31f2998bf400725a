//===- MetricsLog.h - Metrics of training, a JSON line each --- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_METRICSLOG_H
#define CWM_TRAIN_METRICSLOG_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>

namespace cwm {

/// A file of JSON lines, each an object with the key `step`.
class MetricsLog {
public:
  /// Opens `path` for a run that goes on behind `step` (0: from the start):
  /// lines of later steps, and one that was cut off, are removed. An empty
  /// path makes a log that goes nowhere.
  static llvm::Expected<MetricsLog> open(llvm::StringRef path, int64_t step);

  /// Appends a line and hands it to the system.
  llvm::Error add(llvm::json::Object line);

private:
  std::string path;
  std::unique_ptr<llvm::raw_fd_ostream> os;
};

} // namespace cwm

#endif // CWM_TRAIN_METRICSLOG_H
