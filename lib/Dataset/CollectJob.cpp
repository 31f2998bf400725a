//===- CollectJob.cpp - One payload being collected -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectJob.h"

#include "cwm/Dataset/Family.h"
#include "cwm/InitAll.h"
#include "cwm/Sketches/Sketches.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <glob.h>
#include <set>

using namespace mlir;

namespace cwm {

namespace {
/// Keeps the first error with its place.
class ProblemCapture {
public:
  ProblemCapture(MLIRContext *context, std::string &problem, StringRef file)
      : handler(context, [&problem, file](Diagnostic &diagnostic) {
          if (!problem.empty() ||
              diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return success();
          auto place =
              diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
          problem = place && place.getLine() > 0
                        ? llvm::formatv("{0}:{1}:{2}: {3}",
                                        place.getFilename().getValue(),
                                        place.getLine(), place.getColumn(),
                                        diagnostic.str())
                              .str()
                        : (file + ": " + diagnostic.str()).str();
          return success();
        }) {}

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

LoadedPayload::LoadedPayload(StringRef file)
    : context(getAllDialects(), MLIRContext::Threading::DISABLED) {
  context.printOpOnDiagnostic(false);
  ProblemCapture capture(&context, problem, file);
  FailureOr<Payload> read = loadPayload(file, /*functionName=*/"", &context);
  if (succeeded(read))
    payload = std::move(*read);
  else if (problem.empty())
    problem = (file + ": cannot be read").str();
}

bool LoadedPayload::findSpaces(const HardwareDescription &hardware,
                               StringRef target, int64_t threads) {
  ProblemCapture capture(&context, problem, getSchedulesDir(target));
  FailureOr<std::vector<std::unique_ptr<Space>>> found =
      buildSpaces(*payload, hardware, getSchedulesDir(target),
                  /*why=*/nullptr, threads);
  if (failed(found)) {
    if (problem.empty())
      problem = "no schedule can be read";
    return false;
  }
  spaces = std::move(*found);
  return true;
}

llvm::Expected<MeasureRequest> Collector::Job::bind(size_t place) const {
  const Candidate &candidate = candidates[place];
  llvm::Expected<std::string> script = store->getScript(candidate);
  if (!script)
    return script.takeError();
  std::string id = getCandidateId(candidate.key, *script);
  return MeasureRequest{std::move(id), std::move(*script)};
}

llvm::Expected<std::vector<std::string>>
findPayloadFiles(ArrayRef<std::string> arguments) {
  std::vector<std::string> files;
  for (const std::string &argument : arguments) {
    std::vector<std::string> found;
    std::string pattern = argument;
    if (llvm::sys::fs::is_directory(argument))
      pattern = (argument + (StringRef(argument).ends_with("/") ? "" : "/") +
                 "*.mlir");
    else if (llvm::sys::fs::exists(argument))
      found.push_back(argument);
    if (found.empty()) {
      glob_t matches = {};
      // Sorted by glob itself.
      if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0)
        found.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
      ::globfree(&matches);
    }
    if (found.empty())
      return llvm::createStringError(
          std::make_error_code(std::errc::no_such_file_or_directory),
          "no payload: '" + argument + "' is no file" +
              (pattern == argument ? " and matches none"
                                   : ", but a folder without *.mlir"));
    llvm::append_range(files, found);
  }
  std::set<std::string> seen;
  llvm::erase_if(files, [&](const std::string &file) {
    return !seen.insert(file).second;
  });
  return files;
}

llvm::json::Value describePayload(StringRef file, const WorkloadTable &table,
                                  const HardwareDescription &hardware,
                                  StringRef target, int64_t threads) {
  LoadedPayload loaded(file);
  llvm::json::Object object{{"file", llvm::json::fixUTF8(file)}};
  if (!loaded.payload || !loaded.findSpaces(hardware, target, threads)) {
    object["refused"] = llvm::json::fixUTF8(loaded.problem);
    return object;
  }
  WorkloadInfo info = makeWorkloadInfo(*loaded.payload, file);
  object["hash"] = info.hash;
  object["function"] = llvm::json::fixUTF8(info.function);
  object["family"] = info.family;
  object["shape"] = info.shape;
  object["flops"] = info.flops;
  object["bytes"] = info.bytes;
  object["state_bytes"] = loaded.payload->getStateText().size();
  llvm::json::Object networks;
  if (const KnownWorkload *known = table.find(info.hash))
    for (const auto &[name, weight] : known->networks)
      networks[name] = weight;
  object["networks"] = std::move(networks);
  object["held_out"] =
      llvm::cantFail(Split::create(table, SplitOptions())).isHeldOut(info);
  llvm::json::Array spaces;
  for (const std::unique_ptr<Space> &space : loaded.spaces)
    spaces.push_back(
        llvm::json::Object{{"name", space->getName().str()},
                           {"candidates", space->countUnconstrained()}});
  object["spaces"] = std::move(spaces);
  return object;
}

} // namespace cwm
