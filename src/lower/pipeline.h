// lower: LoopTree -> loop IR that a back end can print instruction by instruction. Each back end
// selects a flat list of passes (codegen/back_end.h); the list for CPUs is in pipeline.cc. Each
// pass can be turned off by name and is timed; in dev builds its result is verified.
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

std::span<const Pass> cpu_passes();  // for CPU back ends

struct PassReport {
  std::string pass;
  double milliseconds = 0;  // CPU time
  bool changed = false;
  std::string text;  // the IR after it, if requested and changed
};

#ifdef TILEWRIGHT_VERIFY
inline constexpr bool kVerifyPasses = true;
#else
inline constexpr bool kVerifyPasses = false;
#endif

struct LowerOptions {
  std::span<const Pass> passes = cpu_passes();
  std::vector<std::string> disabled = {};  // names of passes to skip
  // False: a constant of the workload contains infinity or NaN, so no buffer is
  // ir::Buffer::finite.
  bool finite_constants = true;
  std::vector<PassReport>* report = nullptr;  // out: build_nest first, then each pass
  bool report_text = false;
  // Called before each pass and before build_nest.
  std::function<void(std::string_view pass)> on_pass = {};
  bool verify = kVerifyPasses;  // verify the IR after each pass; a failure is a CHECK
};

// An error if a name in `disabled` is unknown or another enabled pass requires it, if a function
// such as exp needs the permission `approximate` and it is not given, or if the target lacks a
// tensor intrinsic.
Result<ir::Function> lower(const Workload& workload, const Target& target,
                           const schedule::LoopTree& tree, const schedule::Trace& trace,
                           const LowerOptions& options = {});

// The part after build_nest: runs `passes` in order, except the disabled ones.
void run_passes(ir::Function& function, std::span<const Pass> passes, const PassContext& context,
                const LowerOptions& options);

}  // namespace tilewright::lower
