// Converts values to rows and back; the part of Store that import, export and check share. The add_
// functions run inside a Transaction of the caller. Cached row numbers stay valid once committed,
// because nothing is ever deleted; they are dropped after a rollback.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "record/codec.h"
#include "record/database.h"
#include "record/line.h"
#include "record/store.h"

// The key is the first column, the row number the last. Append WHERE ... to it; a literal, so that
// each query is one literal too.
#define TILEWRIGHT_SELECT_ATTEMPTS                                                     \
  "SELECT a.key, a.task, a.machine, a.protocol, a.code_generator, a.run, a.sequence, " \
  "a.start_us, a.end_us, a.verdict, a.latency_ns, a.samples, a.text, a.build_ns, "     \
  "a.check_ns, a.time_ns, a.disturbed, a.clock, a.load, a.extra, c.program, c.shape, " \
  "c.numbers, a.id FROM attempts a JOIN candidates c ON c.id = a.candidate "

namespace tilewright::record {

inline constexpr int kAttemptRow = 23;  // index of the row number in that query

enum class Added : uint8_t {
  New,
  Known,    // already in the store
  Variant,  // another object with that key exists: kept as a foreign line
  Waiting,  // an attempt whose task, machine or run is missing: kept until they arrive
};

struct Store::Impl {
  std::unique_ptr<Database> database;

  Added add(const TargetLine& line);
  Added add(const TaskLine& line);
  Added add(const MachineLine& line);
  Added add(const RunLine& line);
  Added add(const TrajectoryLine& line);
  Added add(const Attempt& attempt) { return add(attempt, attempt.id()); }
  Added add(const Attempt& attempt, const Hash128& id);  // `id`: of the attempt, already computed
  Added add(const ForeignLine& line);
  Added add(const Line& line);
  int64_t add_waiting();  // adds waiting attempts that became complete; returns their number
  void forget();          // call after a rollback

  // Reads a row of TILEWRIGHT_SELECT_ATTEMPTS; an error if it is damaged.
  Result<Attempt> read_attempt(const Statement& row);
  // The attempt of the first row, if there is one; resets the query.
  Result<std::optional<Attempt>> first_attempt(Statement& query);

  // Reads a row with key, workload, text, permissions and text of the target.
  static StoredTask read_task(const Statement& row);

  std::optional<int64_t> task_row(const Hash128& key);
  std::optional<int64_t> machine_row(const Hash128& key);
  std::optional<int64_t> run_row(const Hash128& key);
  std::optional<int64_t> protocol_row(const Protocol& protocol);
  // Of a row number; null if it cannot be read.
  const Protocol* protocol_of(int64_t row);

 private:
  using RowsByKey = std::unordered_map<Hash128, int64_t>;
  using KeysByRow = std::unordered_map<int64_t, Hash128>;
  using RowsByText = std::unordered_map<std::string, int64_t>;

  std::optional<int64_t> row_of(RowsByKey& known, std::string_view sql, const Hash128& key);
  int64_t intern(RowsByText& known, std::string_view find, std::string_view add,
                 const std::string& text);
  const Hash128& key_of(KeysByRow& known, std::string_view sql, int64_t row);
  Added keep(std::string_view kind, const Hash128& key, std::string_view line);
  template <class Line>
  Added keep_variant(const Line& line);  // of an existing object

  RowsByKey tasks_, machines_, runs_;
  RowsByText shapes_, protocols_;
  KeysByRow task_keys_, machine_keys_, run_keys_;
  std::unordered_map<int64_t, std::string> shape_texts_;
  std::unordered_map<int64_t, Protocol> protocol_values_;
  CompactTrace compact_;
  std::string samples_;
};

}  // namespace tilewright::record
