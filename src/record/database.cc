#include "record/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>

#include "base/check.h"

namespace tilewright::record {
namespace {

// Writers of one store wait for each other; the longest wait is for one transaction of an import.
constexpr int kBusyTimeoutMs = 120'000;

int flags_of(Access access) {
  switch (access) {
    case Access::Create:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Access::Write:
      return SQLITE_OPEN_READWRITE;
    case Access::Read:
    case Access::Immutable:
      return SQLITE_OPEN_READONLY;
  }
  return SQLITE_OPEN_READONLY;
}

const JobHint kExportSaves = {"export_records", "", "writes the records that can be read"};

// Errors with remedies, for the error codes that users may see. `of_schema`: while a statement was
// compiled, which reads the schema.
Error explain_code(const std::string& path, int code, std::string_view detail, bool of_schema) {
  const auto io = [&](std::string_view what) {
    return Error{ErrorKind::Io, fmt::format("{}: {}", path, what)};
  };
  switch (code & 0xff) {
    case SQLITE_FULL:
      return io("the disk is full; nothing of this was stored");
    case SQLITE_IOERR:
      return io(
          fmt::format("the operating system could not read or write it ({}: disk full, file "
                      "size limit or a fault of the disk); nothing of this was stored",
                      sqlite3_errstr(code)));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return io(fmt::format("another process held it for longer than {} s", kBusyTimeoutMs / 1000));
    case SQLITE_CANTOPEN:
      return io(
          "cannot be opened; the folder must exist and be writable, and it must not be a "
          "directory");
    case SQLITE_READONLY:
      return io("cannot be written; the file and its folder must be writable");
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return io("no permission to open it");
    case SQLITE_CORRUPT:
      if (of_schema) {
        return {ErrorKind::BadInput,
                fmt::format("{}: the file is damaged, and its tables cannot be found ({})", path,
                            detail),
                {},
                {kExportSaves}};
      }
      return {ErrorKind::BadInput,
              fmt::format("{}: the file is damaged ({})", path, detail),
              {},
              {{"check_records", "", "says where"}, kExportSaves}};
    case SQLITE_NOTADB:
      return {ErrorKind::BadInput,
              fmt::format("{}: not a store of records: it is not an SQLite file "
                          "or its beginning is damaged",
                          path)};
    default:
      return io(detail);
  }
}

}  // namespace

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  if (database_.failed()) return;
  database_.note(sqlite3_prepare_v3(database_.handle_, sql.data(), static_cast<int>(sql.size()),
                                    SQLITE_PREPARE_PERSISTENT, &statement_, nullptr),
                 /*of_schema=*/true);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::note(int code) { database_.note(code); }

void Statement::reset() {
  if (statement_ != nullptr) sqlite3_reset(statement_);
}

bool Statement::next() {
  if (statement_ == nullptr || database_.failed()) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  note(code);
  reset();  // holds no lock after its end
  return false;
}

void Statement::bind(int at, int64_t value) {
  if (statement_ != nullptr) note(sqlite3_bind_int64(statement_, at, value));
}
void Statement::bind(int at, double value) {
  if (statement_ != nullptr) note(sqlite3_bind_double(statement_, at, value));
}
void Statement::bind(int at, std::string_view value) {
  if (statement_ == nullptr) return;
  const char* const data = value.data() == nullptr ? "" : value.data();
  note(sqlite3_bind_text64(statement_, at, data, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}
void Statement::bind(int at, const Blob& value) {
  if (statement_ == nullptr) return;
  const char* const data = value.bytes.data() == nullptr ? "" : value.bytes.data();
  note(sqlite3_bind_blob64(statement_, at, data, value.bytes.size(), SQLITE_STATIC));
}
void Statement::bind(int at, const Hash128& value) {
  if (statement_ == nullptr) return;
  std::array<char, 16> bytes;  // big-endian, so that byte order equals hex order
  for (size_t k = 0; k < 8; ++k) {
    bytes[k] = static_cast<char>(value.high >> (56 - 8 * k));
    bytes[k + 8] = static_cast<char>(value.low >> (56 - 8 * k));
  }
  note(sqlite3_bind_blob64(statement_, at, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string_view Statement::text(int column) const {
  const void* const data = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data), size);
}
Hash128 Statement::hash(int column) const {
  const std::string_view bytes = text(column);
  if (bytes.size() != 16) return {};
  Hash128 hash;
  for (size_t k = 0; k < 8; ++k) {
    hash.high = hash.high << 8 | static_cast<unsigned char>(bytes[k]);
    hash.low = hash.low << 8 | static_cast<unsigned char>(bytes[k + 8]);
  }
  return hash;
}

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& path, Access access) {
  // A URI, so that `immutable` can be set; special characters of URIs are escaped.
  std::string uri = "file:";
  const std::string absolute = std::filesystem::absolute(path).native();
  for (const char c : absolute) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  if (access == Access::Immutable) uri += "?immutable=1";
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      uri.c_str(), &handle,
      flags_of(access) | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  std::unique_ptr<Database> database(new Database(path.native(), handle));
  database->note(code);
  if (handle != nullptr) sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  TRY(database->take_status());
  return database;
}

Result<std::unique_ptr<Database>> Database::in_memory() {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open(":memory:", &handle);
  std::unique_ptr<Database> database(new Database("(copy in memory)", handle));
  database->note(code);
  TRY(database->take_status());
  return database;
}

Database::~Database() {
  statements_.clear();
  sqlite3_close(handle_);
}

Statement& Database::statement(std::string_view sql) {
  std::unique_ptr<Statement>& slot = statements_[sql];
  if (slot == nullptr || !slot->compiled()) slot = std::make_unique<Statement>(*this, sql);
  return *slot;
}

void Database::execute(const std::string& sql) {
  if (!failed()) note(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr));
}

int64_t Database::integer(const std::string& sql) {
  Statement query(*this, sql);
  return query.next() ? query.integer(0) : 0;
}

int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_); }
int64_t Database::changes() const { return sqlite3_changes(handle_); }
bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

