// Whether a store is whole. Problems are damage: the file itself, references into nowhere, content
// that does not have the id it is kept by. Remarks are what this program cannot read or sees
// otherwise, as records of another version may be: operators, steps, hashes of programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/store.h"

namespace tilewright::record {

struct CheckReport {
  int64_t tasks = 0, candidates = 0, attempts = 0, foreign_lines = 0;
  int64_t programs = 0;               // candidates whose program was made again
  std::vector<std::string> problems;  // up to kMostNamed of each sort, and how many there are
  std::vector<std::string> remarks;

  bool clean() const { return problems.empty(); }
};

// Reads everything; of the candidates, about `programs` are applied to their task and hashed.
Result<CheckReport> check(Store& store, int64_t programs = 200);

}  // namespace tilewright::record
