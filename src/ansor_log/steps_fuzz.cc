// Any bytes as the steps of a log of Ansor's: an error, or a trace that applies.

#include <cstdlib>
#include <string_view>

#include "ansor_log/steps.h"
#include "base/json.h"
#include "schedule/apply.h"
#include "task/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tilewright;  // NOLINT: one function
  static const Workload workload = *parse_workload("conv2d:h=6,w=6,ci=3,co=4,kernel=3,pad=1");
  static const schedule::LoopTree initial = *schedule::initial_tree(workload);
  const Result<Json> steps = parse_json({reinterpret_cast<const char*>(data), size});
  if (!steps) return 0;
  const Result<schedule::Trace> trace = ansor_log::trace_of_steps(*steps, initial);
  if (trace && !apply_or_explain(initial, *trace)) std::abort();
  return 0;
}
