// The JSON form of a Dag: how one that no operator's text names travels to workers and into a
// store. Read back it has the same content: operators, axes with hints, expressions, reductions.
//
//   [{"name": "A", "placeholder": "f32", "axes": [["d0", 4], ["d1", 8]]},
//    {"name": "S", "axes": [["i", 4]], "reduce": [["k", 8]], "elements": ["f32"],
//     "nodes": [["var", 0], ["var", 1], ["load", 0, 0, 1], ["f32", 0], ...],
//     "body": [2], "reduction": {...}}]
//
// The expressions of an operator are one list of nodes, operands before those that use them, so
// that what is shared stays shared. Variables: axes, then reduce axes, then lhs and rhs of the
// fold.
#pragma once

#include <memory>

#include "base/json_fwd.h"
#include "base/result.h"
#include "te/dag.h"

namespace tilewright::te {

Json dag_to_json(const Dag& dag);
Result<std::shared_ptr<const Dag>> dag_from_json(const Json& json);

}  // namespace tilewright::te
