// lower_operator: lowers an operator under a schedule: IR after each pass of the target's back end,
// and on request the text forms of its code (codegen/back_end.h). An error if no back end serves
// the target.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/target_choice.h"
#include "base/result.h"
#include "deploy/back_end_tables.h"
#include "lower/pipeline.h"

namespace tilewright::app {

struct LowerOptions {
  std::string what{};        // an operator or a name of the suite
  std::string trace_file{};  // text or JSON; empty: the unscheduled loops
  TargetChoice target{};
  std::vector<std::string> disabled{};  // names of passes to turn off
  std::vector<std::string> texts{};     // names of text forms: `llvm`
  deploy::BackEndTables tables{};
};

struct LoweredText {
  std::string name;  // of the form
  std::string back_end;
  std::string text;
  std::vector<codegen::PhaseTime> phases;  // of the first text of a back end, if it has phases
};

struct Lowered {
  std::string tree;  // the LoopTree
  std::vector<lower::PassReport> passes;
  std::string ir;  // after the last pass
  std::vector<LoweredText> texts;
  Status status = {};  // why texts are missing
};

struct TextName {
  std::string_view name, purpose;
};
// The text forms of the built-in back ends, for help texts.
std::vector<TextName> text_names();

// An error if nothing was lowered.
Result<Lowered> lower_operator(const LowerOptions& options);

}  // namespace tilewright::app
