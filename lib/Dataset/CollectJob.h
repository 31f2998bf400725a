//===- CollectJob.h - One payload being collected ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_DATASET_COLLECTJOB_H
#define CWM_LIB_DATASET_COLLECTJOB_H

#include "cwm/Dataset/Collect.h"
#include "cwm/Payload/Payload.h"
#include "cwm/Search/CandidateStore.h"

#include "mlir/IR/MLIRContext.h"

namespace cwm {

/// A payload with a context of its own, which goes with it: contexts only grow.
struct LoadedPayload {
  explicit LoadedPayload(llvm::StringRef file);

  mlir::MLIRContext context;
  std::optional<Payload> payload;
  std::vector<std::unique_ptr<Space>> spaces;
  /// Why there is no payload, or no space: "file:line:column: message".
  std::string problem;

  /// Fills `spaces`; false with `problem` set where that fails.
  bool findSpaces(const HardwareDescription &hardware, llvm::StringRef target,
                  int64_t threads);
};

/// The state of one payload in a Collector.
struct Collector::Job {
  Job(llvm::StringRef file) : file(file.str()), loaded(file) {}

  std::string file;
  LoadedPayload loaded;
  std::optional<CandidateStore> store;
  WorkloadInfo info;
  std::string targetKey;
  /// The samples in their order.
  std::vector<Candidate> candidates;

  /// Candidate `place` bound; an error says why it cannot be.
  llvm::Expected<MeasureRequest> bind(size_t place) const;
};

} // namespace cwm

#endif // CWM_LIB_DATASET_COLLECTJOB_H
