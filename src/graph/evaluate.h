// Computes nodes whose operands are all constants. Small ones are evaluated here (te/eval, element
// by element); for large ones a caller brings a compiler.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "te/dag.h"

namespace tilewright::graph {

// Runs a Dag on constants, given in the order of its placeholders.
using Execute = std::function<Result<std::vector<Constant>>(const te::Dag& dag,
                                                            std::span<const Constant> inputs)>;

// Element by element in f64, rounded to the element type; what is moved only (transpose, slice,
// reshape) is moved as bytes, whatever its size.
Result<std::vector<Constant>> evaluate(const te::Dag& dag, std::span<const Constant> inputs);

// How much work `evaluate` would be: loop iterations over all operators of the Dag.
double work_of(const te::Dag& dag);

// The constant that a value has, computed from constants where its producers allow; empty where it
// depends on an input, or would take more than `most_work`.
Result<Constant> constant_value(const Graph& graph, ValueId value, double most_work = 1e7);

}  // namespace tilewright::graph
