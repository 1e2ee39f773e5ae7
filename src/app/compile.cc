#include "app/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/file.h"
#include "deploy/export.h"
#include "deploy/export_c.h"
#include "graph/winograd_error.h"

namespace tilewright::app {
namespace {

using Export = Status (*)(const deploy::Program&, const std::filesystem::path&,
                          const deploy::ExportOptions&);

// By the extension of the file.
Result<Export> export_of(const std::filesystem::path& output) {
  if (output.extension() == ".so") return deploy::export_shared;
  if (output.extension() == ".o") return deploy::export_object;
  if (output.extension() == ".c") return deploy::export_c;
  return fail(
      ErrorKind::BadInput,
      fmt::format("output {}: the name ends in .so (a library), .o (an object) or .c (source)",
                  output.string()));
}

std::vector<UntunedTask> untuned_of(const ChosenModel& model, const Target& target) {
  std::vector<UntunedTask> untuned;
  const graph::Partition& partition = model.plan.partition;
  for (size_t k = 0; k < model.choices.size(); ++k) {
    if (model.choices[k].record) continue;
    const graph::Group& group = partition.groups[partition.kernels[k].groups.front()];
    untuned.push_back({.key = Task{.workload = group.workload, .target = target}.key(),
                       .title = group.title,
                       .note = model.choices[k].note});
  }
  return untuned;
}

// Equal weights have equal bounds, which are computed once.
std::vector<WinogradStep> winograd_steps(const deploy::ModelPlan& plan, const Target& target) {
  std::map<graph::ValueId, graph::WinogradError> errors;
  std::vector<WinogradStep> steps;
  for (const graph::Group& group : plan.partition.groups) {
    for (const graph::NodeId id : group.nodes) {
      const graph::Node& node = plan.graph.node(id);
      if (node.op != "conv_winograd") continue;
      const graph::ValueId weights = node.inputs[1];
      const auto [error, added] = errors.try_emplace(weights);
      if (added) error->second = graph::winograd_error(plan.graph.value(weights).constant);
      steps.push_back({.key = Task{.workload = group.workload, .target = target}.key(),
                       .title = group.title,
                       .bound = error->second.bound,
                       .direct = error->second.direct});
    }
  }
  return steps;
}

}  // namespace

const WinogradStep* CompileOutcome::worst_winograd() const {
  const auto worst = std::ranges::max_element(winograd, {}, &WinogradStep::bound);
  return worst != winograd.end() ? &*worst : nullptr;
}

Result<CompileOutcome> compile(const CompileOptions& options, CompileListener& listener,
                               const StopToken& stop) {
  const double begin_s = seconds_now();
  const Export write = TRY(export_of(options.output));
  if (!options.name.empty() && deploy::symbol_of(options.name) != options.name) {
    return fail(ErrorKind::BadInput,
                fmt::format("name '{}': symbols consist of letters, digits and underscores, and do "
                            "not begin with a digit",
                            options.name),
                {{"name", ""}});
  }
  const bool is_source = options.output.extension() == ".c";
  const Target target = TRY(is_source ? source_target_of(options.target, options.tables)
                                      : compiled_target_of(options.target, options.tables));
  if (!is_source) {
    TRY(deploy::check_linkable(*TRY(codegen::back_end_for(target, options.tables.back_ends))));
  }
  TRY(check_writable(options.output));  // before any long work
  Result<ChosenModel> chosen =
      choose_model(options.model, target, options.records, options.tables, stop);
  CompileOutcome outcome;
  outcome.stopped = !chosen && stop.requested();
  if (outcome.stopped) return outcome;
  const ChosenModel model = TRY(std::move(chosen));
  outcome.untuned = untuned_of(model, target);
  outcome.kernels = model.choices.size();
  if (options.require_tuned && !outcome.untuned.empty()) return outcome;
  deploy::CompileOptions compile;
  compile.name = options.name.empty() ? options.output.stem().string() : options.name;
  compile.c_source = is_source;
  compile.artifacts = !is_source;
  compile.progress = [&](size_t done, size_t all) { listener.on_kernel(done, all); };
  compile.stop = stop;
  compile.back_ends = options.tables.back_ends;
  Result<deploy::Program> compiled =
      deploy::compile_model(model.plan, model.choices, target, compile);
  outcome.stopped = !compiled && stop.requested();
  if (outcome.stopped) return outcome;
  outcome.winograd = winograd_steps(model.plan, target);
  const deploy::Program program = TRY(std::move(compiled));
  TRY(write(program, options.output, {.external_weights = options.external_weights}));
  outcome.file_bytes = TRY(size_of_file(options.output));
  outcome.written = true;
  outcome.steps = program.steps.size();
  outcome.constant_bytes = program.constants.size();
  outcome.arena_bytes = program.arena_bytes;
  outcome.sum_bytes = model.plan.memory.sum_bytes;
  outcome.seconds = seconds_now() - begin_s;
  return outcome;
}

}  // namespace tilewright::app
