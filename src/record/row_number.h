// Row numbers of candidates and attempts: 63 bits of a hash of their content. The table itself
// therefore finds existing rows, without an index. If two rows have the same number, which is very
// rare, the second takes the next one: a row has one of kMaxTries numbers, starting at that of its
// hash.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace tilewright::record {

class Database;

inline constexpr int64_t kMaxTries = 8;

// The range of row numbers for a key. There is room at the end, so that the next number is always
// larger.
inline int64_t first_number(const Hash128& key) {
  return std::min(static_cast<int64_t>(key.high >> 1), INT64_MAX - kMaxTries);
}
inline int64_t last_number(const Hash128& key) { return first_number(key) + kMaxTries - 1; }

// The row number of the candidate with this content, which is added if it is missing.
int64_t put_candidate(Database& database, int64_t task, const Hash128& program, int64_t shape,
                      std::string_view numbers);

}  // namespace tilewright::record
