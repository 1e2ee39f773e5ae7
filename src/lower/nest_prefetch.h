// What a prefetch request becomes where its loop is: one request a cache line of what each access
// of the stage to the buffer will touch, `distance` iterations ahead.
#pragma once

#include "ir/stmt.h"
#include "lower/nest_values.h"

namespace tilewright::lower {

ir::Stmt prefetch_statement(const schedule::PrefetchRequest& request, NestValues& values);

}  // namespace tilewright::lower
