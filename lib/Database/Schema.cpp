//===- Schema.cpp - Tables of a database and their versions -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schema.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cwm {

/// What each version adds to the one before: version 1 is the first entry. No
/// entry is ever changed; files of any version become the latest by the
/// entries that they lack.
static constexpr const char *versions[] = {
    // 1: trials. `result` holds everything measured as JSON; status, score and
    // time_ns repeat what one asks for with the sqlite3 shell. AUTOINCREMENT:
    // an id is never used again, because a run remembers the largest one it
    // may learn from.
    R"sql(
CREATE TABLE record(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workload TEXT NOT NULL, target TEXT NOT NULL,
  toolchain TEXT NOT NULL, candidate TEXT NOT NULL,
  status TEXT NOT NULL, score REAL NOT NULL, time_ns REAL NOT NULL,
  provenance TEXT NOT NULL, round INTEGER NOT NULL, predicted REAL NOT NULL,
  created_at TEXT NOT NULL, actions TEXT NOT NULL, features BLOB NOT NULL,
  hardware BLOB NOT NULL, result TEXT NOT NULL,
  UNIQUE(workload, target, toolchain, candidate));
CREATE TABLE value(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
)sql",
    // 2: trajectories. step 0 of a trajectory is the payload: no action (0).
    // state 0: none is kept behind that action. A state is `size` bytes at
    // `start` of its chunk, which is compressed with zstd.
    R"sql(
CREATE TABLE workload(
  hash TEXT PRIMARY KEY, file TEXT NOT NULL, function TEXT NOT NULL,
  family TEXT NOT NULL, shape TEXT NOT NULL,
  flops REAL NOT NULL, bytes REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE action(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE chunk(
  id INTEGER PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE state(
  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, chunk INTEGER NOT NULL,
  start INTEGER NOT NULL, size INTEGER NOT NULL);
CREATE TABLE trajectory(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workload TEXT NOT NULL, toolchain TEXT NOT NULL, candidate TEXT NOT NULL,
  status TEXT NOT NULL, reason TEXT NOT NULL, place INTEGER NOT NULL,
  milliseconds REAL NOT NULL,
  UNIQUE(workload, toolchain, candidate));
CREATE TABLE step(
  trajectory INTEGER NOT NULL, place INTEGER NOT NULL,
  action INTEGER NOT NULL, state INTEGER NOT NULL,
  PRIMARY KEY(trajectory, place)) WITHOUT ROWID;
)sql"};

static constexpr int64_t schemaVersion = std::size(versions);

/// One transaction: a kill in the middle leaves the file as it was.
static Error upgrade(Connection &connection, int64_t version) {
  std::string statements = "BEGIN IMMEDIATE; ";
  for (int64_t next = version; next < schemaVersion; ++next)
    statements += versions[next];
  statements += formatv("PRAGMA application_id={0}; PRAGMA user_version={1}; "
                        "COMMIT",
                        applicationId, schemaVersion);
  Error error = connection.execute(statements.c_str());
  if (error)
    connection.rollback();
  return error;
}

Error prepareSchema(Connection &connection) {
  Expected<int64_t> tables =
      connection.queryInteger("SELECT count(*) FROM sqlite_schema");
  if (!tables)
    return tables.takeError();
  Expected<int64_t> owner = connection.queryInteger("PRAGMA application_id");
  if (!owner)
    return owner.takeError();
  Expected<int64_t> version = connection.queryInteger("PRAGMA user_version");
  if (!version)
    return version.takeError();
  std::string quoted = "'" + connection.getPath().str() + "'";
  if (*tables == 0 && *owner == 0 && *version == 0)
    return upgrade(connection, 0);
  if (*owner != applicationId)
    return createStringError(quoted + " is a database of another program");
  if (*version > schemaVersion) {
    return createStringError(
        quoted + " has schema version " + Twine(*version) +
        ", newer than the version " + Twine(schemaVersion) +
        " that this build reads; use a newer cwm or another work directory");
  }
  if (*version < 1)
    return createStringError(quoted + " has the unknown schema version " +
                             Twine(*version));
  return *version < schemaVersion ? upgrade(connection, *version)
                                  : Error::success();
}

} // namespace cwm
