// BackEnd: generates code for a kind of target. One row per back end: the targets it serves, its
// lowering passes, its compiler, the loader of its artifacts, the text forms of its code, and a
// probe. The table is codegen/back_ends. Functions that select a row take the rows as an argument,
// so that a test can add its own.
//
// Rows are constants. Their functions may be called by several threads at once.
#pragma once

#include <functional>
#include <span>
#include <string>
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

// A form in which the code of a function can be read, such as assembly.
struct TextForm {
  std::string_view name;     // of the language, unique among back ends: `llvm`
  std::string_view purpose;  // for help texts: `the LLVM IR`
  Result<std::string> (*print)(const ir::Function& function, const Target& target,
                               const CompileOptions& options) = nullptr;
};

struct BackEnd {
  std::string_view name;
  std::string_view purpose;

  std::string_view targets = {};  // prefix of the texts of its targets: `x86-64`

  // Checks the kind of the target, and the capabilities that the back end requires of it. The error
  // names what is missing.
  bool (*serves)(const Target& target) = nullptr;
  Status (*check)(const Target& target) = nullptr;

  std::span<const lower::Pass> passes = {};  // from the loop nest to the input of `compile`

  // One artifact per function, in order; the same input gives the same bytes. Called through
  // codegen::compile. Null: the back end executes loop IR directly and produces no artifacts.
  Result<std::vector<runtime::Artifact>> (*compile)(std::span<const ir::Function> functions,
                                                    const Target& target,
                                                    const CompileOptions& options) = nullptr;
  // Loads, calls and times the artifacts. Exported models are linked only from those of kind
  // runtime::kElfArtifact (deploy/export.h).
  const runtime::Loader* loader = nullptr;
  std::span<const TextForm> texts = {};  // of the input of `compile`, after `passes`

  // Called in a build worker before the first compile: makes the compiler report on stderr where it
  // crashes.
  void (*enter_worker)() = nullptr;

  Status (*probe)() = nullptr;  // compiles and runs a small function; null: not in this build
  std::string_view remedy;      // the command to run if the probe fails, unless with an Io error

  bool makes_artifacts() const { return compile != nullptr; }
};

// The result of the probe; an error if there is none or it throws.
Status probe(const BackEnd& back_end);

// The error if no back end of `rows` serves that kind of target. It lists the targets that they
// serve.
std::unexpected<Error> no_code_for(const Target& target, std::span<const BackEnd> rows);

// Compiles functions: one artifact each, in order. Also sets Artifact::denormals, which
// BackEnd::compile leaves at its default.
Result<std::vector<runtime::Artifact>> compile(const BackEnd& back_end,
                                               std::span<const ir::Function> functions,
                                               const Target& target,
                                               const CompileOptions& options = {});
Result<runtime::Artifact> compile(const BackEnd& back_end, const ir::Function& function,
                                  const Target& target, const CompileOptions& options = {});

// The body of a probe: compiles, loads and runs x[0] = x[0] + 1 for the target.
Status works_on(const BackEnd& back_end, const Target& target);

}  // namespace tilewright::codegen
