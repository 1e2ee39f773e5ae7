// Generates the prefetches of a request at its loop: one per cache line that an access of the stage
// to the buffer touches `distance` iterations later.
#pragma once

#include "ir/stmt.h"
#include "lower/nest_values.h"

namespace tilewright::lower {

ir::Stmt prefetch_statement(const schedule::PrefetchRequest& request, NestValues& values);

}  // namespace tilewright::lower
