#include "deploy/compile_model.h"

#include <fmt/format.h>

#include <atomic>
#include <cctype>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/worker_team.h"
#include "codegen/back_ends/build_kernel.h"
#include "codegen/c/back_end.h"
#include "deploy/pack_constants.h"
#include "lower/pipeline.h"
#include "schedule/apply.h"
#include "te/shape_of.h"

namespace tilewright::deploy {
namespace {

using graph::Group;
using graph::ValueId;

// Converts a name to a C identifier.
std::string identifier(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    text += letter < 128 && std::isalnum(letter) != 0 ? c : '_';
  }
  const bool starts_well = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0;
  return starts_well ? text : "model_" + text;
}

int64_t tuned_ns_of(const Choice& choice) {
  return choice.record ? std::llround(choice.record->verdict.latency_ns) : 0;
}

struct Built {
  ir::Function function;
  runtime::Artifact artifact;
  std::vector<layout::Layout> layouts;  // of the constants among its operands; otherwise empty
};

class Compiler {
 public:
  Compiler(const ModelPlan& plan, std::span<const Choice> choices, const Target& target,
           const CompileOptions& options)
      : plan_(plan), choices_(choices), target_(target), options_(options) {
    jobs_ = options.jobs > 0 ? options.jobs
                             : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    program_.name = identifier(options.name);
    program_.target = target;
  }

  Result<Program> compile() {
    describe_ends();
    TRY(build_kernels());
    add_steps();
    program_.constants = packer_.pack(jobs_);
    program_.arena_bytes = plan_.memory.arena_bytes;
    if (options_.c_source) TRY(write_c());
    return std::move(program_);
  }

 private:
  void describe_ends() {
    const graph::Graph& graph = plan_.graph;
    for (const ValueId id : graph.inputs()) {
      program_.inputs.push_back({.name = graph.value(id).name, .type = graph.value(id).type});
    }
    const std::vector<std::string>& names = graph.output_names();
    for (size_t k = 0; k < graph.outputs().size(); ++k) {
      const graph::Value& value = graph.value(graph.outputs()[k]);
      program_.outputs.push_back(
          {.name = k < names.size() ? names[k] : value.name, .type = value.type});
    }
  }

  const Group& first_group(size_t kernel) const {
    return plan_.partition.groups[plan_.partition.kernels[kernel].groups.front()];
  }

  // The constant behind a value of a group, or empty; and its offset in the constant.
  const graph::Constant& constant_of(ValueId value, int64_t* begin) const {
    static const graph::Constant none;
    const graph::ArenaSlot& place = plan_.memory.places[value];
    if (place.home != graph::Home::Constant) return none;
    *begin = place.offset;
    return plan_.graph.value(plan_.memory.constants[static_cast<size_t>(place.index)]).constant;
  }

  // Lowering drops terms that multiply a constant by 0, which requires finite constants
  // (docs/decisions.md): a kernel with other constants is compiled without that pass.
  bool has_finite_constants(size_t kernel) const {
    for (const size_t group : plan_.partition.kernels[kernel].groups) {
      const Group& one = plan_.partition.groups[group];
      for (size_t k = 0; k < one.arguments.size(); ++k) {
        if (one.workload.operands[k].role != Role::Constant) continue;
        int64_t begin = 0;
        const graph::Constant& constant = constant_of(one.arguments[k], &begin);
        if (!constant.empty() && !is_finite(constant)) return false;
      }
    }
    return true;
  }

  Result<const codegen::BackEnd*> back_end_for_kernels() const {
    if (options_.artifacts) return codegen::back_end_for(target_, options_.back_ends);
    return TRY(codegen::text_row(codegen::kCSourceText, target_, options_.back_ends)).back_end;
  }

  Result<Built> build(size_t kernel) const {
    const Workload& workload = choices_[kernel].workload != nullptr ? *choices_[kernel].workload
                                                                    : first_group(kernel).workload;
    const schedule::LoopTree initial = TRY(schedule::initial_tree(workload));
    const schedule::Trace& trace = choices_[kernel].trace;
    const schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));

