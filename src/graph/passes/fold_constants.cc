#include "graph/passes/fold_constants.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/op_table.h"
#include "graph/passes/constant_math.h"
#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

constexpr double kMaxWork = 1e6;            // iterations per node that are interpreted
constexpr double kMaxWithoutExecute = 1e7;  // the same without `execute`
constexpr double kMaxTogether = 3e7;        // per run of the pass; the rest is left to `execute`
constexpr int64_t kSmallBytes = int64_t{1} << 20;
constexpr int64_t kManyBytes = int64_t{1} << 28;

using Constants = std::vector<Constant>;

// Elementwise readers broadcast a small operand themselves.
bool is_repeated(const Rewrite& rewrite, const Node& node) {
  constexpr int64_t kMaxElements = 1024;
  return node.op == "broadcast" &&
         rewrite.from().value(node.outputs[0]).type.elements() > kMaxElements;
}

int64_t bytes_of_results(const Graph& from, const Node& node) {
  int64_t bytes = 0;
  for (const ValueId output : node.outputs) bytes += from.value(output).type.bytes();
  return bytes;
}

// Whether the result is not much larger than its operands.
bool stays_small(int64_t after, const Constants& operands) {
  int64_t before = 0;
  for (const Constant& operand : operands) before += operand.type().bytes();
  return after <= std::max(kSmallBytes, 2 * before);
}

// The remaining budget of a run of the pass. A chain of tiles doubles its constant with each node.
struct Budget {
  double work = kMaxTogether;
  int64_t bytes = kManyBytes;
};

Budget budget_of(const Graph& graph) {
  constexpr int64_t kTimes = 16;  // a weight of bytes may be cast, scaled and transposed as f32
  Budget budget;
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const Value& value = graph.value(id);
    if (value.is_constant()) budget.bytes += kTimes * value.type.bytes();
  }
  return budget;
}

Result<std::optional<Constants>> folded(const Node& node, const Constants& operands,
                                        const std::vector<std::optional<TensorType>>& types,
                                        const PassOptions& options, Budget& budget) {
  if (node.op == "reshape") {
    return Constants{operands[0].reshaped(node.attributes.list("shape"))};
  }
  if (node.op == "transpose") {
    return Constants{transposed(operands[0], node.attributes.list("perm"))};
  }
  const OpDef* op = find_op(node.op);
  const auto dag = TRY(op->define(node.attributes, types));
  const bool moved = op->work == Work::Move || op->work == Work::View;
  const double work = work_of(*dag);
  const double max_work = moved ? 1e9 : options.execute ? kMaxWork : kMaxWithoutExecute;
  const bool here = work <= std::min(max_work, budget.work);
  if (!here && !options.execute) return std::nullopt;
  if (here) budget.work -= work;
  auto results = TRY(here ? evaluate(*dag, operands) : options.execute(*dag, operands));
  return results;
}

}  // namespace

Result<Graph> fold_constants(const Graph& graph, const PassOptions& options) {
  Budget budget = budget_of(graph);
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    TRY(check_not_stopped(options.stop));
    Constants operands;
    std::vector<std::optional<TensorType>> types;
    for (const ValueId input : node.inputs) {
      if (input == kNone) {
        types.emplace_back();
        continue;
      }
      const Constant& known = rewrite.constant(rewrite.at(input));
      if (known.empty()) return false;
      operands.push_back(known);
      types.emplace_back(known.type());
    }
    if (operands.empty() || is_repeated(rewrite, node)) return false;
    const int64_t bytes = bytes_of_results(graph, node);
    if (bytes > budget.bytes || !stays_small(bytes, operands)) return false;
    const auto results = TRY(folded(node, operands, types, options, budget));
    if (!results) return false;
    if (node.op != "reshape") budget.bytes -= bytes;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      rewrite.replace(node.outputs[i], rewrite.add_constant((*results)[i]));
    }
    return true;
  });
}

}  // namespace tilewright::graph
