// LoopTree -> artifact: runs the passes and the compiler of a back end in one call.
#pragma once

#include "base/result.h"
#include "codegen/back_ends/back_ends.h"
#include "lower/pipeline.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"
#include "task/workload.h"

namespace tilewright::codegen {

struct BuildOptions {
  const BackEnd* back_end = nullptr;  // null: the first one that serves the target
  lower::LowerOptions lower{};        // the passes are replaced by those of the back end
  CompileOptions compile{};
};

// Lowers with the passes of the back end.
Result<ir::Function> lower_for(const BackEnd& back_end, const Task& task,
                               const schedule::LoopTree& tree, const schedule::Trace& trace,
                               lower::LowerOptions options = {});

Result<runtime::Artifact> build_artifact(const Task& task, const schedule::LoopTree& tree,
                                         const schedule::Trace& trace,
                                         const BuildOptions& options = {});

}  // namespace tilewright::codegen
