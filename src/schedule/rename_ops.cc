#include "schedule/rename_ops.h"

#include <algorithm>
#include <tuple>
#include <variant>

namespace tilewright::schedule {
namespace {

using Names = std::span<const std::pair<Name, Name>>;

template <class Value>
void rename(Value& /*value*/, Names /*names*/) {}

void rename(StageName& stage, Names names) {
  const auto found = std::ranges::find(names, stage.op, &std::pair<Name, Name>::first);
  if (found != names.end()) stage.op = found->second;
}

void rename(StageList& stages, Names names) {
  for (StageName& stage : stages) rename(stage, names);
}

}  // namespace

Trace rename_ops(Trace trace, Names names) {
  for (Step& step : trace.steps) {
    std::visit(
        [&](auto& s) {
          std::apply([&](const auto&... f) { (rename(s.*f.member, names), ...); }, s.fields());
        },
        step);
  }
  return trace;
}

}  // namespace tilewright::schedule
