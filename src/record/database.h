// Database and Statement: SQLite behind two small owners, for the store only.
//
// Errors stick. The first one is kept by the Database; from then on statements do nothing and give
// no rows, until take_status() hands the error out. So a function runs its statements one after the
// other and asks once, at its end.
//
//   Statement& query = database.statement("SELECT id FROM tasks WHERE key = ?");
//   query.with(key);
//   while (query.next()) use(query.integer(0));
//   return database.take_status();
//
// Statements are compiled once and kept; a text is one statement, so it is not used by two loops at
// a time. Not to be shared between threads.
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

struct sqlite3;
struct sqlite3_stmt;

namespace tilewright::record {

class Database;

// Bytes that are no text: a BLOB. Those of a parameter live until the statement is used again.
struct Blob {
  std::string_view bytes;
};

class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Starts the statement anew with these parameters, in their order.
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

  // Of the row that next() went to; texts and blobs live until the next call of next or reset.
  int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  // also of a BLOB
  Hash128 hash(int column) const;           // zero when it is not of 16 bytes

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

enum class Access : uint8_t { Create, Write, Read, Immutable };

class Database {
 public:
  // Opens the file; nothing of it has been read yet.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& path, Access access);
  static Result<std::unique_ptr<Database>> in_memory();
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  Statement& statement(std::string_view sql);  // `sql` lives for ever: a literal
  void execute(const std::string& sql);        // any number of statements, without parameters
  int64_t integer(const std::string& sql);     // the first column of the first row, or 0
  int64_t last_row() const;
  int64_t changes() const;  // rows of the last INSERT: 0 when it was ignored
  bool in_transaction() const;

  void copy_from(Database& other);  // the whole content
  void forget_statements() { statements_.clear(); }

  bool failed() const { return error_.has_value(); }
  Status take_status();  // the first error since the last call
  void note(int code);   // of SQLite; only an error counts

 private:
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  friend class Statement;

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::unordered_map<std::string_view, std::unique_ptr<Statement>> statements_;
  std::optional<Error> error_;
};

// BEGIN IMMEDIATE to COMMIT; rolled back when commit() was not called or could not be done.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // The first error since it began, the commit's own included; then nothing of it was stored.
  Status commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace tilewright::record
