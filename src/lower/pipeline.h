// Lowering: LoopTree -> loop IR that a back end can print instruction by instruction. The passes
// are one flat list, which each back end chooses (codegen/back_end.h); that of the CPUs is in
// pipeline.cc. Each pass can be switched off by name, is timed, and in dev builds its result is
// verified.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lower/pass.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"

namespace tilewright::lower {

std::span<const Pass> cpu_passes();  // of the back ends for CPUs

struct PassReport {
  std::string pass;
  double milliseconds = 0;  // of CPU time
  bool changed = false;
  std::string text;  // the IR after it, when asked for and changed
};

#ifdef TILEWRIGHT_VERIFY
inline constexpr bool kVerifyPasses = true;
#else
inline constexpr bool kVerifyPasses = false;
#endif

struct LowerOptions {
  std::span<const Pass> passes = cpu_passes();
  std::vector<std::string> disabled = {};     // passes to leave out
  std::vector<PassReport>* report = nullptr;  // out: build_nest first, then each pass
  bool report_text = false;
  std::function<void(std::string_view pass)> on_pass = {};  // told before each, build_nest too
  bool verify = kVerifyPasses;  // the IR after each pass: one that does not verify is a CHECK
};

// An error for a pass name in `disabled` that does not exist or that a pass not named there relies
// on, for a function like exp where the workload lacks the permission `approximate`, and for a
// tensor intrinsic that the target lacks.
Result<ir::Function> lower(const Workload& workload, const Target& target,
                           const schedule::LoopTree& tree, const schedule::Trace& trace,
                           const LowerOptions& options = {});

// The part of it behind build_nest: `passes` in order, but for those that are disabled.
void run_passes(ir::Function& function, std::span<const Pass> passes, const PassContext& context,
                const LowerOptions& options);

}  // namespace tilewright::lower
