// Makes a failing trace smaller while it fails: drops steps, and with each the later ones that do
// not apply without it, takes smaller factors, and peels tails.
//
//   split C i [8, 4] tail=mask       ->   split C i [2]
//   split C j [16]                        cache_write C
//   cache_write C                         (what it takes for the failure)
//   annotate C.write i parallel
#pragma once

#include <functional>

#include "schedule/loop_tree.h"
#include "schedule/trace.h"

namespace tilewright::testing {

using StillFails =
    std::function<bool(const schedule::LoopTree& tree, const schedule::Trace& trace)>;

// `trace` is legal and fails. Only legal traces are tried; the result is one that fails and of
// which no simplification above does.
schedule::Trace minimize(const schedule::LoopTree& initial, const schedule::Trace& trace,
                         const StillFails& still_fails);

}  // namespace tilewright::testing
