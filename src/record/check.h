// Verifies the integrity of a store. Problems are damage: to the file itself, dangling references,
// content that does not match its id. Remarks are records that this version cannot read or
// interprets differently, such as operators, steps and program hashes of another version.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stop_token.h"
#include "record/store.h"

namespace tilewright::record {

struct CheckReport {
  int64_t tasks = 0, candidates = 0, attempts = 0, foreign_lines = 0;
  int64_t programs = 0;               // candidates whose program was rebuilt
  std::vector<std::string> problems;  // up to kMaxNamed of each kind, and their total number
  std::vector<std::string> remarks;
  bool stopped = false;  // by the token; then the rest is empty

  bool clean() const { return problems.empty(); }
};

// Reads everything. About `programs` of the candidates are applied to their task and hashed.
Result<CheckReport> check(Store& store, int64_t programs = 200, const StopToken& stop = {});

}  // namespace tilewright::record
