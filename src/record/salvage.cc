#include "record/salvage.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "record/database.h"
#include "record/schema.h"
#include "record/store_impl.h"

namespace tilewright::record {
namespace {

namespace fs = std::filesystem;

// The header of an SQLite file (https://www.sqlite.org/fileformat.html, section 1.3).
constexpr size_t kHeaderBytes = 100;
// Placeholders are not written beyond this: the number of pages in a damaged header may be any.
constexpr int64_t kMaxFilledBytes = int64_t{1} << 30;

struct Header {
  int64_t page_bytes = 0;
  int64_t usable_bytes = 0;  // of a page
  int64_t pages = 0;         // of the whole file; 0: unknown
  int64_t version = 0;       // of the schema
  int64_t application = 0;
};

int64_t number_at(std::string_view bytes, size_t at, size_t size) {
  int64_t number = 0;
  for (size_t k = 0; k < size; ++k) {
    number = number << 8 | static_cast<unsigned char>(bytes[at + k]);
  }
  return number;
}

Header read_header(std::string_view file) {
  const int64_t stored = number_at(file, 16, 2);
  const int64_t page_bytes = stored == 1 ? 65536 : stored;
  return {.page_bytes = page_bytes,
          .usable_bytes = page_bytes - number_at(file, 20, 1),
          .pages = number_at(file, 28, 4),
          .version = number_at(file, 60, 4),
          .application = number_at(file, 68, 4)};
}

// A leaf of a table with one row, number 0 without columns, because SQLite rejects leaves without a
// row. No row of a store has this number.
std::string placeholder_leaf(const Header& header) {
  std::string page(static_cast<size_t>(header.page_bytes), '\0');
  const auto cell = static_cast<size_t>(header.usable_bytes - 4);
  page[0] = 0x0d;                                   // leaf of a table
  page[4] = 1;                                      // its cells
  for (const size_t at : {size_t{5}, size_t{8}}) {  // where they begin; where the first one is
    page[at] = static_cast<char>(cell >> 8);
    page[at + 1] = static_cast<char>(cell & 0xff);
  }
  page[cell] = 1;      // bytes of the row
  page[cell + 2] = 1;  // bytes of its header
  return page;
}

// file without its end -> file with a placeholder for each missing page, and no log to replay
// A page of zeros is missing too. Returns the number of placeholders.
Result<int64_t> fill_up(const fs::path& path, const Header& header) {
  const auto failed = [&] {
    return fail(ErrorKind::Io,
                fmt::format("{}: cannot be written: is the disk full?", path.native()));
  };
  const std::string placeholder = placeholder_leaf(header);
  std::error_code error;
  const auto present = static_cast<int64_t>(fs::file_size(path, error)) / header.page_bytes;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(18).write("\1\1", 2);  // not in WAL mode
  int64_t missing = 0;
  std::string bytes(placeholder.size(), '\0');
  for (int64_t page = 1; page < std::max(present, header.pages); ++page) {
    if (page < present) {
      file.seekg(page * header.page_bytes).read(bytes.data(), header.page_bytes);
      if (bytes.find_first_not_of('\0') != std::string::npos) continue;
    }
    file.seekp(page * header.page_bytes).write(placeholder.data(), header.page_bytes);
    ++missing;
  }
  if (error || !file.flush()) return failed();
  return missing;
}

// Commits that are still in the write-ahead log belong to the content.
Status replay_log(const fs::path& copy) {
  const std::unique_ptr<Database> database = TRY(Database::open(copy, Access::Write));
  database->execute("PRAGMA wal_checkpoint(TRUNCATE)");
  // Without its end, the file may not open yet.
  [[maybe_unused]] const Status damage = database->take_status();
  return {};
}

// Copies rows of a damaged database into a new one, to which it is attached as `damaged`. A row is
// first read by another connection: a damaged page that is met in a transaction ends that.
class RowSaver {
 public:
  RowSaver(Database& damaged, Database& saved, const StopToken& stop)
      : damaged_(damaged), saved_(saved), stop_(stop) {}

