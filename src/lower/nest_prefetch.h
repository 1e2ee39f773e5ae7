// Generates the prefetches of a request at its loop: one per cache line that an access of the stage
// to the buffer touches `distance` iterations later, or a share of the lines of its next tile.
//
//   distance 4:  prefetch A[i, k + 4]
//   next tile of L lines, used in T iterations, t = i.0*192 + k.0 the current one, T >= L:
//                prefetch line t*L/T of the tile at j.0 + 1
//   T < L:       ceil(L/T) lines
#pragma once

#include "ir/stmt.h"
#include "lower/nest_values.h"

namespace tilewright::lower {

ir::Stmt prefetch_statement(const schedule::PrefetchRequest& request, NestValues& values);

}  // namespace tilewright::lower
