// The numbers of candidates and attempts in a file: 63 bits of a hash of their content. So the
// table itself finds them, and no index is needed to tell what is there already. Where two of them
// have the same number, which is next to never, the second takes the next one: a row lies at one of
// the kMostTries numbers from its own on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace tilewright::record {

class Database;

inline constexpr int64_t kMostTries = 8;

// A row with that key lies from its first number to its last. Numbers leave room at the end, so
// that the next one is always larger.
inline int64_t first_number(const Hash128& key) {
  return std::min(static_cast<int64_t>(key.high >> 1), INT64_MAX - kMostTries);
}
inline int64_t last_number(const Hash128& key) { return first_number(key) + kMostTries - 1; }

// The number of the candidate of that content, which is added when it is not there.
int64_t put_candidate(Database& database, int64_t task, const Hash128& program, int64_t shape,
                      std::string_view numbers);

}  // namespace tilewright::record
