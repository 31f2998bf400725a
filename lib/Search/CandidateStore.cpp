//===- CandidateStore.cpp - Candidates and what is derived ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CandidateStore.h"

#include "cwm/Trajectory/StateText.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cwm {

/// About 10 KB each.
static constexpr size_t maxInfos = 20000;

namespace {
/// Keeps the first error instead of printing it.
class ErrorCapture {
public:
  explicit ErrorCapture(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              message.empty())
            message = diagnostic.str();
          return success();
        }) {}

  llvm::Error take(llvm::StringRef otherwise) {
    return llvm::createStringError(message.empty() ? otherwise
                                                   : llvm::StringRef(message));
  }

private:
  std::string message;
  ScopedDiagnosticHandler handler;
};
} // namespace

std::optional<Candidate> CandidateStore::parse(llvm::StringRef key) const {
  for (const auto &[index, space] : llvm::enumerate(spaces))
    if (std::optional<Assignment> assignment = space->parseKey(key))
      return make(index, std::move(*assignment));
  return std::nullopt;
}

llvm::Expected<OwningOpRef<ModuleOp>>
CandidateStore::bind(const Candidate &candidate) const {
  const Space &space = *spaces[candidate.space];
  ErrorCapture errors(space.getContext());
  FailureOr<OwningOpRef<ModuleOp>> script = space.bind(candidate.assignment);
  if (failed(script))
    return errors.take("the schedule cannot be bound");
  return std::move(*script);
}

llvm::Expected<std::string>
CandidateStore::getScript(const Candidate &candidate) const {
  llvm::Expected<OwningOpRef<ModuleOp>> script = bind(candidate);
  if (!script)
    return script.takeError();
  return printScript(**script);
}

const CandidateInfo &CandidateStore::getInfo(const Candidate &candidate) {
  std::unique_ptr<CandidateInfo> &info = infos[candidate.key];
  if (info)
    return *info;
  info = std::make_unique<CandidateInfo>();
  llvm::Expected<OwningOpRef<ModuleOp>> script = bind(candidate);
  if (!script) {
    info->failure = llvm::toString(script.takeError());
    return *info;
  }
  ErrorCapture errors((*script)->getContext());
  // Alternatives that the payload decides: the actions of all regions tell
  // candidates apart, which is what scores are for.
  FailureOr<std::vector<Action>> actions = getActions(
      **script, transform::TransformDialect::kTransformEntryPointSymbolName,
      /*allRegions=*/true);
  // A script whose actions are unknown can still run, it is only scored by
  // less: its features are those of no actions.
  if (succeeded(actions))
    info->actions = std::move(*actions);
  info->features = computeFeatures(info->actions, workload);
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
