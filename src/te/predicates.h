// The predicates on a Dag that sketch rules use, as Ansor defines them (Zheng et al., OSDI 2020,
// section 4.1). Pure functions. A symbolic extent counts as its largest value.
#pragma once

#include <cstdint>

#include "te/dag.h"

namespace tilewright::te {

// How one operator reads one producer, over all its reads.
struct ReadPattern {
  bool simple = true;            // every non-constant index is one output axis plus a constant
  bool axis_missing = false;     // a spatial axis of the reader that no index contains
  bool axis_duplicated = false;  // an axis that two indices contain
  bool same_order = true;        // axes appear in the order of the reader's axes
};
ReadPattern read_pattern(const Dag& dag, OpId reader, OpId producer);

bool is_output(const Dag& dag, OpId op);  // it has no readers

// True if reads are simple, in order and without a duplicated axis, and the body has no branch and
// no expensive call. Always true for an operator that reads nothing, never for a placeholder.
bool is_strictly_inlineable(const Dag& dag, OpId op);

// "Has data reuse": elements of a producer are read for several values of an output axis. Requires
// two such producers, or one and a reduction. False with the hint simplify_const_index.
bool needs_multi_level_tiling(const Dag& dag, OpId op);

// True if a chain of single consumers leads from op to target, and every hop keeps the shape and
// reads elementwise.
bool is_elementwise_match(const Dag& dag, OpId op, OpId target);

// The number of leading dimensions with equal extents that are indexed by the reader's own axes,
// the minimum over all paths from op to target; 0 if there is no path.
int common_outer_axes(const Dag& dag, OpId op, OpId target);

// A long reduction with too little parallelism in its other axes for `cores` cores.
bool needs_rfactor(const Dag& dag, OpId op, int cores);

int64_t spatial_size(const Dag& dag, OpId op);  // products saturate instead of overflowing
int64_t reduce_size(const Dag& dag, OpId op);

}  // namespace tilewright::te
