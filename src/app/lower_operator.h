// lower_operator: lowers an operator under a schedule: IR after each pass of the target's back end,
// and on request C source, LLVM IR and assembly. An error if no back end serves the target.
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
  std::string trace_file{};  // text or JSON; empty: the unscheduled loops
  TargetChoice target{};
  std::vector<std::string> disabled{};  // names of passes to turn off
  bool source = false;                  // also print C source
  bool llvm = false;                    // also print LLVM IR
  bool assembly = false;
  std::span<const codegen::BackEnd> back_ends = codegen::all_back_ends();
};

struct Lowered {
  std::string tree;  // the LoopTree
  std::vector<lower::PassReport> passes;
  std::string ir;  // after the last pass
  codegen::CSource c;
  std::vector<codegen::PhaseTime> phases;  // times of the LLVM phases
  std::string llvm, assembly;
  Status status = {};  // why the results after the passes are missing
};

Result<Lowered> lower_operator(const LowerOptions& options);

}  // namespace tilewright::app
