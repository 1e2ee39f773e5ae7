#include "codegen/back_ends/build_kernel.h"

namespace tilewright::codegen {
namespace {

Result<const BackEnd*> chosen(const BuildOptions& options, const Target& target) {
  if (options.back_end != nullptr) return options.back_end;
  return back_end_for(target);
}

}  // namespace

Result<ir::Function> lower_for(const BackEnd& back_end, const Task& task,
                               const schedule::LoopTree& tree, const schedule::Trace& trace,
                               lower::LowerOptions options) {
  options.passes = back_end.passes;
  return lower::lower(task.workload, task.target, tree, trace, options);
}

Result<runtime::Artifact> build_artifact(const Task& task, const schedule::LoopTree& tree,
                                         const schedule::Trace& trace,
                                         const BuildOptions& options) {
  const BackEnd& back_end = *TRY(chosen(options, task.target));
  const ir::Function function = TRY(lower_for(back_end, task, tree, trace, options.lower));
  return compile(back_end, function, task.target, options.compile);
}

}  // namespace tilewright::codegen
