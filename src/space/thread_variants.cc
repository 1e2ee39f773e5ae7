#include "space/thread_variants.h"

#include <algorithm>
#include <utility>

namespace tilewright::space {

using schedule::Annotate;
using schedule::Annotation;
using schedule::StageName;

namespace {

constexpr size_t kDeepest = 4;  // loops that are fused at most
// Parallel iterations per thread of a stage without variants, if there are enough.
constexpr int64_t kFixedTasksPerThread = 8;

std::vector<Name> names_of(std::span<const PlannedLoop> loops) {
  std::vector<Name> names;
  names.reserve(loops.size());
  for (const PlannedLoop& loop : loops) names.push_back(loop.name);
  return names;
}

// One loop of rows or blocks of rows.
std::vector<ThreadVariant> row_variants(StageName stage, const PlainLoops& loops, bool several,
                                        bool is_worth) {
  std::vector<ThreadVariant> variants;
  FusedLoops fused = fuse_loops(stage, names_of(loops.lead));
  ThreadVariant variant{.steps = std::move(fused.steps), .loops = {fused.name}};
  if (!loops.block.empty()) variant.loops.push_back(loops.block);
  if (!loops.row.empty()) variant.loops.push_back(loops.row);
  if (!is_worth || !several) variants.push_back(variant);
  variant.steps.emplace_back(Annotate{stage, fused.name, Annotation::Parallel});
  if (several) variants.push_back(std::move(variant));
  return variants;
}

}  // namespace

FusedLoops fuse_parallel(StageName stage, std::span<const Name> loops) {
  FusedLoops fused = fuse_loops(stage, loops);
  fused.steps.emplace_back(Annotate{stage, fused.name, Annotation::Parallel});
  return fused;
}

DraftWriter::Steps parallel_steps(const Target& target, StageName stage,
                                  std::span<const PlannedLoop> loops) {
  if (loops.empty() || target.threads() == 1) return {};
  std::vector<Name> first;
  int64_t tasks = 1;
  for (const PlannedLoop& loop : loops) {
    if (tasks >= kFixedTasksPerThread * target.threads()) break;
    first.push_back(loop.name);
    tasks *= loop.extent;
  }
  return fuse_parallel(stage, first).steps;
}

std::vector<ThreadVariant> thread_variants(const Target& target, StageName stage,
                                           const PlainLoops& loops, bool is_worth) {
  const bool several = target.threads() > 1;
  if (!loops.lead.empty()) return row_variants(stage, loops, several, is_worth);
  std::vector<ThreadVariant> variants;
  const std::vector<Name> outer = names_of(loops.outer);
  if (!is_worth || !several || outer.empty()) variants.push_back({.steps = {}, .loops = outer});
  for (size_t count = 1; several && count <= std::min(kDeepest, outer.size()); ++count) {
    FusedLoops fused = fuse_parallel(stage, std::span(outer).first(count));
    ThreadVariant variant{.steps = std::move(fused.steps), .loops = {fused.name}};
    for (size_t k = count; k < outer.size(); ++k) variant.loops.push_back(outer[k]);
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace tilewright::space
