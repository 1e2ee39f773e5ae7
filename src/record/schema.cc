#include "record/schema.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>
#include <unordered_map>

#include "record/codec.h"
#include "record/database.h"
#include "record/row_number.h"

namespace tilewright::record {
namespace {

namespace fs = std::filesystem;

// Rows refer to each other by numbers of this file; `key` is identity by content, the same in every
// store. Candidates and attempts are many: their numbers are made from their content
// (record/row_number.h), which saves an index for each. What is written once is guarded by
// triggers. Times as in record/attempt.h.
constexpr const char* kTables = R"sql(
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
CREATE TABLE foreign_lines(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK(kind IN ('unknown', 'variant', 'waiting')),
  line TEXT NOT NULL) STRICT;
)sql";

// The trace of a candidate is shapes.text with its numbers put in (record/codec.h).
constexpr const char* kCandidatesAndAttempts = R"sql(
CREATE TABLE shapes(
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE) STRICT;
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

// One for resume and for counts, one for the fastest, one for lines that wait.
constexpr const char* kIndexes = R"sql(
CREATE INDEX foreign_lines_of_kind ON foreign_lines(kind, key);
CREATE INDEX attempts_of_setting
  ON attempts(task, machine, protocol, code_generator, verdict);
CREATE INDEX attempts_by_latency
  ON attempts(task, machine, protocol, latency_ns) WHERE verdict = 'timed';
)sql";

std::string guard(std::string_view table, std::string_view act, std::string_view when) {
  return fmt::format(
      "CREATE TRIGGER {0}_no_{1} BEFORE {1} ON {0} {2}\n"
      "BEGIN SELECT RAISE(ABORT, '{0} are written once'); END;\n",
      table, act, when);
}

std::string guards(std::initializer_list<std::string_view> tables) {
  std::string sql;
  for (const std::string_view table : tables) {
    sql += guard(table, "update", "");
    sql += guard(table, "delete", "");
  }
  return sql;
}

void create_current(Database& database) {
  database.execute(kTables);
  database.execute(kCandidatesAndAttempts);
  database.execute(kIndexes);
  database.execute(guards(
      {"targets", "tasks", "machines", "runs", "protocols", "shapes", "candidates", "attempts"}));
  database.execute(guard("foreign_lines", "update", "") +
                   guard("foreign_lines", "delete", "WHEN OLD.kind <> 'waiting'"));
}

// Version 1 held the text of each trace, numbered rows as they came, and had no index by latency.
void upgrade_from_1(Database& database) {
  for (const std::string_view table : {"candidates", "attempts"}) {
    database.execute(
        fmt::format("DROP TRIGGER IF EXISTS {0}_no_update;"
                    "DROP TRIGGER IF EXISTS {0}_no_delete;"
                    "ALTER TABLE {0} RENAME TO old_{0};",
                    table));
  }
  database.execute("DROP INDEX attempts_of_setting");
  database.execute(kCandidatesAndAttempts);
  CompactTrace compact;
  std::unordered_map<int64_t, int64_t> moved;  // candidates, from their old number
  Statement candidates(database, "SELECT id, task, program, trace FROM old_candidates");
  Statement find_shape(database, "SELECT id FROM shapes WHERE text = ?");
  Statement add_shape(database, "INSERT OR IGNORE INTO shapes(text) VALUES (?)");
  while (candidates.next()) {
    compact_trace(candidates.text(3), &compact);
    add_shape.with(compact.shape).run();
    const int64_t shape = find_shape.with(compact.shape).next() ? find_shape.integer(0) : 0;
    find_shape.reset();
    moved[candidates.integer(0)] =
        put_candidate(database, candidates.integer(1), candidates.hash(2), shape, compact.numbers);
  }
  Statement attempts(database, "SELECT id, key, candidate FROM old_attempts");
  Statement move(database,
                 "INSERT OR IGNORE INTO attempts SELECT ?1, key, task, ?2, machine, protocol, "
                 "code_generator, run, sequence, start_us, end_us, verdict, latency_ns, samples, "
                 "text, build_ns, check_ns, time_ns, disturbed, clock, load, extra FROM "
                 "old_attempts WHERE id = ?3");
  while (attempts.next()) {
    const auto candidate = moved.find(attempts.integer(2));
    const int64_t to = candidate == moved.end() ? -1 : candidate->second;  // -1: found below
    const Hash128 key = attempts.hash(1);
    for (int64_t number = first_number(key); number <= last_number(key); ++number) {
      move.with(number, to, attempts.integer(0)).run();
      if (database.failed() || database.changes() > 0) break;
    }
  }
  attempts.reset();
  candidates.reset();
  database.execute("DROP TABLE old_attempts; DROP TABLE old_candidates;");
  database.execute(kIndexes);
  database.execute(guards({"candidates", "attempts", "shapes"}));
}

struct Upgrade {
  int64_t from;
  void (*run)(Database& database);
};
constexpr std::array<Upgrade, kSchemaVersion - 1> kUpgrades = {{{1, upgrade_from_1}}};

std::unexpected<Error> refuse(const Database& database, std::string_view why) {
  return fail(ErrorKind::BadInput, fmt::format("{}: {}", database.path(), why));
}

