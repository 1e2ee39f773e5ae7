// BackEnd: generates code for a kind of target. One row per back end: the targets it serves, its
// lowering passes, its compiler, the loader of its artifacts, and a probe. The table is
// codegen/back_ends. Functions that select a row take the rows as an argument, so that a test can
// add its own.
//
// Rows are constants. Their functions may be called by several threads at once.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "lower/pass.h"
#include "runtime/host/loader.h"
#include "target/target.h"

namespace tilewright::codegen {

struct PhaseTime {
  const char* phase;  // "emit", "promote", "codegen"
  double milliseconds;
};

struct CompileOptions {
  std::function<void(std::string_view phase)> on_phase = {};  // called before each phase
  std::vector<PhaseTime>* phases = nullptr;                   // out: CPU time of each phase
};

struct BackEnd {
  std::string_view name;
  std::string_view purpose;

  // The kind of target it serves, and its requirements on one of that kind: an error that names
  // what is missing.
  bool (*serves)(const Target& target) = nullptr;
  Status (*check)(const Target& target) = nullptr;

  std::span<const lower::Pass> passes = {};  // from the loop nest to the input of `compile`

  // One artifact per function, in order; the same input gives the same bytes. Null: the back end
  // executes loop IR directly and produces no artifacts.
  Result<std::vector<runtime::Artifact>> (*compile)(std::span<const ir::Function> functions,
                                                    const Target& target,
                                                    const CompileOptions& options) = nullptr;
  const runtime::Loader* loader = nullptr;  // loads, calls and times the artifacts

  // Called in a build worker before the first compile: makes the compiler report on stderr where it
  // dies.
  void (*enter_worker)() = nullptr;

  Status (*probe)() = nullptr;  // compiles and runs a small function; null: not in this build
  std::string_view remedy;      // the command to run if the probe fails

  bool makes_artifacts() const { return compile != nullptr; }
};

// The result of the probe; an error if there is none or it throws.
Status probe(const BackEnd& back_end);

// The error for a kind of target that no back end serves.
std::unexpected<Error> no_code_for(const Target& target);

// Compiles one function.
Result<runtime::Artifact> compile(const BackEnd& back_end, const ir::Function& function,
                                  const Target& target, const CompileOptions& options = {});

// The body of a probe: compiles, loads and runs x[0] = x[0] + 1 for the target.
Status works_on(const BackEnd& back_end, const Target& target);

}  // namespace tilewright::codegen
