#include "record/schema.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "record/check.h"
#include "record/codec.h"
#include "record/database.h"
#include "record/ndjson.h"
#include "record/record_testing.h"
#include "record/row_number.h"
#include "record/salvage.h"

namespace tilewright::record {
namespace {

using namespace tilewright::record::testing;  // NOLINT: these are for tests
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kMatmul = "matmul:m=16,n=16,k=16";

// The older versions as they were written. In 1 and 2 rows are numbered as they come; in version 1,
// candidates hold the text of their trace and there is no index by latency. In all, trajectories
// are marks in the commands of runs.
constexpr const char* kFirst = R"sql(
CREATE TABLE targets(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, extra TEXT NOT NULL) STRICT;
CREATE TABLE tasks(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, workload BLOB NOT NULL,
  text TEXT NOT NULL, licences TEXT NOT NULL, target INTEGER NOT NULL REFERENCES targets(id),
  extra TEXT NOT NULL) STRICT;
CREATE TABLE machines(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,
  content TEXT NOT NULL) STRICT;
CREATE TABLE runs(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, start_us INTEGER NOT NULL,
  command TEXT NOT NULL, version TEXT NOT NULL, extra TEXT NOT NULL) STRICT;
CREATE TABLE protocols(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE foreign_lines(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK(kind IN ('unknown', 'variant', 'waiting')), line TEXT NOT NULL) STRICT;
PRAGMA application_id = 1416195173;
)sql";
constexpr const char* kNumbered = R"sql(
CREATE TABLE attempts(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,
  task INTEGER NOT NULL REFERENCES tasks(id),
  candidate INTEGER NOT NULL REFERENCES candidates(id),
  machine INTEGER NOT NULL REFERENCES machines(id),
  protocol INTEGER NOT NULL REFERENCES protocols(id), code_generator INTEGER NOT NULL,
  run INTEGER NOT NULL REFERENCES runs(id), sequence INTEGER NOT NULL,
  start_us INTEGER NOT NULL, end_us INTEGER NOT NULL, verdict TEXT NOT NULL,
  latency_ns REAL NOT NULL, samples BLOB NOT NULL, text TEXT NOT NULL, build_ns REAL NOT NULL,
  check_ns REAL NOT NULL, time_ns REAL NOT NULL, disturbed INTEGER NOT NULL, clock REAL NOT NULL,
  load REAL NOT NULL, extra TEXT NOT NULL) STRICT;
CREATE TRIGGER attempts_no_update BEFORE UPDATE ON attempts
  BEGIN SELECT RAISE(ABORT, 'attempts are written once'); END;
CREATE TRIGGER attempts_no_delete BEFORE DELETE ON attempts
  BEGIN SELECT RAISE(ABORT, 'attempts are written once'); END;
)sql";
constexpr const char* kVersion1 = R"sql(
CREATE TABLE candidates(id INTEGER PRIMARY KEY, task INTEGER NOT NULL REFERENCES tasks(id),
  program BLOB NOT NULL, trace TEXT NOT NULL, UNIQUE(task, program, trace)) STRICT;
CREATE INDEX attempts_of_setting ON attempts(task, machine, protocol, code_generator);
CREATE TRIGGER candidates_no_update BEFORE UPDATE ON candidates
  BEGIN SELECT RAISE(ABORT, 'candidates are written once'); END;
CREATE TRIGGER candidates_no_delete BEFORE DELETE ON candidates
  BEGIN SELECT RAISE(ABORT, 'candidates are written once'); END;
PRAGMA user_version = 1;
)sql";
constexpr const char* kVersion2 = R"sql(
CREATE TABLE shapes(
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE) STRICT;
CREATE TRIGGER shapes_no_update BEFORE update ON shapes 
BEGIN SELECT RAISE(ABORT, 'shapes are written once'); END;
CREATE TRIGGER shapes_no_delete BEFORE delete ON shapes 
BEGIN SELECT RAISE(ABORT, 'shapes are written once'); END;
CREATE TABLE candidates(id INTEGER PRIMARY KEY, task INTEGER NOT NULL REFERENCES tasks(id),
  program BLOB NOT NULL, shape INTEGER NOT NULL REFERENCES shapes(id), numbers BLOB NOT NULL,
  UNIQUE(task, program, shape, numbers)) STRICT;
CREATE INDEX foreign_lines_of_kind ON foreign_lines(kind, key);
CREATE INDEX attempts_of_setting
  ON attempts(task, machine, protocol, code_generator, verdict, candidate);
