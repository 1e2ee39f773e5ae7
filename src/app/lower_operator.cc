#include "app/lower_operator.h"

#include "base/file.h"
#include "base/json.h"
#include "codegen/back_ends/build_kernel.h"
#include "ir/print.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::app {
namespace {

constexpr int64_t kMaxTraceBytes = int64_t{16} << 20;

Result<schedule::Trace> read_trace(const std::string& file) {
  if (file.empty()) return schedule::Trace{};
  const std::string text = TRY(read_file(file, kMaxTraceBytes));
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && text[first] == '[';
  Result<schedule::Trace> trace = schedule::trace_from_text(json ? "" : text);
  if (json) {
    Result<Json> parsed = parse_json(text);
    if (!parsed) return fail(ErrorKind::BadInput, file + ": " + parsed.error().message);
    trace = schedule::trace_from_json(*parsed);
  }
  if (!trace) return fail(ErrorKind::BadInput, file + ": " + trace.error().message);
  return trace;
}

// The first row that makes code for exactly this target. LLVM serves x86-64 from AVX2 on, C the
// rest.
Result<const codegen::BackEnd*> first_able(const Target& target,
                                           std::span<const codegen::BackEnd> rows) {
  for (const codegen::BackEnd& row : rows) {
    if (row.makes_artifacts() && row.serves(target) && row.check(target)) return &row;
  }
  return codegen::back_end_for(target, rows);  // its error says what is missing
}

Status generate(const LowerOptions& options, const ir::Function& function, const Target& target,
                Lowered* lowered) {
  if (options.source) lowered->c = TRY(codegen::emit_c({&function, 1}, target));
  if (!options.llvm && !options.assembly) return {};
  TRY(codegen::compile_llvm(function, target,
                            {.llvm_ir = options.llvm ? &lowered->llvm : nullptr,
                             .assembly = options.assembly ? &lowered->assembly : nullptr,
                             .phases = &lowered->phases}));
  return {};
}

}  // namespace

Result<Lowered> lower_operator(const LowerOptions& options) {
  const Workload workload = TRY(parse_workload(options.what));
  const schedule::Trace trace = TRY(read_trace(options.trace_file));
  const Target target = TRY(target_of(options.target, 1));
  const codegen::BackEnd& back_end = *TRY(first_able(target, options.back_ends));
  const schedule::LoopTree initial = TRY(schedule::initial_tree(workload));
  const schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));
  Lowered lowered;
  lowered.tree = tree.to_string();
  const ir::Function function = TRY(codegen::lower_for(
      back_end, {.workload = workload, .target = target}, tree, trace,
      {.disabled = options.disabled, .report = &lowered.passes, .report_text = true}));
  lowered.ir = ir::to_string(function);
  lowered.status = generate(options, function, target, &lowered);
  return lowered;
}

}  // namespace tilewright::app
