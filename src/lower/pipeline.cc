#include "lower/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/check.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "lower/build_nest.h"
#include "lower/device_faults.h"
#include "lower/drop_zero_terms.h"
#include "lower/expand_functions.h"
#include "lower/flatten.h"
#include "lower/form_fma.h"
#include "lower/hoist_accumulators.h"
#include "lower/hoist_conditions.h"
#include "lower/hoist_indices.h"
#include "lower/memory_scope.h"
#include "lower/promote_registers.h"
#include "lower/simplify.h"
#include "lower/tensorize.h"
#include "lower/transpose_copies.h"
#include "lower/unroll.h"
#include "lower/vectorize.h"
#include "lower/widen_reductions.h"
#include "schedule/intrinsics.h"
#include "schedule/launch_limits.h"

namespace tilewright::lower {
namespace {

constexpr bool kNeedsFlat = true;

constexpr std::array kCpuPasses = {
    Pass{"flatten", flatten},
    Pass{"tensorize", tensorize, kNeedsFlat},
    Pass{"hoist_conditions", hoist_conditions},
    Pass{"form_fma", form_fma},
    Pass{"expand_functions", expand_functions},
    Pass{"vectorize", vectorize, kNeedsFlat},
    Pass{"unroll", unroll},
    Pass{"drop_zero_terms", drop_zero_terms},
    Pass{"promote_registers", promote_registers, kNeedsFlat},
    Pass{"widen_reductions", widen_reductions, kNeedsFlat},
    Pass{"hoist_accumulators", hoist_accumulators, kNeedsFlat},
    Pass{"transpose_copies", transpose_copies, kNeedsFlat},
    Pass{"hoist_indices", hoist_indices, kNeedsFlat},
};

double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// The names of the passes that `chosen` accepts.
template <class Chosen>
std::string names_of_passes(std::span<const Pass> passes, const Chosen& chosen) {
  std::string names;
  for (const Pass& pass : passes) {
    if (chosen(pass)) names += fmt::format("{}{}", names.empty() ? "" : ", ", pass.name);
  }
  return names;
}

Status check_disabled(std::span<const Pass> passes, const std::vector<std::string>& disabled) {
  const auto is_disabled = [&](const char* name) { return std::ranges::count(disabled, name) > 0; };
  for (const std::string& name : disabled) {
    if (!names_of_passes(passes, [&](const Pass& pass) { return name == pass.name; }).empty())
      continue;
    return fail(ErrorKind::BadInput,
                fmt::format("there is no pass '{}'; passes are {}", name,
                            names_of_passes(passes, [](const Pass&) { return true; })));
  }
  if (!is_disabled("flatten")) return {};
  const std::string left = names_of_passes(
      passes, [&](const Pass& pass) { return pass.needs_flat && !is_disabled(pass.name); });
  if (left.empty()) return {};
  return fail(ErrorKind::BadInput,
              fmt::format("without the pass flatten, the passes that require one index per access "
                          "must be disabled, too: {}",
                          left));
}

// exp, log, etc. have only our implementation, within its ulp bounds; there is no exact fallback.
Status check_permissions(const Workload& workload) {
  for (te::OpId op = 0; op < workload.dag->ops().size(); ++op) {
    if (workload.permissions.approximate || !workload.dag->access(op).has_expensive_call) continue;
    return fail(ErrorKind::Unsupported,
                fmt::format("{} calls a function that we compute within some ulp, which this "
                            "workload does not allow (permission approximate)",
                            workload.dag->op(op).name.text()));
  }
  return {};
}

Status check_bindings(const schedule::LoopTree& tree, const Target& target) {
  const std::optional<schedule::LaunchFault> fault = schedule::launch_fault(tree, target);
  if (!fault) return {};
  const std::string& stage = tree.stage(fault->stage).name.text();
  if (fault->loop == schedule::kNone) {
    return fail(ErrorKind::Unsupported,
                fmt::format("the loops in {} are bound to {} threads of a block; {} has {}", stage,
                            fault->wanted, print_target(target), fault->limit));
  }
  const schedule::LoopVar& var = tree.var(fault->loop);
  const std::string loop = fmt::format("loop {} of {}", var.name.text(), stage);
  if (!target.has_thread_axes()) return fail(ErrorKind::Unsupported, axis_fault(loop, var.bound));
  return fail(ErrorKind::Unsupported,
              fmt::format("{} is bound to {} and takes {} values; {} has {}", loop,
                          word_of(var.bound), fault->wanted, print_target(target), fault->limit));
}

// Requires a target with the instructions, and float sums that may be contracted, as the
// instructions do.
Status check_intrinsics(const Workload& workload, const Target& target,
                        const schedule::LoopTree& tree) {
  for (const schedule::TensorizedLoop& loop : tree.tensorized) {
    const schedule::TensorIntrinsic& intrinsic = tree.intrinsic_of(loop);
    const std::string& stage = tree.stage(loop.stage).name.text();
    if (!target.has(intrinsic.capability)) {
      return fail(
          ErrorKind::Unsupported,
          fmt::format("{} is tensorized by {}, which needs {}; the target {} "
                      "does not have it",
                      stage, loop.intrinsic.text(), requirement_text(intrinsic.capability, target),
                      print_target(target)));
    }
    if (ir::is_float(intrinsic.fold().body[0].type()) && !workload.permissions.contract) {
      return fail(ErrorKind::Unsupported,
                  fmt::format("{} is tensorized by {}, which rounds a product and its addition "
                              "once; this workload does not allow that (permission contract)",
                              stage, loop.intrinsic.text()));
    }
  }
  return {};
}

// Runs a pass and handles the result as the options request.
template <class Change>
void run_step(ir::Function& function, const char* name, const LowerOptions& options,
              const Change& change) {
  if (options.on_pass) options.on_pass(name);
  const ir::Stmt before = function.body;
  const double start = cpu_milliseconds();
  change();
  const double elapsed = cpu_milliseconds() - start;
  const bool changed = !function.body.same_as(before);
  if (options.report != nullptr) {
    const bool text = options.report_text && changed;
    options.report->push_back({name, elapsed, changed, text ? ir::to_string(function) : ""});
  }
  if (!options.verify) return;
  const Status status = ir::verify(function);
  CHECK(status.has_value(), "after {}: {}\n{}", name, status.error().message,
        ir::to_string(function));
}

}  // namespace

std::span<const Pass> cpu_passes() { return kCpuPasses; }

void run_passes(ir::Function& function, std::span<const Pass> passes, const PassContext& context,
                const LowerOptions& options) {
  for (const Pass& pass : passes) {
    if (std::ranges::count(options.disabled, pass.name) > 0) continue;
    run_step(function, pass.name, options, [&] { pass.run(function, context); });
  }
}

Result<ir::Function> lower(const Workload& workload, const Target& target,
                           const schedule::LoopTree& tree, const schedule::Trace& trace,
                           const LowerOptions& options) {
  TRY(check_disabled(options.passes, options.disabled));
  TRY(check_permissions(workload));
  TRY(check_bindings(tree, target));
  TRY(check_scopes(tree, target));
  TRY(check_intrinsics(workload, target, tree));
  ir::Function function;
  run_step(function, "build_nest", options, [&] {
    function = build_nest(workload, target, tree, trace);
    if (options.finite_constants) return;
    for (ir::Buffer& buffer : function.buffers) buffer.finite = false;
  });
  const PassContext context{
      .target = target, .permissions = workload.permissions, .intrinsics = tree.intrinsics};
  run_passes(function, options.passes, context, options);
  return function;
}

}  // namespace tilewright::lower