CREATE INDEX attempts_by_latency
  ON attempts(task, machine, protocol, latency_ns, candidate) WHERE verdict = 'timed';
CREATE TRIGGER candidates_no_update BEFORE UPDATE ON candidates
  BEGIN SELECT RAISE(ABORT, 'candidates are written once'); END;
CREATE TRIGGER candidates_no_delete BEFORE DELETE ON candidates
  BEGIN SELECT RAISE(ABORT, 'candidates are written once'); END;
PRAGMA user_version = 2;
)sql";

constexpr const char* kVersion3 = R"sql(
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
CREATE INDEX foreign_lines_of_kind ON foreign_lines(kind, key);
CREATE INDEX attempts_of_setting
  ON attempts(task, machine, protocol, code_generator, verdict);
CREATE INDEX attempts_by_latency
  ON attempts(task, machine, protocol, latency_ns) WHERE verdict = 'timed';
CREATE TRIGGER shapes_no_update BEFORE update ON shapes 
BEGIN SELECT RAISE(ABORT, 'shapes are written once'); END;
CREATE TRIGGER shapes_no_delete BEFORE delete ON shapes 
BEGIN SELECT RAISE(ABORT, 'shapes are written once'); END;
CREATE TRIGGER candidates_no_update BEFORE update ON candidates 
BEGIN SELECT RAISE(ABORT, 'candidates are written once'); END;
CREATE TRIGGER candidates_no_delete BEFORE delete ON candidates 
BEGIN SELECT RAISE(ABORT, 'candidates are written once'); END;
CREATE TRIGGER attempts_no_update BEFORE update ON attempts 
BEGIN SELECT RAISE(ABORT, 'attempts are written once'); END;
CREATE TRIGGER attempts_no_delete BEFORE delete ON attempts 
BEGIN SELECT RAISE(ABORT, 'attempts are written once'); END;
PRAGMA user_version = 3;
)sql";

// kMatmul for x86-64-v3 as files have it since version 1: a key that changes loses its verdicts.
constexpr const char* kStoredTask =
    "INSERT INTO targets VALUES (1, 'x86-64:sse4.2,avx,f16c,fma,avx2;threads=1', '');"
    "INSERT INTO tasks VALUES (1, x'a91090f5401a2ae01c78cff08aa0be58', "
    "x'9c2622892c5ce0659638d242b4cfaacf', "
    "'matmul:m=16,n=16,k=16,dtype=f32', "
    "'reassociate,contract,approximate,fold,online_softmax', 1, '');"
    "INSERT INTO protocols VALUES (1, 'v1;warm');";

std::string hex_of(std::string_view bytes) {
  std::string hex = "x'";
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex + "'";
}

// Gives its row: the number, or from version 3 on one made from its content.
int64_t insert_candidate(Database& database, int version, int64_t number, const Attempt& attempt) {
  if (version == 1) {
    database.execute(fmt::format("INSERT INTO candidates VALUES ({}, 1, x'{}', CAST({} AS TEXT))",
                                 number, attempt.program.hex(), hex_of(attempt.trace)));
    return number;
  }
  CompactTrace compact;
  compact_trace(attempt.trace, &compact);
  if (version == 3) {
    database.statement("INSERT OR IGNORE INTO shapes(text) VALUES (?)").with(compact.shape).run();
    Statement& shape = database.statement("SELECT id FROM shapes WHERE text = ?");
    shape.with(compact.shape).next();
    const int64_t row = shape.integer(0);
    shape.reset();
    return put_candidate(database, 1, attempt.program, row, compact.numbers);
  }
  database.execute(
      fmt::format("INSERT OR IGNORE INTO shapes(text) VALUES (CAST({0} AS TEXT));"
                  "INSERT INTO candidates SELECT {1}, 1, x'{2}', id, {3} FROM shapes "
                  "WHERE text = CAST({0} AS TEXT)",
                  hex_of(compact.shape), number, attempt.program.hex(), hex_of(compact.numbers)));
  return number;
}