    lower::LowerOptions lower_options;
    if (!has_finite_constants(kernel)) lower_options.disabled.emplace_back("drop_zero_terms");
    const codegen::BackEnd& back_end = *TRY(back_end_for_kernels());
    Built built;
    built.function = TRY(codegen::lower_for(back_end, {.workload = workload, .target = target_},
                                            tree, trace, lower_options));
    built.function.name = fmt::format("{}_k{}", program_.name, kernel);
    if (options_.artifacts) {
      built.artifact = TRY(codegen::compile(back_end, built.function, target_));
    }
    for (const Operand& operand : workload.operands) {
      const bool constant = operand.role == Role::Constant;
      built.layouts.push_back(
          constant ? schedule::layout_of(tree, static_cast<schedule::BufferIndex>(operand.tensor))
                   : layout::Layout{});
    }
    return built;
  }

  // Builds all kernels, several at once; if several fail, the first error is returned.
  Status build_kernels() {
    const size_t count = plan_.partition.kernels.size();
    std::vector<Result<Built>> results(count, fail(ErrorKind::Build, "not built"));
    std::vector<std::exception_ptr> faults(count);
    std::atomic<size_t> next = 0;
    std::mutex progress_mutex;
    size_t done = 0;
    WorkerTeam team(std::max(1, std::min(jobs_, static_cast<int>(count))));
    team.run([&](int) {
      for (size_t k = next.fetch_add(1); k < count; k = next.fetch_add(1)) {
        if (options_.stop.requested()) return;
        try {
          results[k] = build(k);
        } catch (...) {
          faults[k] = std::current_exception();
        }
        if (!options_.progress) continue;
        const std::lock_guard lock(progress_mutex);
        options_.progress(++done, count);
      }
    });
    if (options_.stop.requested()) return fail(ErrorKind::Io, "stopped before all was compiled");
    for (size_t k = 0; k < count; ++k) {
      if (faults[k]) std::rethrow_exception(faults[k]);
      if (!results[k]) {
        return fail(results[k].error().kind, fmt::format("kernel '{}': {}", first_group(k).title,
                                                         results[k].error().message));
      }
      program_.kernels.push_back({.artifact = std::move(results[k]->artifact),
                                  .title = first_group(k).title,
                                  .tuned_ns = tuned_ns_of(choices_[k])});
      functions_.push_back(std::move(results[k]->function));
      layouts_.push_back(std::move(results[k]->layouts));
    }
    return {};
  }

  void add_steps() {
    std::vector<size_t> kernel_of(plan_.partition.groups.size());
    for (size_t k = 0; k < plan_.partition.kernels.size(); ++k) {
      for (const size_t group : plan_.partition.kernels[k].groups) kernel_of[group] = k;
    }
    for (size_t g = 0; g < kernel_of.size(); ++g) {
      const Group& group = plan_.partition.groups[g];
      Step step{.kernel = kernel_of[g], .arguments = {}, .title = group.title};
      for (size_t k = 0; k < group.arguments.size(); ++k) {
        step.arguments.push_back(argument_of(group, kernel_of[g], k));
      }
      program_.steps.push_back(std::move(step));
    }
  }

  Argument argument_of(const Group& group, size_t kernel, size_t operand) {
    const ValueId value = group.arguments[operand];
    const graph::ArenaSlot& place = plan_.memory.places[value];
    if (place.home != graph::Home::Constant) {
      return {.home = place.home, .index = place.index, .offset = place.offset};
    }
    int64_t begin = 0;
    const graph::Constant& constant = constant_of(value, &begin);
    const Operand& info = group.workload.operands[operand];
    const std::vector<int64_t> shape = shape_of(group.workload.dag->tensor(info.tensor));
    const layout::Layout layout =
        info.role == Role::Constant ? layouts_[kernel][operand] : layout::Layout::row_major(shape);
    return {.home = graph::Home::Constant,
            .index = 0,
            .offset = packer_.place(constant, begin, shape, layout)};
  }

  Status write_c() {
    program_.c = TRY(
        codegen::emit_c(functions_, target_, {.header_name = program_.name + ".h", .pool = false}));
    return {};
  }

  const ModelPlan& plan_;
  std::span<const Choice> choices_;
  Target target_;
  const CompileOptions& options_;
  int jobs_ = 1;
  Program program_;
  std::vector<ir::Function> functions_;
  std::vector<std::vector<layout::Layout>> layouts_;  // per kernel and operand
  ConstantPacker packer_;
};

}  // namespace

Result<Program> compile_model(const ModelPlan& plan, std::span<const Choice> choices,
                              const Target& target, const CompileOptions& options) {
  CHECK(choices.size() == plan.partition.kernels.size(), "{} choices for {} kernels",
        choices.size(), plan.partition.kernels.size());
  return Compiler(plan, choices, target, options).compile();
}

}  // namespace tilewright::deploy
