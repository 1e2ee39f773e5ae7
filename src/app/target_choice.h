// TargetChoice: the target as a user selects it: the text of a target, or this machine with a
// number of threads. Values and pure functions, except for detecting this machine.
//
//   measured_target_of({.target = "x86-64-v3", .threads = 2})   // x86-64-v3;threads=2
#pragma once

#include <string>

#include "base/result.h"
#include "deploy/back_end_tables.h"
#include "target/target.h"  // IWYU pragma: export

namespace tilewright::app {

struct TargetChoice {
  std::string target{};  // empty: this machine
  int threads = 0;       // 0: not given

  bool operator==(const TargetChoice&) const = default;
};

Result<Target> target_of(const TargetChoice& choice, int default_threads);

// One thread per CPU of this machine by default. Accepts any target that kernels can be compiled
// for.
Result<Target> compiled_target_of(const TargetChoice& choice,
                                  const deploy::BackEndTables& tables = {});

// The same for any target that C source can be generated for.
Result<Target> source_target_of(const TargetChoice& choice,
                                const deploy::BackEndTables& tables = {});

// One thread per CPU by default. An error if kernels cannot be compiled for the target, or do not
// run on this machine.
Result<Target> measured_target_of(const TargetChoice& choice,
                                  const deploy::BackEndTables& tables = {});

}  // namespace tilewright::app