// A file of an older version with these attempts of kMatmul, written by the SQL of that version.
void write_version(int version, const std::filesystem::path& path,
                   const std::vector<Attempt>& attempts) {
  const auto database = must(Database::open(path, Access::Create));
  database->execute(kFirst);
  if (version < 3) database->execute(kNumbered);
  database->execute(version == 1 ? kVersion1 : version == 2 ? kVersion2 : kVersion3);
  database->execute(kStoredTask);
  const Machine machine = machine_named("one");
  database->statement("INSERT INTO machines VALUES (1, ?, ?)")
      .with(machine_id(machine), print_json(machine_to_json(machine)))
      .run();
  database->execute(
      "INSERT INTO runs VALUES (1, x'00000000000000010000000000000002', "
      "1700000000000000, 'tune x (trajectory 0123) walked: 40 trials 2 s', '0.1.0', '')");
  for (size_t k = 0; k < attempts.size(); ++k) {
    const Attempt& a = attempts[k];
    std::string samples;
    compact_samples(a.verdict.samples_ns, &samples);
    const int64_t candidate = insert_candidate(*database, version, static_cast<int64_t>(k) + 1, a);
    const int64_t row = version < 3 ? static_cast<int64_t>(k) + 1 : first_number(a.id());
    database->execute(fmt::format(
        "INSERT INTO attempts VALUES ({15}, x'{1}', 1, {0}, 1, 1, {2}, 1, {3}, {4}, {5}, '{6}', "
        "{7}, {8}, '', {9}, {10}, {11}, {12}, {13}, {14}, '')",
        candidate, a.id().hex(), a.code_generator, a.sequence, a.start_us, a.end_us,
        text_of(a.verdict.kind), a.verdict.latency_ns, hex_of(samples), a.conditions.build_ns,
        a.conditions.check_ns, a.conditions.time_ns, a.conditions.disturbed, a.conditions.clock,
        a.conditions.load, row));
  }
  must(database->take_status());
}

class OlderSchema : public ::testing::TestWithParam<int> {};

TEST_P(OlderSchema, IsSalvagedWithoutItsEnd) {
  const ScratchFolder folder;
  std::vector<Attempt> attempts;
  for (int k = 0; k < 300; ++k) attempts.push_back(timed(task_for(kMatmul), k, 1000 - k));
  write_version(GetParam(), folder / "a.db", attempts);
  const std::string bytes = must(read_file(folder / "a.db"));
  must(write_file_atomically(folder / "b.db", std::string_view(bytes).substr(0, bytes.size() - 1)));
  Salvaged saved = must(salvage(folder / "b.db", {}));
  const CheckReport report = must(check(saved.store));
  EXPECT_TRUE(report.clean());
  EXPECT_GT(report.attempts, 100);
  EXPECT_LT(report.attempts, 300);
}

TEST_P(OlderSchema, IsUpgradedWithoutLoss) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  std::vector<Attempt> attempts;
  for (int k = 0; k < 20; ++k) attempts.push_back(timed(task, k, 1000 - k));
  attempts[3].trace = attempts[2].trace;  // two programs of one text, as two versions may see it
  attempts[4].trace = "\x01\x02 odd\n";
  write_version(GetParam(), folder / "a.db", attempts);
  const std::string before = must(read_file(folder / "a.db"));
  {
    Store reader = must(Store::open(folder / "a.db", OpenAs::Reader));
    EXPECT_EQ(must(reader.find_attempt(attempts[5].id())), attempts[5]);
  }
  EXPECT_EQ(must(read_file(folder / "a.db")), before);  // a reader upgrades a copy
  for (int again = 0; again < 2; ++again) {
    Store store = must(Store::open(folder / "a.db"));
    for (const Attempt& attempt : attempts) {
      EXPECT_EQ(must(store.find_attempt(attempt.id())), attempt);
    }
    EXPECT_EQ(must(store.best(task.key(), {}, 1)).front(), attempts.back());
    // Its key is still that of its text, and programs with a verdict are found.
    EXPECT_EQ(must(task_of(*must(store.find_task(task.key())))).key(), task.key());
    const record::Setting setting{.task = task.key(),
                                  .machine = attempts[0].machine,
                                  .protocol = attempts[0].protocol,
                                  .code_generator = attempts[0].code_generator};
    EXPECT_EQ(must(store.measured(setting)).size(), attempts.size() + static_cast<size_t>(again));
    // A mark in a command is only for display, not a trajectory.
    EXPECT_EQ(must(store.find_run({1, 2}))->command,
              "tune x (trajectory 0123) walked: 40 trials 2 s");
    EXPECT_EQ(must(Database::open(folder / "a.db", Access::Read))
                  ->integer("SELECT count(*) FROM trajectories"),
              0);
    const Attempt more = timed(task, 100 + again);
    must(store.append({&more, 1}));
    const CheckReport report = must(check(store));
    EXPECT_TRUE(report.clean()) << report.problems[0];
  }
  // The same schema as of a new file.
  Store fresh = must(Store::open(folder / "fresh.db"));
  const auto schema_of = [](const std::filesystem::path& path) {
    const auto database = must(Database::open(path, Access::Read));
    Statement query(*database,
                    "SELECT sql FROM sqlite_schema WHERE name LIKE '%candidates%' OR name LIKE "
                    "'%attempts%' OR name LIKE '%shapes%' OR name LIKE '%trajectories%' OR type = "
                    "'index' ORDER BY name");
    std::string text;
    while (query.next()) text += query.text(0);
    return text;
  };
  EXPECT_EQ(schema_of(folder / "a.db"), schema_of(folder / "fresh.db"));
}

