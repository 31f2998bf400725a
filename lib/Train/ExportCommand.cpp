//===- ExportCommand.cpp - Command line of cwm-train export -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Stage.h"

#include "cwm/Model/WorldModel.h"
#include "cwm/Support/CommandLine.h"
#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;
using namespace cwm;

namespace {
class Export {
public:
  Export(std::string from, std::string to, std::string report)
      : from(std::move(from)), to(std::move(to)), report(std::move(report)) {}
  Error run();

private:
  Error checkOutput() const;
  Error checkInput() const;
  Error readReport();
  Error copyFiles();
  Expected<std::vector<float>> scoreSample(const ModelDirectory &model) const;
  std::string makeCard() const;

  std::string from, to, report;
  std::optional<ModelDirectory> model;
  std::optional<json::Value> evaluation;
  std::vector<StringRef> names;
};
} // namespace

Error Export::checkOutput() const {
  std::error_code code;
  if (!sys::fs::exists(to) ||
      (sys::fs::is_directory(to) &&
       sys::fs::directory_iterator(to, code) == sys::fs::directory_iterator()))
    return Error::success();
  return createStringError("'" + to +
                           "' is there and not an empty folder: nothing is "
                           "overwritten");
}

Error Export::checkInput() const {
  // Each says which stage makes the file that is missing.
  for (StringRef name : names)
    if (Expected<std::string> file = model->getFile(name); !file)
      return file.takeError();
  return Error::success();
}

Error Export::readReport() {
  if (report.empty())
    return Error::success();
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(report);
  if (!buffer)
    return buffer.takeError();
  Expected<json::Value> value = parseJSON((*buffer)->getBuffer());
  if (!value)
    return createStringError("cannot read '" + report +
                             "': " + toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object || object->getString("kind") != "cwm-evaluation")
    return createStringError("'" + report +
                             "' is not a report of cwm-train eval");
  evaluation.emplace(std::move(*value));
  return Error::success();
}

Error Export::copyFiles() {
  if (Error error = makeFolder(to))
    return error;
  for (StringRef name : names) {
    Expected<std::unique_ptr<MemoryBuffer>> contents =
        readOwnFile(joinPath(from, name), SafeTensors::maxFileBytes);
    if (!contents)
      return contents.takeError();
    if (Error error = writeFile(joinPath(to, name), (*contents)->getBuffer()))
      return error;
  }
  if (Error error = ModelDirectory::write(to, model->getConfig()))
    return error;
  return writeFile(joinPath(to, "CARD.md"), makeCard());
}

/// Two candidates of a small payload.
Expected<std::vector<float>>
Export::scoreSample(const ModelDirectory &directory) const {
  const ModelConfig &config = directory.getConfig();
  Expected<std::unique_ptr<WorldModel>> world = WorldModel::load(
      directory, config.target,
      std::vector<float>(static_cast<size_t>(config.ranker->hardware), 1));
  if (!world)
    return world.takeError();
  if (Error error = (*world)->setPayload(
          "builtin.module {\n%2 = linalg.matmul %0, %1 : tensor<64x64xf32>\n}"))
    return std::move(error);
  const Action tiling =
      makeAction("structured.tile_using_for sizes=[8, 16, 0] on linalg.matmul");
  const Action *tiled[] = {&tiling};
  return (*world)->score({ScoringItem{tiled, {}}, ScoringItem{{}, {}}});
}

//===----------------------------------------------------------------------===//
// The card
//===----------------------------------------------------------------------===//

/// The mean over seeds of a list of numbers.
static std::string formatMean(const json::Object &method, StringRef key) {
  const json::Array *values = method.getArray(key);
  if (!values || values->empty())
    return "-";
  double sum = 0;
  for (const json::Value &value : *values) {
    std::optional<double> number = value.getAsNumber();
    if (!number)
      return "-";
    sum += *number;
  }
  return formatv("{0:f3}", sum / static_cast<double>(values->size())).str();
}

static void printEvaluationTable(const json::Object &report, raw_ostream &os) {
  os << "\n## Evaluation\n\n";
  if (const json::Object *head = report.getObject("head"))
    for (const auto &[key, value] : *head)
      if (!StringRef(key).empty())
        os << "- " << StringRef(key) << ": " << value.getAsString().value_or("")
           << "\n";
  const json::Array *groups = report.getArray("groups");
  if (!groups)
    return;
  for (const json::Value &value : *groups) {
    const json::Object *group = value.getAsObject();
    const json::Object *methods = group ? group->getObject("methods") : nullptr;
    if (!methods || methods->empty())
      continue;
    os << "\n"
       << group->getString("name").value_or("") << ", "
       << group->getArray("pools")->size()
       << " pools:\n\n| method | score@1 | score@5 | mean @1 | mean @5 | pair "
          "accuracy | NDCG@10 |\n|---|--:|--:|--:|--:|--:|--:|\n";
    for (const auto &[name, entry] : *methods) {
      const json::Object *method = entry.getAsObject();
      if (!method || formatMean(*method, "score@1") == "-")
        continue;
      os << "| " << StringRef(name);
      for (StringRef key : {"score@1", "score@5", "score@1_mean",
                            "score@5_mean", "pair_accuracy", "ndcg@10"})
        os << " | " << formatMean(*method, key);
      os << " |\n";
    }
  }
  os << "\nMeans over seeds; what the columns mean: docs/Training.md.\n";
}