  void save(std::string_view table) {
    Statement read(damaged_, fmt::format("SELECT * FROM {} NOT INDEXED WHERE id = ?", table));
    Statement add(saved_, fmt::format("INSERT OR IGNORE INTO main.{0} SELECT * FROM damaged.{0} "
                                      "NOT INDEXED WHERE id = ?",
                                      table));
    for (const int64_t id : rows_of(table)) {
      if (stop_.requested()) return;
      const bool is_whole = read.with(id).next();
      read.reset();
      if (!damaged_.take_status() || !is_whole) {
        ++lost_;
        continue;
      }
      add.with(id).run();
      if (!saved_.take_status()) ++lost_;
    }
  }

  // Rows whose references are missing, and then those that refer to them.
  void drop_dangling() {
    struct Row {
      std::string table;
      int64_t id = 0;
    };
    for (;;) {
      std::vector<Row> rows;
      Statement broken(saved_, "PRAGMA main.foreign_key_check");
      while (broken.next()) rows.push_back({std::string(broken.text(0)), broken.integer(1)});
      if (rows.empty()) return;
      for (const Row& row : rows) {
        saved_.execute(fmt::format("DELETE FROM main.{} WHERE id = {}", row.table, row.id));
        lost_ += saved_.changes();
      }
    }
  }

  int64_t lost() const { return lost_; }

 private:
  // The ids of a table. A damaged page ends a scan; then another one begins at the end.
  std::vector<int64_t> rows_of(std::string_view table) {
    std::vector<int64_t> ids;
    if (scan(fmt::format("SELECT id FROM {} NOT INDEXED ORDER BY id", table), 0, &ids)) return ids;
    const int64_t last = ids.empty() ? 0 : ids.back();
    scan(fmt::format("SELECT id FROM {} NOT INDEXED ORDER BY id DESC", table), last, &ids);
    return ids;
  }

  // Appends ids until one is not above `above`, which placeholders are not. False: a page ended it.
  bool scan(const std::string& sql, int64_t above, std::vector<int64_t>* ids) {
    Statement query(damaged_, sql);
    while (query.next()) {
      const int64_t id = query.integer(0);
      if (id > above) ids->push_back(id);
      if (id != 0 && id <= above) break;
    }
    return damaged_.take_status().has_value();
  }

  Database& damaged_;
  Database& saved_;
  StopToken stop_;
  int64_t lost_ = 0;
};

// True for a plain name, and one statement that makes a table or an index. The texts of a damaged
// file may be anything, and they are executed.
bool is_definition(std::string_view name, std::string_view sql) {
  constexpr std::string_view kKinds[] = {"CREATE TABLE ", "CREATE INDEX ", "CREATE UNIQUE INDEX "};
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos &&
         sql.find(';') == std::string_view::npos &&
         std::ranges::any_of(kKinds, [&](std::string_view kind) { return sql.starts_with(kind); });
}

// The statements that make the tables or the indexes of a damaged database, by name.
std::vector<std::pair<std::string, std::string>> schema_of(Database& damaged,
                                                           std::string_view type) {
  std::vector<std::pair<std::string, std::string>> found;
  Statement query(damaged,
                  "SELECT name, sql FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL AND name "
                  "NOT LIKE 'sqlite_%'");
  query.with(type);
  while (query.next()) {
    if (is_definition(query.text(0), query.text(1))) {
      found.emplace_back(query.text(0), query.text(1));
    }
  }
  [[maybe_unused]] const Status damage = damaged.take_status();
  return found;  // those before the damage
}

// Makes the store `to` from what can be read of `from`. Returns the number of lost rows.
Result<int64_t> save_rows(const fs::path& from, const fs::path& to, int64_t version,
                          const StopToken& stop) {
  const std::unique_ptr<Database> damaged = TRY(Database::open(from, Access::Read));
  const std::unique_ptr<Database> saved = TRY(Database::open(to, Access::Create));
  // A damaged schema is read as far as possible.
  damaged->execute("PRAGMA writable_schema = ON");
  saved->execute(
      "PRAGMA writable_schema = ON; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;"
      "PRAGMA foreign_keys = OFF;");
  Statement(*saved, "ATTACH ? AS damaged").with(from.native()).run();
  saved->execute("BEGIN");
  RowSaver saver(*damaged, *saved, stop);
  for (const auto& [table, sql] : schema_of(*damaged, "table")) {
    saved->execute(sql);
    TRY(saved->take_status());
    saver.save(table);
  }
  saver.drop_dangling();
  for (const auto& [index, sql] : schema_of(*damaged, "index")) saved->execute(sql);
  saved->execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;",
                             kApplicationId, version));
  TRY(saved->take_status());
  return saver.lost();
}

