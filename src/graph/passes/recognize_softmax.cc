#include "graph/passes/recognize_softmax.h"

#include <optional>
#include <vector>

#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

struct Found {
  ValueId x = kNone;
  int64_t axis = 0;
  bool log = false;
};

// The axis of reduce(of; kind, [axis], keep).
std::optional<int64_t> reduced(const Rewrite& rewrite, ValueId value, const char* kind,
                               ValueId of) {
  const Node* node = rewrite.made_by(value, "reduce");
  if (node == nullptr || node->inputs[0] != of || node->attributes.text("kind", "sum") != kind ||
      node->attributes.integer("keep", 0) == 0) {
    return std::nullopt;
  }
  const std::vector<int64_t> axes = axes_of(*node, rewrite.shape(of).size());
  if (axes.size() != 1) return std::nullopt;
  return axes[0];
}

// z = x - max(x) -> x
ValueId without_maximum(const Rewrite& rewrite, ValueId z, int64_t axis) {
  const Node* sub = rewrite.made_by(z, "sub");
  if (sub == nullptr) return z;
  return reduced(rewrite, sub->inputs[1], "max", sub->inputs[0]) == axis ? sub->inputs[0] : z;
}

Found match_quotient(const Rewrite& rewrite, ValueId e, ValueId sum) {
  const Node* exp = rewrite.made_by(e, "exp");
  const auto axis = reduced(rewrite, sum, "sum", e);
  if (exp == nullptr || !axis) return {};
  return {.x = without_maximum(rewrite, exp->inputs[0], *axis), .axis = *axis, .log = false};
}

// z - log(sum(exp(z)))
Found match_log(const Rewrite& rewrite, ValueId z, ValueId log_value) {
  const Node* log = rewrite.made_by(log_value, "log");
  if (log == nullptr) return {};
  const Node* sum = rewrite.made_by(log->inputs[0], "reduce");
  if (sum == nullptr) return {};
  const ValueId e = sum->inputs[0];
  const Node* exp = rewrite.made_by(e, "exp");
  const auto axis = reduced(rewrite, log->inputs[0], "sum", e);
  if (exp == nullptr || exp->inputs[0] != z || !axis) return {};
  return {.x = without_maximum(rewrite, z, *axis), .axis = *axis, .log = true};
}

Found match(const Rewrite& rewrite, const Node& node, const std::vector<ValueId>& in) {
  if (node.op == "div") return match_quotient(rewrite, in[0], in[1]);
  if (node.op == "sub") return match_log(rewrite, in[0], in[1]);
  if (node.op == "log") {
    const Node* inner = rewrite.made_by(in[0], "softmax");
    if (inner == nullptr || inner->attributes.integer("log", 0) != 0) return {};
    return {
        .x = inner->inputs[0], .axis = axis_of(*inner, rewrite.shape(in[0]).size()), .log = true};
  }
  if (node.op != "mul" || in.size() != 2) return {};
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const Node* inverse = rewrite.made_by(in[i], "reciprocal");
    if (inverse == nullptr) continue;
    const Found found = match_quotient(rewrite, in[1 - i], inverse->inputs[0]);
    if (found.x != kNone) return found;
  }
  return {};
}

}  // namespace

Result<Graph> recognize_softmax(const Graph& graph, const PassOptions& options) {
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (!options.permissions.reassociate) return false;
    const Found found = match(rewrite, node, rewrite.operands(node));
    if (found.x == kNone || rewrite.type(found.x) != graph.value(node.outputs[0]).type)
      return false;
    const auto now = TRY(rewrite.add("softmax", {found.x},
                                     {{"axis", found.axis}, {"log", int64_t{found.log ? 1 : 0}}}));
    rewrite.replace(node.outputs[0], now);
    return true;
  });
}

}  // namespace tilewright::graph
