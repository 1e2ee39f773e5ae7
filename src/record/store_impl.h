// How values become rows and come back; the part of Store that import, export and check share. The
// add_ functions run inside of a Transaction of the caller's; what they keep in memory (numbers of
// rows) is right for ever once committed, since nothing is ever deleted, and forgotten after a
// rollback.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "record/codec.h"
#include "record/database.h"
#include "record/line.h"
#include "record/store.h"

// The key is the first column, the row the last. To be followed by WHERE ...: a literal, so that
// each query is one.
#define TILEWRIGHT_SELECT_ATTEMPTS                                                     \
  "SELECT a.key, a.task, a.machine, a.protocol, a.code_generator, a.run, a.sequence, " \
  "a.start_us, a.end_us, a.verdict, a.latency_ns, a.samples, a.text, a.build_ns, "     \
  "a.check_ns, a.time_ns, a.disturbed, a.clock, a.load, a.extra, c.program, c.shape, " \
  "c.numbers, a.id FROM attempts a JOIN candidates c ON c.id = a.candidate "

namespace tilewright::record {

inline constexpr int kAttemptRow = 23;  // the column of that query that is the row

enum class Added : uint8_t {
  New,
  Known,    // the same was there
  Variant,  // another with that key was there: kept as a foreign line
  Waiting,  // an attempt whose task, machine or run is not there: kept until they are
};

struct Store::Impl {
  std::unique_ptr<Database> database;

  Added add(const TargetLine& line);
  Added add(const TaskLine& line);
  Added add(const MachineLine& line);
  Added add(const RunLine& line);
  Added add(const TrajectoryLine& line);
  Added add(const Attempt& attempt) { return add(attempt, attempt.id()); }
  Added add(const Attempt& attempt, const Hash128& id);  // its own id, when it is known already
  Added add(const ForeignLine& line);
  Added add(const Line& line);
  int64_t add_waiting();  // those that need wait no longer; how many
  void forget();          // after a rollback

  // Of a row of TILEWRIGHT_SELECT_ATTEMPTS; an error when it is damaged.
  Result<Attempt> read_attempt(const Statement& row);

  // Of a row with key, workload, text, permissions, text of the target.
  static StoredTask read_task(const Statement& row);

  std::optional<int64_t> task_row(const Hash128& key);
  std::optional<int64_t> machine_row(const Hash128& key);
  std::optional<int64_t> run_row(const Hash128& key);
  std::optional<int64_t> protocol_row(const Protocol& protocol);

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
  Added keep_variant(const Line& line);  // of one that is there

  RowsByKey tasks_, machines_, runs_;
  RowsByText shapes_, protocols_;
  KeysByRow task_keys_, machine_keys_, run_keys_;
  std::unordered_map<int64_t, std::string> shape_texts_;
  std::unordered_map<int64_t, Protocol> protocol_values_;
  CompactTrace compact_;
  std::string samples_;
};

}  // namespace tilewright::record
