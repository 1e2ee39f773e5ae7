// A lowering pass: takes a Function whose IR verifies and leaves one that verifies and computes
// the same, up to the permissions. One pass per file; pipeline.cc is the list. A pass that has
// nothing to do leaves the body the same node.
#pragma once

#include "ir/stmt.h"
#include "schedule/intrinsics.h"
#include "target/target.h"
#include "task/workload.h"

namespace tilewright::lower {

struct PassContext {
  const Target& target;
  FloatPermissions permissions;
  schedule::IntrinsicTable intrinsics = schedule::all_intrinsics();  // what Tensorized loops name
};

using PassFunction = void (*)(ir::Function& function, const PassContext& context);

struct Pass {
  const char* name;  // as `--disable-pass` and `tilewright lower` say it
  PassFunction run;
  bool needs_flat = false;  // relies on `flatten`: one index per access
};

}  // namespace tilewright::lower
