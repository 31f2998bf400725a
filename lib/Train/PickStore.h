//===- PickStore.h - Picks of simulated searches, kept ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_PICKSTORE_H
#define CWM_LIB_TRAIN_PICKSTORE_H

#include "cwm/Train/RankingTask.h"

#include "llvm/ADT/StringMap.h"

namespace cwm {

/// Picks of searches, a line of JSON each, by what they depend on.
class PickStore {
public:
  /// Reads what there is in the file `path`.
  explicit PickStore(std::string path);

  /// Null where there are none.
  const std::vector<uint32_t> *find(llvm::StringRef key) const;
  /// Appends to the file.
  llvm::Error add(llvm::StringRef key, llvm::ArrayRef<uint32_t> entry);

private:
  std::string path;
  llvm::StringMap<std::vector<uint32_t>> picks;
};

/// What the picks of a search depend on.
std::string getSearchKey(const RankingTask &task, const RankingInputs &inputs,
                         int64_t trials, uint64_t seed);

} // namespace cwm

#endif // CWM_LIB_TRAIN_PICKSTORE_H
