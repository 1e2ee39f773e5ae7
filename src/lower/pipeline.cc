#include "lower/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/check.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "lower/build_nest.h"
#include "lower/drop_zero_terms.h"
#include "lower/expand_functions.h"
#include "lower/flatten.h"
#include "lower/form_fma.h"
#include "lower/hoist_accumulators.h"
#include "lower/hoist_conditions.h"
#include "lower/hoist_indices.h"
#include "lower/promote_registers.h"
#include "lower/simplify.h"
#include "lower/tensorize.h"
#include "lower/unroll.h"
#include "lower/vectorise.h"
#include "lower/widen_reductions.h"
#include "schedule/intrinsics.h"

namespace tilewright::lower {
namespace {

#ifdef TILEWRIGHT_VERIFY
constexpr bool kVerify = true;
#else
constexpr bool kVerify = false;
#endif

constexpr std::array kPasses = {
    Pass{"flatten", flatten},
    Pass{"tensorize", tensorize},
    Pass{"hoist_conditions", hoist_conditions},
    Pass{"form_fma", form_fma},
    Pass{"expand_functions", expand_functions},
    Pass{"vectorise", vectorise},
    Pass{"unroll", unroll},
    Pass{"drop_zero_terms", drop_zero_terms},
    Pass{"promote_registers", promote_registers},
    Pass{"widen_reductions", widen_reductions},
    Pass{"hoist_accumulators", hoist_accumulators},
    Pass{"hoist_indices", hoist_indices},
};

double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

Status check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool known = std::any_of(kPasses.begin(), kPasses.end(),
                                   [&](const Pass& pass) { return name == pass.name; });
    if (known) continue;
    std::string all;
    for (const Pass& pass : kPasses) all += fmt::format("{}{}", all.empty() ? "" : ", ", pass.name);
    return fail(ErrorKind::BadInput,
                fmt::format("there is no pass '{}'; passes are {}", name, all));
  }
  return {};
}

// exp and the like are ours, within their ulp; there is no exact one to fall back to.
Status check_licences(const Workload& workload) {
  for (te::OpId op = 0; op < workload.dag->ops().size(); ++op) {
    if (workload.licences.approximate || !workload.dag->access(op).has_expensive_call) continue;
    return fail(ErrorKind::Unsupported,
                fmt::format("{} calls a function that we compute within some ulp, which this "
                            "workload does not allow (licence approximate)",
                            workload.dag->op(op).name.text()));
  }
  return {};
}

Status check_bindings(const schedule::LoopTree& tree) {
  for (const schedule::LoopVar& var : tree.vars) {
    if (!var.is_loop() || var.bound == schedule::ThreadAxis::None) continue;
    return fail(ErrorKind::Unsupported,
                fmt::format("loop {} of {} is bound to {}, which only a GPU has", var.name.text(),
                            tree.stage(var.stage).name.text(), schedule::word_of(var.bound)));
  }
  return {};
}

// A target that has the instructions; sums of floats that may be contracted, as they do.
Status check_intrinsics(const Workload& workload, const Target& target,
                        const schedule::LoopTree& tree) {
  for (const schedule::TensorizedLoop& loop : tree.tensorized) {
    const schedule::TensorIntrinsic& intrinsic = *schedule::find_intrinsic(loop.intrinsic);
    const std::string& stage = tree.stage(loop.stage).name.text();
    if (!target.has(intrinsic.feature)) {
      return fail(ErrorKind::Unsupported,
                  fmt::format("{} is tensorized by {}, which needs the CPU feature {}; the target "
                              "{} does not have it",
                              stage, loop.intrinsic.text(), feature_text(intrinsic.feature),
                              print_target(target)));
    }
    if (ir::is_float(intrinsic.fold().body[0].type()) && !workload.licences.contract) {
      return fail(ErrorKind::Unsupported,
                  fmt::format("{} is tensorized by {}, which rounds a product and its addition "
                              "once; this workload does not allow that (licence contract)",
                              stage, loop.intrinsic.text()));
    }
  }
  return {};
}

void verify_after(const ir::Function& function, const char* pass) {
  if (!kVerify) return;
  const Status status = ir::verify(function);
  CHECK(status.has_value(), "after {}: {}\n{}", pass, status.error().message,
        ir::to_string(function));
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

Result<ir::Function> lower(const Workload& workload, const Target& target,
                           const schedule::LoopTree& tree, const schedule::Trace& trace,
                           const LowerOptions& options) {
  if (Status status = check_names(options.disabled); !status) {
    return std::unexpected(status.error());
  }
  if (Status status = check_licences(workload); !status) return std::unexpected(status.error());
  if (Status status = check_bindings(tree); !status) return std::unexpected(status.error());
  if (Status status = check_intrinsics(workload, target, tree); !status) {
    return std::unexpected(status.error());
  }
  double start = cpu_milliseconds();
  ir::Function function = build_nest(workload, target, tree, trace);
  const auto report = [&](const char* pass, bool changed) {
    if (options.report == nullptr) return;
    const double elapsed = cpu_milliseconds() - start;
    const bool text = options.report_text && changed;
    options.report->push_back({pass, elapsed, changed, text ? ir::to_string(function) : ""});
  };
  report("build_nest", true);
  verify_after(function, "build_nest");

  const PassContext context{.target = target, .licences = workload.licences};
  for (const Pass& pass : kPasses) {
    const auto& disabled = options.disabled;
    if (std::find(disabled.begin(), disabled.end(), pass.name) != disabled.end()) continue;
    const ir::Stmt before = function.body;
    start = cpu_milliseconds();
    pass.run(function, context);
    report(pass.name, !function.body.same_as(before));
    verify_after(function, pass.name);
  }
  return function;
}

}  // namespace tilewright::lower
