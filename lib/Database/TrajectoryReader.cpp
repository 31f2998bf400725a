//===- TrajectoryReader.cpp - Reads stored trajectories ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Impl.h"

#include "cwm/Database/TrajectoryStore.h"
#include "cwm/Support/Zstd.h"

using namespace llvm;

namespace cwm {

/// Calls `visit` for each row of `statement`.
static Error forEachRow(Statement &statement,
                        function_ref<Error(const Statement &)> visit) {
  while (true) {
    Expected<bool> row = statement.step();
    if (!row)
      return row.takeError();
    if (!*row)
      return Error::success();
    if (Error error = visit(statement))
      return error;
  }
}

static Error makeDamageError(const Connection &connection, const Twine &what) {
  return createStringError("'" + connection.getPath() +
                           "' is corrupt: " + what +
                           "; move it away, or export what is readable with "
                           "sqlite3's .recover");
}

/// A state within the text of its chunk; nullopt when it lies outside.
static std::optional<StringRef> getSlice(StringRef text, int64_t start,
                                         int64_t size) {
  int64_t length = static_cast<int64_t>(text.size());
  if (start < 0 || size < 0 || start > length || size > length - start)
    return std::nullopt;
  return text.substr(start, size);
}

Expected<std::vector<WorkloadInfo>> TrajectoryStore::getWorkloads() {
  Expected<Statement> statement = Statement::prepare(
      database.impl->connection,
      "SELECT hash, file, function, family, shape, flops, bytes FROM workload "
      "ORDER BY hash");
  if (!statement)
    return statement.takeError();
  std::vector<WorkloadInfo> workloads;
  if (Error error = forEachRow(*statement, [&](const Statement &row) {
        WorkloadInfo &info = workloads.emplace_back();
        info.hash = row.getText(0);
        info.file = row.getText(1);
        info.function = row.getText(2);
        info.family = row.getText(3);
        info.shape = row.getText(4);
        info.flops = row.getDouble(5);
        info.bytes = row.getDouble(6);
        return Error::success();
      }))
    return std::move(error);
  return workloads;
}

Expected<StringSet<>> TrajectoryStore::getCandidates(StringRef workload) {
  Expected<Statement> statement = Statement::prepare(
      database.impl->connection,
      "SELECT candidate FROM trajectory WHERE workload=? AND toolchain=?");
  if (!statement)
    return statement.takeError();
  statement->bind(0, workload);
  statement->bind(1, StringRef(getToolchainVersion()));
  StringSet<> candidates;
  if (Error error = forEachRow(*statement, [&](const Statement &row) {
        candidates.insert(row.getText(0));
        return Error::success();
      }))
    return std::move(error);
  return candidates;
}

Error TrajectoryStore::visitTrajectories(
    StringRef workload, function_ref<Error(TrajectoryRow)> visit) {
  Connection &connection = database.impl->connection;
  Expected<Statement> statement = Statement::prepare(
      connection,
      "SELECT id, workload, candidate, toolchain, status, reason, t.place, "
      "milliseconds, s.place, action, state FROM trajectory t LEFT JOIN step s "
      "ON s.trajectory = t.id WHERE ?='' OR workload=? ORDER BY id, s.place");
  if (!statement)
    return statement.takeError();
  statement->bind(0, workload);
  statement->bind(1, workload);
  std::optional<TrajectoryRow> current;
  if (Error error = forEachRow(*statement, [&](const Statement &row) -> Error {
        int64_t id = row.getInteger(0);
        if (!current || current->id != id) {
          if (current)
            if (Error error = visit(std::move(*current)))
              return error;
          current.emplace();
          current->id = id;
          current->workload = row.getText(1);
          current->candidate = row.getText(2);
          current->toolchain = row.getText(3);
          std::optional<TrialStatus> status =
              symbolizeTrialStatus(row.getText(4));
          if (!status)
            return makeDamageError(connection, "trajectory " + Twine(id) +
                                                   " has the unknown status '" +
                                                   row.getText(4) + "'");
          current->status = *status;
          current->reason = row.getText(5);
          current->place = row.getInteger(6);
          current->milliseconds = row.getDouble(7);
        }
        // Those that failed have no steps.
        if (row.isNull(8))
          return Error::success();
        int64_t place = row.getInteger(8), action = row.getInteger(9),
                state = row.getInteger(10);
        if (place != static_cast<int64_t>(current->entries.size()))
          return makeDamageError(
              connection, "step " + Twine(current->entries.size()) +
                              " of trajectory " + Twine(id) + " is missing");
        current->entries.push_back({action, state});
        return Error::success();
      }))
    return error;
  return current ? visit(std::move(*current)) : Error::success();
}

Expected<std::vector<std::string>> TrajectoryStore::getActions() {
  Connection &connection = database.impl->connection;
  Expected<Statement> statement =
      Statement::prepare(connection, "SELECT id, text FROM action ORDER BY id");
  if (!statement)
    return statement.takeError();
  std::vector<std::string> actions(1);
  if (Error error = forEachRow(*statement, [&](const Statement &row) -> Error {
        if (row.getInteger(0) != static_cast<int64_t>(actions.size()))
          return makeDamageError(connection, "action " + Twine(actions.size()) +
                                                 " is missing");
        actions.push_back(row.getText(1));
        return Error::success();
      }))
    return std::move(error);
  return actions;
}

Expected<std::vector<TrajectoryStore::StateInfo>> TrajectoryStore::getStates() {
  Expected<Statement> statement =
      Statement::prepare(database.impl->connection,
                         "SELECT id, hash, size FROM state ORDER BY id");
  if (!statement)
    return statement.takeError();
  std::vector<StateInfo> states;
  if (Error error = forEachRow(*statement, [&](const Statement &row) {
        states.push_back(
            {row.getInteger(0), row.getText(1), row.getInteger(2)});
        return Error::success();
      }))
    return std::move(error);
  return states;
}

Expected<std::string> TrajectoryStore::readChunk(int64_t chunk) {
  Connection &connection = database.impl->connection;
  Expected<Statement> statement =
      Statement::prepare(connection, "SELECT size, data FROM chunk WHERE id=?");
  if (!statement)
    return statement.takeError();
  statement->bind(0, chunk);
  Expected<bool> row = statement->step();
  if (!row)
    return row.takeError();
  if (!*row)
    return makeDamageError(connection, "chunk " + Twine(chunk) + " is missing");
  int64_t size = statement->getInteger(0);
  Expected<std::string> text = decompressZstd(statement->getBytes(1));
  if (!text)
    return makeDamageError(connection, "chunk " + Twine(chunk) + ": " +
                                           toString(text.takeError()));
  if (static_cast<int64_t>(text->size()) != size)
    return makeDamageError(connection,
                           "chunk " + Twine(chunk) + " has another size");
  return text;
}

Error TrajectoryStore::visitStateTexts(
    function_ref<Error(int64_t, StringRef)> visit) {
  Connection &connection = database.impl->connection;
  Expected<Statement> statement = Statement::prepare(
      connection, "SELECT id, chunk, start, size FROM state ORDER BY chunk, "
                  "start");
  if (!statement)
    return statement.takeError();
  int64_t current = 0;
  std::string text;
  return forEachRow(*statement, [&](const Statement &row) -> Error {
    int64_t chunk = row.getInteger(1), start = row.getInteger(2),
            size = row.getInteger(3);
    if (chunk != current) {
      Expected<std::string> read = readChunk(chunk);
      if (!read)
        return read.takeError();
      text = std::move(*read);
      current = chunk;
    }
    std::optional<StringRef> slice = getSlice(text, start, size);
    if (!slice)
      return makeDamageError(connection, "state " + Twine(row.getInteger(0)) +
                                             " lies outside of its chunk");
    return visit(row.getInteger(0), *slice);
  });
}

Expected<std::string> TrajectoryStore::getStateText(int64_t id) {
  Connection &connection = database.impl->connection;
  Expected<Statement> statement = Statement::prepare(
      connection, "SELECT chunk, start, size FROM state WHERE id=?");
  if (!statement)
    return statement.takeError();
  statement->bind(0, id);
  Expected<bool> row = statement->step();
  if (!row)
    return row.takeError();
  if (!*row)
    return createStringError("'" + connection.getPath() + "' has no state " +
                             Twine(id));
  Expected<std::string> text = readChunk(statement->getInteger(0));
  if (!text)
    return text.takeError();
  std::optional<StringRef> slice =
      getSlice(*text, statement->getInteger(1), statement->getInteger(2));
  if (!slice)
    return makeDamageError(connection,
                           "state " + Twine(id) + " lies outside of its chunk");
  return slice->str();
}

Expected<TrajectoryStore::Counts> TrajectoryStore::getCounts() {
  Counts counts;
  const std::pair<int64_t *, const char *> queries[] = {
      {&counts.workloads, "SELECT count(*) FROM workload"},
      {&counts.trajectories, "SELECT count(*) FROM trajectory"},
      {&counts.states, "SELECT count(*) FROM state"},
      {&counts.actions, "SELECT count(*) FROM action"},
      {&counts.textBytes, "SELECT coalesce(sum(size), 0) FROM state"},
      {&counts.storedBytes,
       "SELECT coalesce(sum(length(data)), 0) FROM chunk"}};
  for (const auto &[into, sql] : queries) {
    Expected<int64_t> value = database.impl->connection.queryInteger(sql);
    if (!value)
      return value.takeError();
    *into = *value;
  }
  return counts;
}

} // namespace cwm
