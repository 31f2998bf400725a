//===- TrajectoryWriter.cpp - Stores trajectories ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Impl.h"

#include "cwm/Database/TrajectoryStore.h"
#include "cwm/Support/Zstd.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <sqlite3.h>

using namespace llvm;

namespace cwm {

/// Level of zstd. A state is within reach of its predecessor at any level;
/// this one still compresses some 100 MB a second.
static constexpr int compressionLevel = 6;

/// What one call of add() brings.
struct TrajectoryStore::Batch {
  /// Numbers of states by hash, of those that were there and the new ones.
  StringMap<int64_t> states;
  StringMap<int64_t> actions;
  std::vector<Statement> statements;
  enum { AddTrajectory, AddStep, FindState, AddState, FindAction, AddAction };
  Statement &operator[](int which) { return statements[which]; }
};

static constexpr const char *batchStatements[] = {
    R"sql(INSERT INTO trajectory(workload, toolchain, candidate, status, reason,
            place, milliseconds) VALUES(?,?,?,?,?,?,?)
          ON CONFLICT DO NOTHING)sql",
    "INSERT INTO step(trajectory, place, action, state) VALUES(?,?,?,?)",
    "SELECT id FROM state WHERE hash=?",
    "INSERT INTO state(hash, chunk, start, size) VALUES(?,?,?,?)",
    "SELECT id FROM action WHERE text=?",
    "INSERT INTO action(text) VALUES(?)"};

/// Runs a statement that returns nothing.
static Error runStatement(Statement &statement) {
  Expected<bool> row = statement.step();
  statement.reset();
  return row.takeError();
}

/// The number that a SELECT with one bound text finds; 0 when there is none.
static Expected<int64_t> findId(Statement &statement, StringRef text) {
  statement.reset();
  statement.bind(0, text);
  Expected<bool> row = statement.step();
  if (!row)
    return row.takeError();
  int64_t id = *row ? statement.getInteger(0) : 0;
  statement.reset();
  return id;
}

Error TrajectoryStore::addWorkload(const WorkloadInfo &workload) {
  Expected<Statement> statement = Statement::prepare(
      database.impl->connection,
      "INSERT INTO workload(hash, file, function, family, shape, flops, bytes) "
      "VALUES(?,?,?,?,?,?,?) ON CONFLICT DO NOTHING");
  if (!statement)
    return statement.takeError();
  statement->bind(0, StringRef(workload.hash));
  statement->bind(1, StringRef(json::fixUTF8(workload.file)));
  statement->bind(2, StringRef(json::fixUTF8(workload.function)));
  statement->bind(3, StringRef(workload.family));
  statement->bind(4, StringRef(workload.shape));
  statement->bind(5, workload.flops);
  statement->bind(6, workload.bytes);
  return runStatement(*statement);
}

Error TrajectoryStore::addSteps(int64_t trajectory, const History &history,
                                Batch &batch) {
  sqlite3 *connection = database.impl->connection.get();
  auto addStep = [&](size_t place, int64_t action,
                     std::optional<unsigned> state) {
    Statement &statement = batch[Batch::AddStep];
    statement.bind(0, trajectory);
    statement.bind(1, static_cast<int64_t>(place));
    statement.bind(2, action);
    statement.bind(3, state ? batch.states.lookup(history.states[*state].hash)
                            : int64_t(0));
    return runStatement(statement);
  };
  if (history.states.empty() && history.entries.empty())
    return Error::success();
  if (Error error = addStep(
          0, 0, history.states.empty() ? std::nullopt : std::optional(0U)))
    return error;
  for (const auto &[index, entry] : enumerate(history.entries)) {
    int64_t &action = batch.actions[entry.action];
    if (action == 0) {
      Expected<int64_t> found = findId(batch[Batch::FindAction], entry.action);
      if (!found)
        return found.takeError();
      action = *found;
    }
    if (action == 0) {
      batch[Batch::AddAction].bind(0, StringRef(entry.action));
      if (Error error = runStatement(batch[Batch::AddAction]))
        return error;
      action = sqlite3_last_insert_rowid(connection);
    }
    if (Error error = addStep(index + 1, action, entry.state))
      return error;
  }
  return Error::success();
}

/// Compresses the texts of new states into one chunk.
static Expected<int64_t> addChunk(Connection &connection, StringRef text) {
  Expected<Statement> statement = Statement::prepare(
      connection, "INSERT INTO chunk(size, data) VALUES(?,?)");
  if (!statement)
    return statement.takeError();
  statement->bind(0, static_cast<int64_t>(text.size()));
  statement->bindBytes(1, compressZstd(text, compressionLevel));
  if (Error error = runStatement(*statement))
    return error;
  return sqlite3_last_insert_rowid(connection.get());
}

Error TrajectoryStore::addAll(ArrayRef<StoredTrajectory> trajectories) {
  Connection &connection = database.impl->connection;
  Batch batch;
  for (const char *sql : batchStatements) {
    Expected<Statement> statement = Statement::prepare(connection, sql);
    if (!statement)
      return statement.takeError();
    batch.statements.push_back(std::move(*statement));
  }

  // Which trajectories and states are new.
  std::vector<std::pair<int64_t, const History *>> added;
  std::vector<std::pair<const History::State *, size_t>> newStates;
  std::string text;
  for (const StoredTrajectory &one : trajectories) {
    Statement &statement = batch[Batch::AddTrajectory];
    statement.bind(0, StringRef(one.workload));
    statement.bind(1, one.toolchain.empty() ? StringRef(getToolchainVersion())
                                            : StringRef(one.toolchain));
    statement.bind(2, StringRef(one.candidate));
    statement.bind(3, stringifyTrialStatus(one.status));
    statement.bind(4, StringRef(json::fixUTF8(one.reason)));
    statement.bind(5, one.place);
    statement.bind(6, one.milliseconds);
    if (Error error = runStatement(statement))
      return error;
    if (sqlite3_changes(connection.get()) == 0)
      continue;
    added.emplace_back(sqlite3_last_insert_rowid(connection.get()),
                       &one.history);
    for (const History::State &state : one.history.states) {
      auto [it, isNew] = batch.states.try_emplace(state.hash, 0);
      if (!isNew)
        continue;
      Expected<int64_t> id = findId(batch[Batch::FindState], state.hash);
      if (!id)
        return id.takeError();
      it->second = *id;
      if (*id != 0)
        continue;
      newStates.emplace_back(&state, text.size());
      text += state.text;
    }
  }

  if (!newStates.empty()) {
    Expected<int64_t> chunk = addChunk(connection, text);
    if (!chunk)
      return chunk.takeError();
    for (const auto &[state, start] : newStates) {
      Statement &statement = batch[Batch::AddState];
      statement.bind(0, StringRef(state->hash));
      statement.bind(1, *chunk);
      statement.bind(2, static_cast<int64_t>(start));
      statement.bind(3, static_cast<int64_t>(state->text.size()));
      if (Error error = runStatement(statement))
        return error;
      batch.states[state->hash] = sqlite3_last_insert_rowid(connection.get());
    }
  }
  for (const auto &[id, history] : added)
    if (Error error = addSteps(id, *history, batch))
      return error;
  return Error::success();
}

Error TrajectoryStore::add(ArrayRef<StoredTrajectory> trajectories) {
  Connection &connection = database.impl->connection;
  if (Error error = connection.execute("BEGIN IMMEDIATE"))
    return error;
  Error error = addAll(trajectories);
  if (!error)
    error = connection.execute("COMMIT");
  if (error)
    connection.rollback();
  return error;
}

} // namespace cwm
