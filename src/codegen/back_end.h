// BackEnd: what makes code for a kind of target. One row per back end: which targets it serves, the
// lowering passes before it, the compiler, the loader of what it makes, and a probe. The table is
// codegen/back_ends; a function that picks a row takes the rows as an argument, so a test can add
// its own.
//
// Rows are constants; their functions may be called from several threads at once.
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
  std::vector<PhaseTime>* phases = nullptr;                   // out: CPU time of each
};

struct BackEnd {
  std::string_view name;
  std::string_view purpose;

  std::string_view targets = {};  // that it makes code for, as texts begin: `x86-64`

  // The kind of target it makes code for, and what it needs of one of that kind: an error that
  // names what is missing.
  bool (*serves)(const Target& target) = nullptr;
  Status (*check)(const Target& target) = nullptr;

  std::span<const lower::Pass> passes = {};  // from the loop nest to what `compile` takes

  // One artifact per function, in order; the same input gives the same bytes. Null: the back end
  // runs loop IR itself and makes no artifacts.
  Result<std::vector<runtime::Artifact>> (*compile)(std::span<const ir::Function> functions,
                                                    const Target& target,
                                                    const CompileOptions& options) = nullptr;
  const runtime::Loader* loader = nullptr;  // loads, calls and times what `compile` makes

  // In a build worker before the first compile: reports on stderr where the compiler dies.
  void (*enter_worker)() = nullptr;

  Status (*probe)() = nullptr;  // compiles and runs a small function; null: not in this build
  std::string_view remedy;      // the command that makes it work when the probe fails

  bool makes_artifacts() const { return compile != nullptr; }
};

// What the probe says; an error where there is none or it throws.
Status probe(const BackEnd& back_end);

// The one error where no back end of `rows` makes code for targets of that kind. It lists the
// targets that they serve.
std::unexpected<Error> no_code_for(const Target& target, std::span<const BackEnd> rows);

// An x86-64 CPU: what a row serves that makes code for those alone.
bool is_x86(const Target& target);

// One function: row.compile of it alone.
Result<runtime::Artifact> compile(const BackEnd& back_end, const ir::Function& function,
                                  const Target& target, const CompileOptions& options = {});

// The body of a probe: compiles, loads and runs x[0] = x[0] + 1 for the target.
Status works_on(const BackEnd& back_end, const Target& target);

}  // namespace tilewright::codegen
