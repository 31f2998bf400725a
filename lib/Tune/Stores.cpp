//===- Stores.cpp - Where a run of cwm-tune keeps its records - -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneRun.h"

#include "cwm/Tune/OutputFile.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace cwm;

bool TuneRun::openWorkDirectory() {
  std::string path =
      options.workDir.empty()
          ? WorkDirectory::getDefaultPath(options.payload, options.function,
                                          options.output)
          : options.workDir;
  if (llvm::Error error = checkDistinct(
          {{options.output, "the result (-o)"},
           {options.summary, "the summary (--summary)"},
           {options.exportRecords, "the exported records (--export-records)"}},
          {{options.payload, "the payload"},
           {options.schedule, "the schedule (--schedule)"},
           {options.hardware, "the hardware description (--hardware)"},
           {options.importRecords, "the imported records (--import-records)"},
           {options.replayFrom, "the replayed records (--replay-from)"},
           {options.database, "the database (--database)"}},
          path))
    return fail(std::move(error));
  if (!options.exportRecords.empty())
    if (llvm::Error error = checkExtraOutput(options.exportRecords,
                                             "--export-records", options.force))
      return fail(std::move(error));
  if (!options.summary.empty())
    if (llvm::Error error =
            checkExtraOutput(options.summary, "--summary", options.force))
      return fail(std::move(error));
  // A check of the space has no result.
  if (options.checkSpace == 0)
    if (llvm::Error error = checkOutput(
            options.output, payload->getWorkloadHash(), options.force))
      return fail(std::move(error));
  if (!options.database.empty())
    if (llvm::Error error = Database::checkFile(options.database))
      return fail(std::move(error));
  llvm::Expected<WorkDirectory> directory =
      WorkDirectory::open(path, *payload, options.payload);
  if (!directory)
    return fail(directory.takeError());
  workDirectory = std::move(*directory);
  return true;
}

bool TuneRun::openDatabase() {
  StringRef workload = payload->getWorkloadHash();
  std::string file = options.database.empty()
                         ? workDirectory->getFile("records.db")
                         : options.database;
  llvm::Expected<std::unique_ptr<Database>> opened = Database::open(file);
  if (!opened)
    return fail(opened.takeError());
  database = std::move(*opened);
  if (!options.importRecords.empty()) {
    llvm::Expected<int64_t> added =
        database->importJSONL(options.importRecords);
    if (!added)
      return fail(added.takeError());
    remark(llvm::formatv("imported {0} records from '{1}'", *added,
                         options.importRecords));
  }

  std::string target = getTarget();
  llvm::Expected<std::vector<Record>> known =
      database->getRecords(workload, target);
  if (!known)
    return fail(known.takeError());
  if (!options.resume && !known->empty())
    return fail("'" + file + "' holds " + Twine(known->size()) +
                " records of this payload and --resume=false: give another "
                "--work-dir or --database");
  llvm::Expected<int64_t> foreign = database->countForeign(workload, target);
  if (!foreign)
    return fail(foreign.takeError());
  if (*foreign > 0) {
    llvm::WithColor::note(llvm::errs(), "cwm-tune")
        << *foreign << " records of '" << file
        << "' were made by another toolchain or on another target and are not "
           "used\n";
  }
  return true;
}
