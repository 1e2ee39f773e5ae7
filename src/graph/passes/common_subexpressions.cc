#include "graph/passes/common_subexpressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

bool any_order(const std::string& op) {
  return op == "add" || op == "mul" || op == "max" || op == "min" || op == "and" || op == "or";
}

std::string key_of(const Node& node, std::vector<ValueId> operands) {
  if (any_order(node.op)) std::ranges::sort(operands);
  return fmt::format("{}({};{})->{}", node.op, fmt::join(operands, ","),
                     node.attributes.to_string(), node.outputs.size());
}

// A sample of the bytes, in which most different constants differ.
std::string sample_of(const Constant& constant) {
  const std::span<const std::byte> bytes = constant.bytes();
  std::string sample = constant.type().to_string();
  const size_t step = std::max<size_t>(1, bytes.size() / 61);
  for (size_t i = 0; i < bytes.size(); i += step) sample += static_cast<char>(bytes[i]);
  return sample;
}

bool may_be_one(const Constant& constant) {
  constexpr int64_t kLarge = 1 << 16;  // bytes
  const TensorType& type = constant.type();
  return type.elements() == 1 || !ir::is_float(type.element) || type.bytes() >= kLarge;
}

}  // namespace

Result<Graph> common_subexpressions(const Graph& graph, const PassOptions& /*options*/) {
  Rewrite rewrite(graph);
  std::map<std::string, std::vector<ValueId>> constants;  // old, distinct
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const Value& value = graph.value(v);
    if (!value.is_constant() || value.producer != kNone || !may_be_one(value.constant)) continue;
    std::vector<ValueId>& alike = constants[sample_of(value.constant)];
    const auto same = std::ranges::find_if(
        alike, [&](ValueId other) { return graph.value(other).constant == value.constant; });
    if (same == alike.end()) {
      alike.push_back(v);
    } else {
      rewrite.replace(v, rewrite.at(*same));
    }
  }
  std::map<std::string, const Node*> seen;
  for (const Node& node : graph.nodes()) {
    rewrite.enter(node);
    const auto [entry, is_new] = seen.emplace(key_of(node, rewrite.operands(node)), &node);
    if (is_new) {
      TRY(rewrite.keep(node));
      continue;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      rewrite.replace(node.outputs[i], rewrite.at(entry->second->outputs[i]));
    }
  }
  return std::move(rewrite).finish();
}

}  // namespace tilewright::graph
