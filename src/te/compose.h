// Dags made of Dags: the operators of one copied into a builder, so that several become one kernel.
//
//   Dag  X, W -> C = conv(X, W)          append with X, W standing for tensors a and w of the
//                                        builder and the prefix "n0_"
//   ->   n0_C = conv(a, w)               operators with fresh axes and prefixed names
//
// Hints of axes, FLOP hints and discarded outputs are kept.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "te/dag.h"

namespace tilewright::te {

// `inputs` stand for the placeholders of `dag`, in their order, and have their types and shapes (a
// CHECK). Returns what its outputs became, in their order. Names with the prefix must be free.
// Where `numbers` has one for a placeholder (it may be shorter), each element of that is this
// number, of its type, and what `inputs` says of it does not matter.
std::vector<TensorId> append(DagBuilder& builder, const Dag& dag, std::span<const TensorId> inputs,
                             std::string_view prefix, std::span<const ir::Expr> numbers = {});

}  // namespace tilewright::te
