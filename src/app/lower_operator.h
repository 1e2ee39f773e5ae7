// lower_operator: an operator under a schedule, as IR after each pass of the target's back end, and
// on request as C source and as what LLVM makes of it. An error where no back end serves the
// target.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/target_choice.h"
#include "base/result.h"
#include "codegen/back_ends/back_ends.h"
#include "codegen/c/emit_c.h"
#include "codegen/llvm/compile.h"
#include "lower/pipeline.h"

namespace tilewright::app {

struct LowerOptions {
  std::string what{};        // an operator or a name of the suite
  std::string trace_file{};  // text or JSON; empty: the loops as they are
  TargetChoice target{};
  std::vector<std::string> disabled{};  // passes to leave out
  bool source = false;                  // C source
  bool llvm = false;                    // LLVM's IR
  bool assembly = false;
  std::span<const codegen::BackEnd> back_ends = codegen::all_back_ends();
};

struct Lowered {
  std::string tree;  // the LoopTree
  std::vector<lower::PassReport> passes;
  std::string ir;  // after the last pass
  codegen::CSource c;
  std::vector<codegen::PhaseTime> phases;  // of LLVM
  std::string llvm, assembly;
  Status status = {};  // why what comes after the passes is missing
};

Result<Lowered> lower_operator(const LowerOptions& options);

}  // namespace tilewright::app