// Attempts that cannot be put together, or whose content has another id. Returns their number.
Result<int64_t> drop_unreadable(Store& store) {
  Store::Impl& impl = store.impl();
  Database& database = *impl.database;
  std::vector<int64_t> rows;
  {
    Statement attempts(database, TILEWRIGHT_SELECT_ATTEMPTS);
    while (attempts.next()) {
      const Result<Attempt> attempt = impl.read_attempt(attempts);
      const bool good = attempt && attempt->id() == attempts.hash(0);
      if (!good) rows.push_back(attempts.integer(kAttemptRow));
    }
  }
  database.execute("PRAGMA query_only = OFF; DROP TRIGGER IF EXISTS attempts_no_delete");
  for (const int64_t row : rows) {
    database.execute(fmt::format("DELETE FROM attempts WHERE id = {}", row));
  }
  database.execute("PRAGMA query_only = ON");
  TRY(database.take_status());
  return std::ssize(rows);
}

Status copy_to_folder(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::copy_file(from, to, error)) return {};
  return fail(ErrorKind::Io,
              fmt::format("{}: cannot be copied to {} to read its undamaged records: {}",
                          from.native(), to.native(), error.message()));
}

}  // namespace

Result<Salvaged> salvage(const fs::path& path, const Error& why, const StopToken& stop) {
  const auto nothing = [&](std::string_view damage) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: the file is damaged, and none of its records can be read ({}); "
                            "put a copy in its place, or move it away to begin a new store",
                            path.native(), damage));
  };
  TemporaryFolder folder = TRY(make_scratch_folder("tilewright-salvage-"));
  const fs::path copy = folder / "copy.db";
  const fs::path saved = folder / "saved.db";
  TRY(copy_to_folder(path, copy));
  const fs::path log = path.native() + "-wal";
  std::error_code error;
  if (fs::file_size(log, error) > 0 && !error) {
    TRY(copy_to_folder(log, copy.native() + "-wal"));
    TRY(replay_log(copy));
  }
  const auto bytes = static_cast<size_t>(fs::file_size(copy, error));
  if (bytes < kHeaderBytes) return nothing(fmt::format("it has {} bytes", bytes));
  std::string begin(kHeaderBytes, '\0');
  std::ifstream(copy, std::ios::binary).read(begin.data(), std::ssize(begin));
  const Header header = read_header(begin);
  if (header.version > kSchemaVersion) return std::unexpected(why);
  if (header.application != kApplicationId || header.version < 1 || header.page_bytes < 512) {
    return fail(why.kind, why.message);  // no other verb can read it either
  }
  for (const char* const end : {"-wal", "-shm"}) fs::remove(copy.native() + end, error);
  if (header.pages * header.page_bytes > static_cast<int64_t>(bytes) + kMaxFilledBytes) {
    return nothing(fmt::format("its header counts {} pages, it has {}", header.pages,
                               static_cast<int64_t>(bytes) / header.page_bytes));
  }
  const int64_t missing = TRY(fill_up(copy, header));
  const auto pages = static_cast<int64_t>(fs::file_size(copy, error)) / header.page_bytes;
  std::string damage = missing > 0
                           ? fmt::format("it has {} of its {} pages", pages - missing, pages)
                           : "bytes in its pages have changed";
  Result<int64_t> lost = save_rows(copy, saved, header.version, stop);
  TRY(check_not_stopped(stop));
  if (!lost) return nothing(fmt::format("{}: {}", damage, lost.error().message));
  Result<Store> store = Store::open(saved, OpenAs::Reader);
  Result<int64_t> unreadable = store ? drop_unreadable(*store) : std::unexpected(store.error());
  if (!unreadable) {
    return nothing(fmt::format("{}: {}", damage, unreadable.error().message));
  }
  return Salvaged{.folder = std::move(folder),
                  .store = std::move(*store),
                  .damage = std::move(damage),
                  .lost = *lost + *unreadable};
}

}  // namespace tilewright::record
