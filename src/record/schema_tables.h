// The SQL of the current schema, for schema.cc, which creates it, and schema_upgrade.cc, which
// upgrades older files to it.
//
// Rows refer to each other by row numbers of this file; `key` identifies a row by its content, in
// every store. The numbers of candidates and attempts, which are many, are derived from their
// content (record/row_number.h), which saves an index for each. Triggers protect rows that never
// change. Times are as in record/attempt.h.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tilewright::record {

inline constexpr const char* kTables = R"sql(
CREATE TABLE targets(
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  extra TEXT NOT NULL) STRICT;
CREATE TABLE tasks(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE,
  workload BLOB NOT NULL,
  text TEXT NOT NULL,
  licences TEXT NOT NULL,
  target INTEGER NOT NULL REFERENCES targets(id),
  extra TEXT NOT NULL) STRICT;
CREATE TABLE machines(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE,
  content TEXT NOT NULL) STRICT;
CREATE TABLE runs(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE,
  start_us INTEGER NOT NULL,
  command TEXT NOT NULL,
  version TEXT NOT NULL,
  extra TEXT NOT NULL) STRICT;
CREATE TABLE protocols(
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE shapes(
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE foreign_lines(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK(kind IN ('unknown', 'variant', 'waiting')),
  line TEXT NOT NULL) STRICT;
)sql";

// The runs of each search. `trials` and `seconds` are the budget that a run completed; 0 and 0 if
// it was interrupted. `run` is runs.key, not a row number: its line may be imported first.
inline constexpr const char* kTrajectories = R"sql(
CREATE TABLE trajectories(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL,
  run BLOB NOT NULL,
  trials INTEGER NOT NULL,
  seconds REAL NOT NULL,
  extra TEXT NOT NULL,
  UNIQUE(key, run)) STRICT;
)sql";

// The trace of a candidate is shapes.text with its numbers inserted (record/codec.h).
inline constexpr const char* kCandidatesAndAttempts = R"sql(
CREATE TABLE candidates(
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES tasks(id),
  program BLOB NOT NULL,
  shape INTEGER NOT NULL REFERENCES shapes(id),
  numbers BLOB NOT NULL) STRICT;
CREATE TABLE attempts(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL,
  task INTEGER NOT NULL REFERENCES tasks(id),
  candidate INTEGER NOT NULL REFERENCES candidates(id),
  machine INTEGER NOT NULL REFERENCES machines(id),
  protocol INTEGER NOT NULL REFERENCES protocols(id),
  code_generator INTEGER NOT NULL,
  run INTEGER NOT NULL REFERENCES runs(id),
  sequence INTEGER NOT NULL,
  start_us INTEGER NOT NULL,
  end_us INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  latency_ns REAL NOT NULL,
  samples BLOB NOT NULL,
  text TEXT NOT NULL,
  build_ns REAL NOT NULL,
  check_ns REAL NOT NULL,
  time_ns REAL NOT NULL,
  disturbed INTEGER NOT NULL,
  clock REAL NOT NULL,
  load REAL NOT NULL,
  extra TEXT NOT NULL) STRICT;
)sql";

inline constexpr const char* kIndexOfForeignLines =
    "CREATE INDEX foreign_lines_of_kind ON foreign_lines(kind, key);";

// Condition of the trigger: only waiting lines may be deleted, when they become rows.
inline constexpr const char* kUnlessWaiting = "WHEN OLD.kind <> 'waiting'";

// The first is for resuming and counting, the second for the fastest attempts.
inline constexpr const char* kIndexesOfAttempts = R"sql(
CREATE INDEX attempts_of_setting
  ON attempts(task, machine, protocol, code_generator, verdict);
CREATE INDEX attempts_by_latency
  ON attempts(task, machine, protocol, latency_ns) WHERE verdict = 'timed';
)sql";

inline constexpr const char* kDropIndexesOfAttempts =
    "DROP INDEX IF EXISTS attempts_of_setting; DROP INDEX IF EXISTS attempts_by_latency;";

// A trigger that rejects UPDATE or DELETE.
std::string guard(std::string_view table, std::string_view act, std::string_view when);
std::string guards(std::initializer_list<std::string_view> tables);

}  // namespace tilewright::record
