// The JSON form of a Dag, for Dags without an operator text: workers and stores receive them in it.
// It round-trips the content: operators, axes with hints, expressions, reductions.
//
//   [{"name": "A", "placeholder": "f32", "axes": [["d0", 4], ["d1", 8]]},
//    {"name": "S", "axes": [["i", 4]], "reduce": [["k", 8]], "elements": ["f32"],
//     "nodes": [["var", 0], ["var", 1], ["load", 0, 0, 1], ["f32", "0x0p+0"], ...],
//     "body": [2], "reduction": {...}}]
//
// The expressions of an operator are one list of nodes, operands before their users, so shared
// subexpressions stay shared. Variables are numbered: axes, reduce axes, lhs and rhs of the
// reduction.
#pragma once

#include <memory>

#include "base/json_fwd.h"
#include "base/result.h"
#include "te/dag.h"

namespace tilewright::te {

Json dag_to_json(const Dag& dag);
// An error names the position of the mistake, such as ops[1]: nodes[2].
Result<std::shared_ptr<const Dag>> dag_from_json(const Json& json);

}  // namespace tilewright::te
