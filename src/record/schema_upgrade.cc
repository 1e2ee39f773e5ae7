#include "record/schema_upgrade.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>
#include <vector>

#include "record/codec.h"
#include "record/database.h"
#include "record/line.h"
#include "record/parse_line.h"
#include "record/row_number.h"
#include "record/schema.h"
#include "record/schema_tables.h"

namespace tilewright::record {
namespace {

// An upgrade executes the SQL of the version that it upgrades to. That SQL does not change when the
// current schema (schema_tables.h) does.

// Removes the triggers of a table and renames it.
void put_aside(Database& database, std::string_view table) {
  database.execute(
      fmt::format("DROP TRIGGER IF EXISTS {0}_no_update;"
                  "DROP TRIGGER IF EXISTS {0}_no_delete;"
                  "ALTER TABLE {0} RENAME TO old_{0};",
                  table));
}

// 1 -> 2: candidates held the text of their trace; now they hold its numbers, and its shape is
// stored once.
void upgrade_from_1(Database& database) {
  put_aside(database, "candidates");
  database.execute(R"sql(
CREATE TABLE shapes(
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE candidates(
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES tasks(id),
  program BLOB NOT NULL,
  shape INTEGER NOT NULL REFERENCES shapes(id),
  numbers BLOB NOT NULL,
  UNIQUE(task, program, shape, numbers)) STRICT;
)sql");
  CompactTrace compact;
  Statement read(database, "SELECT id, task, program, trace FROM old_candidates");
  Statement find_shape(database, "SELECT id FROM shapes WHERE text = ?");
  Statement add_shape(database, "INSERT OR IGNORE INTO shapes(text) VALUES (?)");
  Statement add(database,
                "INSERT INTO candidates(id, task, program, shape, numbers) "
                "VALUES (?, ?, ?, ?, ?)");
  while (read.next()) {
    compact_trace(read.text(3), &compact);
    add_shape.with(compact.shape).run();
    const int64_t shape = find_shape.with(compact.shape).next() ? find_shape.integer(0) : 0;
    find_shape.reset();
    add.with(read.integer(0), read.integer(1), Blob{read.text(2)}, shape, Blob{compact.numbers})
        .run();
  }
  read.reset();
  database.execute("DROP TABLE old_candidates");
  database.execute(guards({"shapes"}));
}

constexpr const char* kCandidatesAndAttempts3 = R"sql(
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
constexpr const char* kIndexes3 = R"sql(
CREATE INDEX foreign_lines_of_kind ON foreign_lines(kind, key);
CREATE INDEX attempts_of_setting
  ON attempts(task, machine, protocol, code_generator, verdict);
CREATE INDEX attempts_by_latency
  ON attempts(task, machine, protocol, latency_ns) WHERE verdict = 'timed';
)sql";

// Candidates have the same columns in version 3 and now, so put_candidate writes them; a version
// that changes them keeps a copy of its SQL here.
//
// 2 -> 3: candidates and attempts were numbered as they came and had an index for their identity;
// now their numbers are made from their content.
void upgrade_from_2(Database& database) {
  put_aside(database, "candidates");
  put_aside(database, "attempts");
  database.execute(
      "DROP INDEX IF EXISTS attempts_of_setting; DROP INDEX IF EXISTS attempts_by_latency;"
      "DROP INDEX IF EXISTS foreign_lines_of_kind;");
  database.execute(kCandidatesAndAttempts3);
  std::unordered_map<int64_t, int64_t> moved;  // candidates, from their old number
  Statement candidates(database, "SELECT id, task, program, shape, numbers FROM old_candidates");
  while (candidates.next()) {
    moved[candidates.integer(0)] =
        put_candidate(database, candidates.integer(1), candidates.hash(2), candidates.integer(3),
                      std::string(candidates.text(4)));
  }
  Statement attempts(database, "SELECT id, key, candidate FROM old_attempts");
  Statement move(database,
                 "INSERT OR IGNORE INTO attempts SELECT ?1, key, task, ?2, machine, protocol, "
                 "code_generator, run, sequence, start_us, end_us, verdict, latency_ns, samples, "
                 "text, build_ns, check_ns, time_ns, disturbed, clock, load, extra FROM "
                 "old_attempts WHERE id = ?3");
  while (attempts.next()) {
    // A dangling reference stays one: the check of all references will find it.
    const auto candidate = moved.find(attempts.integer(2));
    const int64_t to = candidate == moved.end() ? -1 : candidate->second;
    const Hash128 key = attempts.hash(1);
    for (int64_t number = first_number(key); number <= last_number(key); ++number) {
      move.with(number, to, attempts.integer(0)).run();
      if (database.failed() || database.changes() > 0) break;
    }
  }
  attempts.reset();
  candidates.reset();
  database.execute("DROP TABLE old_attempts; DROP TABLE old_candidates;");
  database.execute(kIndexes3);
  database.execute(guards({"candidates", "attempts"}));
}

constexpr const char* kTrajectories4 = R"sql(
CREATE TABLE trajectories(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL,
  run BLOB NOT NULL,
  trials INTEGER NOT NULL,
  seconds REAL NOT NULL,
  extra TEXT NOT NULL,
  UNIQUE(key, run)) STRICT;
)sql";

// 3 -> 4: trajectories were marks in the command of a run, which stay there as text; older searches
// start again. Trajectory lines from a newer program, stored as foreign lines, become rows.
void upgrade_from_3(Database& database) {
  database.execute(kTrajectories4);
  database.execute(guards({"trajectories"}));
  std::vector<int64_t> placed;
  Statement lines(database, "SELECT id, line FROM foreign_lines WHERE kind = 'unknown'");
  Statement add(database,
                "INSERT OR IGNORE INTO trajectories(key, run, trials, seconds, extra) "
                "VALUES (?, ?, ?, ?, ?)");
  while (lines.next()) {
    const Result<Line> line = parse_line(lines.text(1));
    const auto* one = line ? std::get_if<TrajectoryLine>(&*line) : nullptr;
    if (one == nullptr) continue;
    add.with(one->key, one->run, one->completed.trials, one->completed.seconds, one->extra).run();
    if (database.changes() > 0) placed.push_back(lines.integer(0));
  }
  lines.reset();
  if (placed.empty()) return;
  database.execute("DROP TRIGGER IF EXISTS foreign_lines_no_delete");
  Statement remove(database, "DELETE FROM foreign_lines WHERE id = ?");
  for (const int64_t row : placed) remove.with(row).run();
  database.execute(guard("foreign_lines", "delete", kUnlessWaiting));
}

constexpr std::array<void (*)(Database&), kSchemaVersion - 1> kUpgrades = {
    upgrade_from_1, upgrade_from_2, upgrade_from_3};

}  // namespace

void upgrade_tables(Database& database, int64_t from) {
  for (int64_t version = from; version < kSchemaVersion; ++version) {
    kUpgrades[static_cast<size_t>(version) - 1](database);
  }
}

}  // namespace tilewright::record
