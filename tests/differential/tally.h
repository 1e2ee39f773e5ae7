// Tally: statistics of a run of random programs, for display.
#pragma once

#include <map>
#include <set>
#include <string_view>

#include "base/hash.h"
#include "region_check.h"
#include "schedule/trace.h"

namespace tilewright::testing {

struct Tally {
  std::map<std::string_view, int64_t> kinds;  // programs, by kind of workload
  std::map<std::string_view, int64_t> steps;  // by tag
  std::set<Hash128> distinct;                 // by program hash
  RegionCount regions;
  int64_t programs = 0, illegal = 0, tails = 0, failures = 0;
  int64_t compared = 0, unbounded = 0;  // elements; see ProgramChecker

  void count(std::string_view kind, const schedule::LoopTree& tree, const schedule::Trace& trace);
  std::string text() const;  // several lines
};

}  // namespace tilewright::testing
