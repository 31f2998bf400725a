//===- Search.cpp - The search driver of one workload -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Search/Search.h"

#include "Run.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cwm {

char NoValidCandidate::ID = 0;

Search::Search(const ScoringContext &context, std::string targetKey,
               ArrayRef<std::unique_ptr<Space>> spaces, Measurer &measurer,
               Scorer &scorer, Database &database, const SearchOptions &options)
    : context(context), targetKey(std::move(targetKey)), spaces(spaces),
      measurer(measurer), scorer(scorer), database(database), options(options) {
}

Expected<SearchSummary>
Search::run(function_ref<void(const SearchProgress &)> onProgress) {
  auto warn = [&](StringRef message) {
    if (options.onWarning)
      options.onWarning(message);
    else
      errs() << "warning: " << message << '\n';
  };
  RunContext runContext{context,  targetKey, spaces,     measurer, scorer,
                        database, options,   onProgress, warn};
  return Run(runContext).execute();
}

} // namespace cwm