TEST_P(OlderSchema, AFailedUpgradeLeavesTheFileAsItWas) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  write_version(GetParam(), folder / "a.db", {timed(task, 1)});
  must(Database::open(folder / "a.db", Access::Write))
      ->execute("DROP TRIGGER attempts_no_update; UPDATE attempts SET candidate = 77");
  EXPECT_THAT(Store::open(folder / "a.db").error().message, HasSubstr("refer to missing rows"));
  EXPECT_EQ(must(Database::open(folder / "a.db", Access::Read))->integer("PRAGMA user_version"),
            GetParam());
}

INSTANTIATE_TEST_SUITE_P(Versions, OlderSchema, ::testing::Values(1, 2, 3));
static_assert(kSchemaVersion == 4, "a new version: keep the SQL of the one before here");

// A version without trajectories has carried their lines.
TEST(Schema, CarriedLinesOfTrajectoriesAreImported) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  write_version(3, folder / "a.db", {timed(task, 1)});
  const std::string line = R"({"type":"trajectory","v":1,"key":"00000000000000030000000000000003",)"
                           R"("run":"00000000000000010000000000000002","trials":7,"seconds":0.5})";
  must(Database::open(folder / "a.db", Access::Write))
      ->statement("INSERT INTO foreign_lines(key, kind, line) VALUES (x'01', 'unknown', ?)")
      .with(line)
      .run();
  Store store = must(Store::open(folder / "a.db"));
  const StoredTrajectory found = must(store.find_trajectory({3, 3}));
  EXPECT_EQ(found.runs.size(), 1U);
  EXPECT_EQ(found.completed, (std::vector<CompletedBudget>{{.trials = 7, .seconds = 0.5}}));
  EXPECT_EQ(must(check(store)).foreign_lines, 0);
}

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(Schema, ForeignFilesAreRejected) {
  const ScratchFolder folder;
  const auto sql = [&](const std::string& name, const std::string& text) {
    const auto database = must(Database::open(folder / name, Access::Create));
    database->execute(text);
    must(database->take_status());
  };
  sql("other.db", "CREATE TABLE t(x); PRAGMA application_id = 7");
  sql("unmarked.db", "CREATE TABLE t(x)");
  {
    const Store made = must(Store::open(folder / "newer.db"));
  }
  sql("newer.db", "PRAGMA user_version = 99");
  sql("unversioned.db", "CREATE TABLE t(x); PRAGMA application_id = 1416195173");
  write(folder / "text", "hello\n");
  write(folder / "short", "SQL");
  write(folder / "cut.db", must(read_file(folder / "newer.db")).substr(0, 50));
  std::filesystem::create_directory(folder / "folder");
  const std::pair<std::string, std::string> cases[] = {
      {"other.db", "a database of another program"},
      {"unmarked.db", "a database of another program"},
      {"newer.db", "its schema has version 99, this program supports up to 4; use the newer"},
      {"unversioned.db", "damaged"},
      {"text", "not a store of records"},
      {"short", "not a store of records"},
      {"cut.db", ""},
      {"folder", "a directory"},
      {"none/a.db", "there is no folder"},
  };
  for (const auto& [name, says] : cases) {
    for (const OpenAs how : {OpenAs::Create, OpenAs::Existing, OpenAs::Reader}) {
      const Result<Store> store = Store::open(folder / name, how);
      ASSERT_FALSE(store.has_value()) << name;
      EXPECT_THAT(store.error().message, HasSubstr(name));
      EXPECT_THAT(store.error().message, HasSubstr(says)) << name;
      const std::vector<JobHint>& jobs = store.error().jobs;
      const bool can_be_exported = name == "newer.db" || name == "cut.db";
      EXPECT_EQ(!jobs.empty() && jobs.back().job == "export_records", can_be_exported) << name;
    }
  }
  EXPECT_EQ(must(read_file(folder / "text")), "hello\n");
  for (const OpenAs how : {OpenAs::Existing, OpenAs::Reader}) {
    EXPECT_THAT(Store::open(folder / "new.db", how).error().message, HasSubstr("no such file"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "new.db"));
  EXPECT_FALSE(Store::open("").has_value());
}

TEST(Schema, AnEmptyFileIsANewStore) {
  const ScratchFolder folder;
  write(folder / "a.db", "");
  {
    const Store reader = must(Store::open(folder / "a.db", OpenAs::Reader));
  }
  store_with(folder / "a.db", task_for(kMatmul));
  EXPECT_EQ(must(must(Store::open(folder / "a.db", OpenAs::Reader)).summaries()).size(), 1u);
}

TEST(Schema, NamesWithOddCharacters) {
  const ScratchFolder folder;
  for (const std::string name : {"a?b.db", "a#b.db", "100%.db", "caf\xc3\xa9 .db", "%41.db"}) {
    store_with(folder / name, task_for(kMatmul));
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  }
}

TEST(Schema, DamageIsNamed) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  {
    Store store = store_with(folder / "a.db", task);
    std::vector<Attempt> attempts;
    for (int k = 0; k < 500; ++k) attempts.push_back(timed(task, k));
    must(store.append(attempts));
  }
  std::string bytes = must(read_file(folder / "a.db"));
  for (size_t at = bytes.size() / 2; at < bytes.size(); at += 97) bytes[at] ^= 0x55;
  write(folder / "b.db", bytes);
  Result<Store> store = Store::open(folder / "b.db");
  if (store) {
    const CheckReport report = must(check(*store));
    EXPECT_FALSE(report.clean());
    std::ostringstream out;
    const Status exported = export_ndjson(*store, out);
    if (!exported) {
      EXPECT_THAT(exported.error().message, HasSubstr("damaged"));
    }
  }
}

