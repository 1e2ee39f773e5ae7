#include "app/lower_operator.h"

#include <algorithm>

#include "app/model_choice.h"
#include "app/traces_file.h"
#include "codegen/back_ends/build_kernel.h"
#include "ir/print.h"
#include "schedule/apply.h"

namespace tilewright::app {
namespace {

// A name that no back end has is a mistake; the others may still serve other targets.
Status check_names(const LowerOptions& options, const Target& target) {
  for (const std::string& name : options.texts) {
    const auto row = codegen::text_row(name, target, options.tables.back_ends);
    if (!row && row.error().kind == ErrorKind::BadInput) return std::unexpected(row.error());
  }
  return {};
}

// One text after the other; an error ends it. A form of another back end than the one whose passes
// made `function` needs its own passes.
Status print_texts(const LowerOptions& options, const Task& task, const schedule::LoopTree& tree,
                   const schedule::Trace& trace, const codegen::BackEnd& back_end,
                   const ir::Function& function, Lowered* lowered) {
  for (const std::string& name : options.texts) {
    const codegen::TextRow row =
        TRY(codegen::text_row(name, task.target, options.tables.back_ends));
    LoweredText text{
        .name = name, .back_end = std::string(row.back_end->name), .text = "", .phases = {}};
    const bool is_first = std::ranges::none_of(lowered->texts, [&](const LoweredText& before) {
      return before.back_end == text.back_end;
    });
    const codegen::CompileOptions with{.phases = is_first ? &text.phases : nullptr};
    const bool is_other = row.back_end->name != back_end.name;
    ir::Function own;
    if (is_other) {
      own =
          TRY(codegen::lower_for(*row.back_end, task, tree, trace, {.disabled = options.disabled}));
    }
    text.text = TRY(row.form->print(is_other ? own : function, task.target, with));
    lowered->texts.push_back(std::move(text));
  }
  return {};
}

}  // namespace

std::vector<TextName> text_names() {
  std::vector<TextName> names;
  for (const codegen::BackEnd& row : codegen::all_back_ends()) {
    for (const codegen::TextForm& form : row.texts) names.push_back({form.name, form.purpose});
  }
  return names;
}

Result<Lowered> lower_operator(const LowerOptions& options) {
  Workload workload = TRY(operator_named(options.what));
  schedule::Trace trace;
  if (!options.trace_file.empty()) trace = TRY(read_trace_file(options.trace_file));
  const Target target = TRY(target_of(options.target, 1));
  const codegen::BackEnd& back_end = *TRY(codegen::lowering_for(target, options.tables.back_ends));
  const Task task{.workload = std::move(workload), .target = target};
  TRY(check_names(options, target));
  const schedule::LoopTree initial = TRY(schedule::initial_tree(task.workload));
  const schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));
  Lowered lowered;
  lowered.tree = tree.to_string();
  const ir::Function function = TRY(codegen::lower_for(
      back_end, task, tree, trace,
      {.disabled = options.disabled, .report = &lowered.passes, .report_text = true}));
  lowered.ir = ir::to_string(function);
  lowered.status = print_texts(options, task, tree, trace, back_end, function, &lowered);
  return lowered;
}

}  // namespace tilewright::app
