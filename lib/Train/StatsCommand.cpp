//===- StatsCommand.cpp - cwm-train stats --------------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "StageFlags.h"

#include "cwm/Dataset/Stats.h"
#include "cwm/Model/Tokenizer.h"
#include "cwm/Support/CommandLine.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Support/Zstd.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace cwm;

namespace {
struct StatsFlags {
  std::string database, tokenizer, workloads, texts;
  SplitOptions split;
  bool json = false, heldOut = false, listWorkloads = false;
  std::string emptyFlag;
  int64_t shapesOneIn = 0;
};
} // namespace

static StatsFlags parseFlags(int argc, char **argv) {
  StatsFlags flags;
  cl::OptionCategory input("Input"), split("Split"), output("Output");
  cl::opt<std::string> database(cl::Positional, cl::Required, cl::cat(input),
                                cl::desc("<database>"));
  cl::opt<std::string> tokenizer(
      "tokenizer", cl::value_desc("file"), cl::cat(input),
      cl::desc("Count tokens with this tokenizer.json"));
  SplitFlags splitFlags(input, split);
  cl::opt<bool> json("json", cl::cat(output), cl::desc("Print JSON"));
  cl::opt<bool> list("list", cl::cat(output),
                     cl::desc("A line for each workload as well"));
  cl::opt<std::string> texts(
      "texts", cl::value_desc("file"), cl::cat(output),
      cl::desc(
          "Write the texts of states and actions that training may see, as "
          "JSON Lines for cwm-train encoder; compressed if the name ends "
          "in .zst, '-' for stdout instead of the statistics"));
  cl::opt<bool> heldOut("held-out", cl::cat(output),
                        cl::desc("--texts of what training must not see"));
  cl::ParseCommandLineOptions(argc, argv,
                              "what a database has: workloads, trajectories, "
                              "states, failures, times\n");
  flags.emptyFlag =
      findEmptyFlag({&database, &tokenizer, &splitFlags.workloads, &texts});
  flags.database = database;
  flags.tokenizer = tokenizer;
  flags.workloads = splitFlags.workloads;
  flags.texts = texts;
  flags.split = splitFlags.getOptions();
  flags.shapesOneIn = splitFlags.shapes;
  flags.json = json;
  flags.listWorkloads = list;
  flags.heldOut = heldOut;
  return flags;
}

static Error writeTexts(const StatsFlags &flags, Database &database,
                        const Split &split) {
  Expected<Dataset> dataset = Dataset::load(
      database, split,
      flags.heldOut ? DatasetPart::HeldOut : DatasetPart::Training);
  if (!dataset)
    return dataset.takeError();
  std::string text;
  raw_string_ostream os(text);
  Expected<size_t> lines = dataset->writeTexts(os, /*withActions=*/true);
  if (!lines)
    return lines.takeError();
  bool compressed = StringRef(flags.texts).ends_with(".zst");
  if (Error error =
          writeFile(flags.texts, compressed ? compressZstd(text) : text))
    return error;
  errs() << *lines << " texts in '" << flags.texts << "'\n";
  return Error::success();
}

static Error run(StatsFlags &flags) {
  if (Error error = checkEmptyFlag(flags.emptyFlag))
    return error;
  if (Error error =
          checkFlagRange("leave-out-shapes", flags.shapesOneIn, 0, 1000))
    return error;
  flags.split.shapesOneIn = static_cast<unsigned>(flags.shapesOneIn);
  Expected<WorkloadTable> table = WorkloadTable::load(flags.workloads);
  if (!table)
    return table.takeError();
  Expected<Split> split = Split::create(*table, flags.split);
  if (!split)
    return split.takeError();
  // Opening one that is not there would make it.
  if (!sys::fs::exists(flags.database))
    return createStringError(
        std::make_error_code(std::errc::no_such_file_or_directory),
        "there is no database '" + flags.database + "'");
  Expected<std::unique_ptr<Database>> database = Database::open(flags.database);
  if (!database)
    return database.takeError();
  if (flags.texts == "-")
    return writeTexts(flags, **database, *split);

  std::optional<Tokenizer> tokenizer;
  if (!flags.tokenizer.empty()) {
    Expected<Tokenizer> loaded = Tokenizer::load(flags.tokenizer);
    if (!loaded)
      return loaded.takeError();
    tokenizer.emplace(std::move(*loaded));
  }
  auto countTokens = [&](StringRef text) {
    return tokenizer->encode(text).size();
  };
  Expected<DatasetStats> stats =
      tokenizer ? gatherStats(**database, *split, countTokens)
                : gatherStats(**database, *split, nullptr);
  if (!stats)
    return stats.takeError();
  std::string text = flags.json ? formatv("{0:2}\n", toJSON(*stats)).str()
                                : formatStats(*stats, flags.listWorkloads);
  if (Error error = writeFile("-", text))
    return error;
  return flags.texts.empty() ? Error::success()
                             : writeTexts(flags, **database, *split);
}

TrainExit cwm::runStatsCommand(int argc, char **argv) {
  StatsFlags flags = parseFlags(argc, argv);
  if (Error error = run(flags))
    return reportTrainError(std::move(error));
  return TrainExit::Done;
}