// Functions that open it fail, except for the two that read damaged files.
TEST(Schema, DamageOfTheSchemaIsNamed) {
  const ScratchFolder folder;
  store_with(folder / "a.db", task_for(kMatmul));
  std::string bytes = must(read_file(folder / "a.db"));
  for (size_t at = 100; at < 120; ++at) bytes[at] = 0x55;  // the root page of the schema
  write(folder / "b.db", bytes);
  for (const OpenAs how : {OpenAs::Create, OpenAs::Existing, OpenAs::Reader}) {
    const Result<Store> store = Store::open(folder / "b.db", how);
    ASSERT_FALSE(store.has_value());
    EXPECT_EQ(store.error().kind, ErrorKind::BadInput);
    EXPECT_THAT(store.error().message, HasSubstr("its tables cannot be found"));
    ASSERT_EQ(store.error().jobs.size(), 1U);
    EXPECT_EQ(store.error().jobs[0].job, "export_records");
  }
}

// Runs `body` in a separate process, which has no privileges if this one is root.
int in_a_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(99);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST(Schema, AFolderThatCannotBeWrittenCanBeRead) {
  const ScratchFolder folder;
  const Task task = task_for(kMatmul);
  const Attempt attempt = timed(task, 1);
  {
    Store store = store_with(folder / "a.db", task);
    must(store.append({&attempt, 1}));
  }
  ::chmod((folder / "a.db").c_str(), 0444);
  ::chmod(folder.path().c_str(), 0555);
  EXPECT_EQ(in_a_child([&] {
              Result<Store> writer = Store::open(folder / "a.db");
              if (writer && writer->put_run(run_one())) return 1;
              Result<Store> fresh = Store::open(folder / "b.db");
              if (fresh || fresh.error().kind != ErrorKind::Io) return 2;
              Result<Store> reader = Store::open(folder / "a.db", OpenAs::Reader);
              if (!reader) return 3;
              const auto found = reader->find_attempt(attempt.id());
              return found && *found && **found == attempt ? 0 : 4;
            }),
            0);
  ::chmod(folder.path().c_str(), 0755);
}

}  // namespace
}  // namespace tilewright::record
