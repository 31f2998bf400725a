//===- CandidateStore.cpp - Candidates and what is derived ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Search/CandidateStore.h"

#include "cwm/Trajectory/StateText.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cwm {

/// About 10 KB each.
static constexpr size_t maxInfos = 20000;

std::optional<Candidate> CandidateStore::parse(llvm::StringRef key) const {
  for (const auto &[index, space] : llvm::enumerate(spaces))
    if (std::optional<Assignment> assignment = space->parseKey(key))
      return make(index, std::move(*assignment));
  return std::nullopt;
}

llvm::Expected<std::string>
CandidateStore::getScript(const Candidate &candidate) const {
  llvm::Expected<OwningOpRef<ModuleOp>> script =
      spaces[candidate.space]->tryBind(candidate.assignment);
  if (!script)
    return script.takeError();
  return printScript(**script);
}

const CandidateInfo &CandidateStore::getInfo(const Candidate &candidate) {
  std::unique_ptr<CandidateInfo> &info = infos[candidate.key];
  if (info)
    return *info;
  info = std::make_unique<CandidateInfo>();
  llvm::Expected<std::optional<std::vector<uint32_t>>> numbers =
      actions.derive(candidate.space, candidate.assignment);
  // A script whose actions are unknown can still run, it is only scored by
  // less: its features are those of no actions.
  if (!numbers)
    info->failure = llvm::toString(numbers.takeError());
  else if (*numbers)
    for (uint32_t number : **numbers)
      info->actions.push_back(&actions.get(number));
  info->features = features.compute(info->actions);
  return *info;
}

void CandidateStore::forget() {
  if (infos.size() > maxInfos)
    infos.clear();
}

std::string printScript(ModuleOp boundScript) {
  std::string text;
  llvm::raw_string_ostream out(text);
  boundScript.print(out);
  out << '\n';
  return text;
}

std::string getCandidateId(llvm::StringRef key, llvm::StringRef boundScript) {
  return (key + "#" + llvm::StringRef(hashText(boundScript)).take_front(16))
      .str();
}

} // namespace cwm
