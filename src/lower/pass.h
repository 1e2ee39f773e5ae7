// Pass: a lowering pass takes a Function that verifies and returns one that verifies and computes
// the same, up to the float permissions. One pass per file; pipeline.cc has the list. A pass that
// has nothing to do keeps the same body node.
#pragma once

#include "ir/stmt.h"
#include "schedule/intrinsics.h"
#include "target/target.h"
#include "task/workload.h"

namespace tilewright::lower {

struct PassContext {
  const Target& target;
  FloatPermissions permissions;
  // The intrinsics that Tensorized loops may name.
  schedule::IntrinsicTable intrinsics = schedule::all_intrinsics();
};

using PassFunction = void (*)(ir::Function& function, const PassContext& context);

struct Pass {
  const char* name;  // by which it is printed and turned off
  PassFunction run;
  bool needs_flat = false;  // requires `flatten`: one index per access
};

}  // namespace tilewright::lower
