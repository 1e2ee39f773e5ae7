// rename_ops: the trace of a workload for another one whose operators have other names.
//
//   C -> n1_Y:   split C.write k [4]   ->   split n1_Y.write k [4]
//
// A pure function.
#pragma once

#include <span>
#include <utility>

#include "schedule/trace.h"

namespace tilewright::schedule {

// `names`: pairs of an old and a new name. All are renamed at once; other names stay.
Trace rename_ops(Trace trace, std::span<const std::pair<Name, Name>> names);

}  // namespace tilewright::schedule
