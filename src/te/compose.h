// Composition of Dags: copies the operators of one Dag into a builder, to fuse several into a
// kernel.
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

#include "te/dag_builder.h"

namespace tilewright::te {

// `inputs` replace the placeholders of `dag`, in order, and must have their types and shapes (a
// CHECK). Returns the tensors of its outputs, in order. Names with the prefix must be unused. If
// `numbers` (which may be shorter) has a number for a placeholder, that number replaces every
// element of it, and its entry in `inputs` is ignored.
std::vector<TensorId> append(DagBuilder& builder, const Dag& dag, std::span<const TensorId> inputs,
                             std::string_view prefix, std::span<const ir::Expr> numbers = {});

}  // namespace tilewright::te