// Whose file it is; 0 for a new one. Read in one state: another process may be making it.
Result<int64_t> version_of(Database& database) {
  const bool alone = !database.in_transaction();
  if (alone) database.execute("BEGIN");
  const int64_t application = database.integer("PRAGMA application_id");
  const int64_t version = database.integer("PRAGMA user_version");
  const int64_t tables = database.integer("SELECT count(*) FROM sqlite_schema");
  if (alone) database.execute("COMMIT");
  if (Status status = database.take_status(); !status) return std::unexpected(status.error());
  if (application == 0 && version == 0 && tables == 0) return 0;
  if (application != kApplicationId) {
    return refuse(database, "a database of another program, not a store of records");
  }
  if (version > kSchemaVersion) {
    return refuse(
        database,
        fmt::format("its schema has version {}, this program knows up to {}; use the "
                    "newer tilewright that wrote it, or have that one `records export` it "
                    "and import the lines here",
                    version, kSchemaVersion));
  }
  if (version < 1) return refuse(database, "the version of its schema is missing: it is damaged");
  return version;
}

// In a transaction: another process may have done it meanwhile.
Status bring_up(Database& database) {
  // Not enforced while tables are exchanged; `check` and the end of each upgrade look at all rows.
  database.execute("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON;");
  Transaction transaction(database);
  const Result<int64_t> version = version_of(database);
  if (!version) return std::unexpected(version.error());
  if (*version == kSchemaVersion) return transaction.commit();
  if (*version == 0) create_current(database);
  for (const Upgrade& upgrade : kUpgrades) {
    if (*version != 0 && upgrade.from >= *version) upgrade.run(database);
  }
  if (*version != 0 && !database.failed()) {
    Statement broken(database, "PRAGMA foreign_key_check");
    if (broken.next()) {
      return refuse(database, fmt::format("rows of {} refer to what is not there: it is damaged "
                                          "and was left as it is",
                                          broken.text(0)));
    }
  }
  database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                               kApplicationId, kSchemaVersion));
  database.forget_statements();
  return transaction.commit();
}

// Two processes that make a new file at once: the second is told that it is locked, at once.
Status use_wal(Database& database) {
  for (int tries = 0;; ++tries) {
    database.execute("PRAGMA journal_mode = WAL");
    Status status = database.take_status();
    if (status || tries == 1000 || !status.error().message.contains("another process")) {
      return status;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// References are not enforced row by row: their numbers are of rows just looked up, and `check`
// looks at all of them. The cache is for imports; it grows only as it is used.
Status configure(Database& database, bool writes) {
  database.execute(
      "PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = OFF;"
      "PRAGMA cache_size = -524288; PRAGMA temp_store = MEMORY;");
  database.execute(writes ? "PRAGMA journal_size_limit = 67108864" : "PRAGMA query_only = ON");
  return database.take_status();
}

// What the operating system would say, before SQLite says less.
Status check_path(const fs::path& path, bool may_create) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorKind::Io, fmt::format("{}: {}", path.native(), why));
  };
  if (path.empty()) return fail(ErrorKind::BadInput, "the path of the records is empty");
  if (fs::is_directory(status)) return wrong("a directory, not a store of records");
  if (!fs::exists(status)) {
    const fs::path parent = fs::absolute(path).parent_path();
    if (!fs::is_directory(parent, error)) {
      return wrong(fmt::format("there is no folder {}", parent.native()));
    }
    if (!may_create) return wrong("there are no records: no such file");
    return {};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return wrong("cannot be opened: no permission to read it");
  char begin[16] = {};
  file.read(begin, sizeof begin);
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  if (file.gcount() > 0 && std::string_view(begin, 16) != kMagic) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: not a store of records (no SQLite file)", path.native()));
  }
  return {};
}

Result<std::unique_ptr<Database>> open_reader(const fs::path& path) {
  // A connection that may write removes its lock files when it goes; where it may not, one that
  // cannot; and where SQLite can put no lock file at all, nobody writes, so none is needed.
  Result<std::unique_ptr<Database>> database = Database::open(path, Access::Write);
  Result<int64_t> version = database ? version_of(**database) : std::unexpected(database.error());
  for (const Access access : {Access::Read, Access::Immutable}) {
    if (version || version.error().kind != ErrorKind::Io) break;
    database = Database::open(path, access);
    version = database ? version_of(**database) : std::unexpected(database.error());
  }
  if (!version) return std::unexpected(version.error());
  if (*version < kSchemaVersion) {  // also an empty file: nothing is in it
    auto copy = Database::in_memory();
    if (!copy) return copy;
    (*copy)->copy_from(**database);
    if (Status status = (*copy)->take_status(); !status) return std::unexpected(status.error());
    if (Status status = bring_up(**copy); !status) return std::unexpected(status.error());
    database = std::move(copy);
  }
  if (Status status = configure(**database, false); !status) return std::unexpected(status.error());
  return database;
}

}  // namespace

Result<std::unique_ptr<Database>> open_schema(const fs::path& path, OpenAs how) {
  if (Status status = check_path(path, how == OpenAs::Create); !status) {
    return std::unexpected(status.error());
  }
  if (how == OpenAs::Reader) return open_reader(path);
  auto database = Database::open(path, how == OpenAs::Create ? Access::Create : Access::Write);
  if (!database) return database;
  const Result<int64_t> version = version_of(**database);
  if (!version) return std::unexpected(version.error());
  if (Status status = use_wal(**database); !status) return std::unexpected(status.error());
  if (*version != kSchemaVersion) {
    if (Status status = bring_up(**database); !status) return std::unexpected(status.error());
  }
  if (Status status = configure(**database, true); !status) return std::unexpected(status.error());
  return database;
}

}  // namespace tilewright::record
