#include "record/schema.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "record/database.h"
#include "record/schema_tables.h"
#include "record/schema_upgrade.h"

namespace tilewright::record {
namespace {

namespace fs = std::filesystem;

void create_current(Database& database) {
  database.execute(kTables);
  database.execute(kTrajectories);
  database.execute(kCandidatesAndAttempts);
  database.execute(kIndexOfForeignLines);
  database.execute(kIndexesOfAttempts);
  database.execute(guards({"targets", "tasks", "machines", "runs", "trajectories", "protocols",
                           "shapes", "candidates", "attempts"}));
  database.execute(guard("foreign_lines", "update", "") +
                   guard("foreign_lines", "delete", kUnlessWaiting));
}

std::unexpected<Error> refuse(const Database& database, std::string_view why,
                              std::vector<JobHint> jobs = {}) {
  return fail(ErrorKind::BadInput, fmt::format("{}: {}", database.path(), why), {},
              std::move(jobs));
}

// The application id; 0 for a new file. Read in one snapshot, because another process may be
// creating it.
Result<int64_t> version_of(Database& database) {
  const bool alone = !database.in_transaction();
  if (alone) database.execute("BEGIN");
  const int64_t application = database.integer("PRAGMA application_id");
  const int64_t version = database.integer("PRAGMA user_version");
  const int64_t tables = database.integer("SELECT count(*) FROM sqlite_schema");
  if (alone) database.execute("COMMIT");
  TRY(database.take_status());
  if (application == 0 && version == 0 && tables == 0) return 0;
  if (application != kApplicationId) {
    return refuse(database, "a database of another program, not a store of records");
  }
  if (version > kSchemaVersion) {
    return refuse(database,
                  fmt::format("its schema has version {}, this program supports up to {}; use the "
                              "newer tilewright that wrote it",
                              version, kSchemaVersion),
                  {{"export_records", "", "of that one writes lines that can be imported here"}});
  }
  if (version < 1) return refuse(database, "the version of its schema is missing: it is damaged");
  return version;
}

// In a transaction: another process may have done it already.
Status bring_up(Database& database) {
  // Not enforced while tables are replaced; `check` and the end of each upgrade verify all rows.
  database.execute("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON;");
  Transaction transaction(database);
  const int64_t version = TRY(version_of(database));
  if (version == kSchemaVersion) return transaction.commit();
  if (version == 0) create_current(database);
  if (version != 0) upgrade_tables(database, version);
  if (version != 0 && !database.failed()) {
    Statement broken(database, "PRAGMA foreign_key_check");
    if (broken.next()) {
      return refuse(database, fmt::format("rows of {} refer to missing rows: it is damaged "
                                          "and was not changed",
                                          broken.text(0)));
    }
  }
  database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                               kApplicationId, kSchemaVersion));
  database.forget_statements();
  return transaction.commit();
}

// If two processes create a new file at once, the second gets an immediate lock error.
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

// References are not enforced row by row: their numbers come from rows just looked up, and `check`
// verifies all of them. The cache is small, because a tuner only appends.
Status configure(Database& database, bool writes) {
  database.execute(
      "PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = OFF;"
      "PRAGMA cache_size = -256; PRAGMA temp_store = MEMORY;");
  database.execute(writes ? "PRAGMA journal_size_limit = 67108864" : "PRAGMA query_only = ON");
  return database.take_status();
}

// The error of the operating system, which is more specific than that of SQLite.
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
  // A connection with write access removes its lock files when it closes; without write access, a
  // read-only connection is used. If SQLite cannot create lock files at all, no process can write,
  // so none are needed.
  Result<std::unique_ptr<Database>> database = Database::open(path, Access::Write);
  Result<int64_t> version = database ? version_of(**database) : std::unexpected(database.error());
  for (const Access access : {Access::Read, Access::Immutable}) {
    if (version || version.error().kind != ErrorKind::Io) break;
    database = Database::open(path, access);
    version = database ? version_of(**database) : std::unexpected(database.error());
  }
  if (TRY(std::move(version)) < kSchemaVersion) {  // including an empty file
    auto copy = TRY(Database::in_memory());
    copy->copy_from(**database);
    TRY(copy->take_status());
    TRY(bring_up(*copy));
    database = std::move(copy);
  }
  TRY(configure(**database, false));
  return database;
}

}  // namespace

Result<std::unique_ptr<Database>> open_schema(const fs::path& path, OpenAs how) {
  TRY(check_path(path, how == OpenAs::Create));
  if (how == OpenAs::Reader) return open_reader(path);
  const Access access = how == OpenAs::Create ? Access::Create : Access::Write;
  std::unique_ptr<Database> database = TRY(Database::open(path, access));
  const int64_t version = TRY(version_of(*database));
  TRY(use_wal(*database));
  if (version != kSchemaVersion) {
    TRY(bring_up(*database));
  }
  TRY(configure(*database, true));
  return database;
}

}  // namespace tilewright::record
