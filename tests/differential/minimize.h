// Minimizes a failing trace: drops steps, together with later steps that do not apply without them,
// reduces factors, and replaces tails by peel.
//
//   split C i [8, 4] tail=mask       ->   split C i [2]
//   split C j [16]                        cache_write C
//   cache_write C                         (sufficient for the failure)
//   annotate C.write i parallel
#pragma once

#include <functional>

#include "schedule/loop_tree.h"
#include "schedule/trace.h"

namespace tilewright::testing {

using StillFails =
    std::function<bool(const schedule::LoopTree& tree, const schedule::Trace& trace)>;

// `trace` is legal and fails. Only legal traces are tried. The result fails, and no further
// simplification of it fails.
schedule::Trace minimize(const schedule::LoopTree& initial, const schedule::Trace& trace,
                         const StillFails& still_fails);

}  // namespace tilewright::testing
