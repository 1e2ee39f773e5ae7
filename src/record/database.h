// Database and Statement: two small RAII wrappers of SQLite, only for the store.
//
// Errors are sticky: the Database keeps the first one, and from then on statements do nothing and
// return no rows, until take_status() returns the error. A function therefore runs its statements
// in sequence and checks once, at its end.
//
//   Statement& query = database.statement("SELECT id FROM tasks WHERE key = ?");
//   query.with(key);
//   while (query.next()) use(query.integer(0));
//   return database.take_status();
//
// Statements are compiled once and cached by their text, so two loops must not use the same text at
// the same time. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "base/result.h"
#include "base/stop_token.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tilewright::record {

class Database;

// Bytes that are not text: a BLOB. A parameter must stay valid until the statement is used again.
struct Blob {
  std::string_view bytes;
};

class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Resets the statement and binds these parameters, in order.
  template <class... Values>
  Statement& with(const Values&... values) {
    reset();
    int at = 0;
    (bind(++at, values), ...);
    return *this;
  }

  bool next();  // true: there is a row
  void run() {  // to its end
    while (next()) {
    }
  }
  void reset();
  bool compiled() const { return statement_ != nullptr; }  // false after an error

  // Columns of the current row; texts and blobs are valid until the next call of next or reset.
  int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  // also for a BLOB
  Hash128 hash(int column) const;           // zero if it does not have 16 bytes

 private:
  void bind(int at, int64_t value);
  void bind(int at, double value);
  void bind(int at, std::string_view value);
  void bind(int at, const std::string& value) { bind(at, std::string_view(value)); }
  void bind(int at, const Blob& value);
  void bind(int at, const Hash128& value);
  void note(int code);

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// Resets a statement on destruction, so that it holds no lock.
class ResetGuard {
 public:
  explicit ResetGuard(Statement& statement) : statement_(statement) {}
  ~ResetGuard() { statement_.reset(); }
  ResetGuard(const ResetGuard&) = delete;
  ResetGuard& operator=(const ResetGuard&) = delete;

 private:
  Statement& statement_;
};

enum class Access : uint8_t { Create, Write, Read, Immutable };

class Database {
 public:
  // Opens the file without reading it.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& path, Access access);
  static Result<std::unique_ptr<Database>> in_memory();
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  Statement& statement(std::string_view sql);  // `sql` must be a literal
  void execute(const std::string& sql);        // any number of statements, without parameters
  int64_t integer(const std::string& sql);  // the first column of the first row; 0 if there is none
  int64_t last_row() const;
  int64_t changes() const;  // rows of the last INSERT: 0 if it was ignored
  bool in_transaction() const;

  void copy_from(Database& other);  // the whole content
  void forget_statements() { statements_.clear(); }

  bool failed() const { return error_.has_value(); }
  Status take_status();  // the first error since the last call
  // Records errors. `code`: a result code of SQLite; `of_schema`: of compiling a statement.
  void note(int code, bool of_schema = false);

 private:
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  friend class Statement;
  friend class Cancellation;

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::unordered_map<std::string_view, std::unique_ptr<Statement>> statements_;
  std::optional<Error> error_;
};

// During its lifetime, a stop ends running statements with an error, also long ones.
class Cancellation {
 public:
  Cancellation(Database& database, const StopToken& stop);
  ~Cancellation();
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

 private:
  Database& database_;
  StopToken stop_;
};

// BEGIN IMMEDIATE to COMMIT; rolled back unless commit() succeeded.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // The first error since the start, including the commit; if there is one, nothing was stored.
  Status commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace tilewright::record
