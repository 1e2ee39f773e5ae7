// Evaluates nodes whose operands are all constants. Small ones are interpreted here, element by
// element; for large ones the caller supplies a compiler (Execute).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "te/dag.h"

namespace tilewright::graph {

// Runs a Dag on constants, in the order of its placeholders.
using Execute = std::function<Result<std::vector<Constant>>(const te::Dag& dag,
                                                            std::span<const Constant> inputs)>;

// Interprets the Dag in f64 and rounds to the element types. Operators that only move elements
// (transpose, slice, reshape) copy bytes.
Result<std::vector<Constant>> evaluate(const te::Dag& dag, std::span<const Constant> inputs);

// The cost of `evaluate` in loop iterations, over all operators of the Dag.
double work_of(const te::Dag& dag);

// The value as a constant, computed from its producers. Empty if it depends on an input or would
// cost more than `max_work`.
Result<Constant> constant_value(const Graph& graph, ValueId value, double max_work = 1e7);

}  // namespace tilewright::graph