void Database::copy_from(Database& other) {
  if (failed()) return;
  sqlite3_backup* const backup = sqlite3_backup_init(handle_, "main", other.handle_, "main");
  if (backup == nullptr) return note(sqlite3_errcode(handle_));
  const int code = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  note(code == SQLITE_DONE ? finished : code);
}

void Database::note(int code, bool of_schema) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE || error_) return;
  const std::string_view detail =
      handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  error_ = explain_code(path_, code, detail, of_schema);
}

Status Database::take_status() {
  if (!error_) return {};
  const Error error = std::move(*error_);
  error_.reset();
  return std::unexpected(error);
}

Cancellation::Cancellation(Database& database, const StopToken& stop)
    : database_(database), stop_(stop) {
  constexpr int kInstructions = 1000;  // of SQLite, between checks of the token
  sqlite3_progress_handler(
      database_.handle_, kInstructions,
      [](void* token) { return static_cast<const StopToken*>(token)->requested() ? 1 : 0; },
      &stop_);
}

Cancellation::~Cancellation() { sqlite3_progress_handler(database_.handle_, 0, nullptr, nullptr); }

Transaction::Transaction(Database& database) : database_(database) {
  database_.statement("BEGIN IMMEDIATE").with().run();
}

Transaction::~Transaction() {
  if (!open_) return;
  const Status dropped = database_.take_status();  // the rollback runs in any case
  if (database_.in_transaction()) database_.execute("ROLLBACK");
  const Status rolled_back = database_.take_status();
}

Status Transaction::commit() {
  CHECK(open_, "a transaction is committed once");
  database_.statement("COMMIT").with().run();
  Status status = database_.take_status();
  open_ = false;
  if (!status && database_.in_transaction()) {
    database_.execute("ROLLBACK");
    const Status dropped = database_.take_status();
  }
  return status;
}

}  // namespace tilewright::record
