// Any bytes as a trace, in its text form and in its JSON form: an error, or a trace that reads back
// the same from both forms and that `apply` accepts or explains.

#include <cstdlib>

#include "base/json.h"
#include "schedule/apply.h"
#include "schedule/explain.h"
#include "schedule/program_hash.h"
#include "task/parse.h"

namespace tilewright::schedule {
namespace {

void check(const Trace& trace) {
  const auto text = trace_from_text(to_text(trace));
  if (!text || *text != trace) std::abort();
  const auto json = parse_json(print_json(to_json(trace)));
  if (!json) std::abort();
  const auto from_json = trace_from_json(*json);
  if (!from_json || *from_json != trace) std::abort();

  static const Workload workload = *parse_workload("conv2d:h=6,w=6,ci=3,co=4,kernel=3,pad=1");
  static const LoopTree initial = *initial_tree(workload);
  LoopTree tree;
  if (const Illegal illegal = apply(initial, trace, &tree)) {
    if (explain(initial, trace, illegal).empty()) std::abort();
  } else {
    program_hash(tree);
  }
}

}  // namespace
}  // namespace tilewright::schedule

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tilewright::schedule;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto trace = trace_from_text(bytes)) check(*trace);
  if (const auto json = tilewright::parse_json(bytes)) {
    if (const auto trace = trace_from_json(*json)) check(*trace);
  }
  return 0;
}