std::string Export::makeCard() const {
  const ModelConfig &config = model->getConfig();
  std::string text;
  raw_string_ostream os(text);
  os << "# World model for " << config.target << "\n\n"
     << "Scores schedules of linalg payloads; see docs/Model.md. Made by "
        "`cwm-train export`.\n\n"
     << "- toolchain of the training data: " << config.toolchain << "\n"
     << "- the ranker sees: "
     << (config.ranker->state == RankerState::None
             ? std::string("no state")
             : "state `" + stringifyRankerState(config.ranker->state).str() +
                   "` of " + std::to_string(config.dim) + " numbers")
     << (config.ranker->actions ? ", features of the actions" : "")
     << ", hardware; objective `" << config.ranker->objective << "`\n";
  if (config.encoder.vocabSize != 0 &&
      config.ranker->state != RankerState::None)
    os << formatv("- encoder: {0} layers of {1}, {2} tokens, windows of {3}\n",
                  config.encoder.numLayers, config.encoder.hiddenSize,
                  config.encoder.vocabSize, config.encoder.windowTokens);
  os << "\n## Training\n";
  for (const auto &[stage, value] : config.training) {
    os << "\n" << StringRef(stage) << ":\n\n";
    const json::Object *object = value.getAsObject();
    if (!object)
      continue;
    for (const auto &[key, entry] : *object)
      os << formatv("- {0}: {1}\n", StringRef(key), entry);
  }
  os << "\nNo stage saw a workload of a network that is held out "
        "(docs/Dataset.md, Splits).\n";
  if (evaluation)
    printEvaluationTable(*evaluation->getAsObject(), os);
  os << "\n## Limits\n\n"
        "- Trained on measurements of one machine: nothing is claimed of "
        "others.\n"
        "- Scores order the candidates of one payload; they are no times, and "
        "do not compare between payloads.\n"
        "- What cwm did not measure (element types, operators, sketches of "
        "your own) it orders by what is alike.\n";
  return text;
}

Error Export::run() {
  if (Error error = checkOutput())
    return error;
  Expected<ModelDirectory> loaded = ModelDirectory::load(from);
  if (!loaded)
    return loaded.takeError();
  model.emplace(std::move(*loaded));
  names = {ModelDirectory::rankerFile};
  if (Error error = checkInput())
    return error;
  const RankerState state = model->getConfig().ranker->state;
  if (state != RankerState::None)
    names.insert(names.begin(),
                 {ModelDirectory::tokenizerFile, ModelDirectory::encoderFile});
  if (state == RankerState::RollOut)
    names.push_back(ModelDirectory::transitionFile);
  if (Error error = checkInput())
    return error;
  if (Error error = readReport())
    return error;
  // Before anything is written: a model that cannot score is not shipped.
  Expected<std::vector<float>> expected = scoreSample(*model);
  if (!expected)
    return expected.takeError();
  if (!all_of(*expected, [](float score) { return std::isfinite(score); }))
    return createStringError("model '" + from +
                             "' gives scores that are no numbers");
  if (Error error = copyFiles())
    return error;
  Expected<ModelDirectory> copy = ModelDirectory::load(to);
  if (!copy)
    return copy.takeError();
  Expected<std::vector<float>> scores = scoreSample(*copy);
  if (!scores)
    return scores.takeError();
  if (*scores != *expected)
    return createStringError("'" + to + "' does not score as '" + from +
                             "' does: do not use it");
  return Error::success();
}

TrainExit cwm::runExportCommand(int argc, char **argv) {
  cl::OptionCategory input("Input"), output("Output");
  cl::opt<std::string> model(cl::Positional, cl::Required, cl::cat(input),
                             cl::desc("<model directory>"));
  cl::opt<std::string> report(
      "report", cl::value_desc("file"), cl::cat(input),
      cl::desc("JSON of cwm-train eval, whose figures go into the card"));
  cl::opt<std::string> out("o", cl::value_desc("folder"), cl::Required,
                           cl::cat(output),
                           cl::desc("Folder to make; nothing is overwritten"));
  cl::ParseCommandLineOptions(
      argc, argv,
      "copies what a model needs to score, with a card, and checks the "
      "copy\n");
  if (Error error = checkEmptyFlag(findEmptyFlag({&model, &report, &out})))
    return reportTrainError(std::move(error));
  if (Error error = Export(model, out, report).run())
    return reportTrainError(std::move(error));
  errs() << "cwm-train: wrote '" << out << "'\n";
  return TrainExit::Done;
}
