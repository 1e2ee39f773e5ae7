#include "heuristic/thread_loops.h"

#include <algorithm>

#include "base/rounding.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

// A single loop with far more iterations than threads need is split into chunks.
void cut_chunks(Tiling& tiling, StageIndex index, std::vector<Name>& outer) {
  const int64_t count = tiling.trips(index, outer[0]);
  const int64_t tasks = 4 * kTasksPerThread * tiling.target.threads();
  if (outer.size() > 1 || count <= 4 * tasks) return;
  const Name loop = outer[0];
  const Split chunks{tiling.name_of(index), loop, {ceil_div(count, tasks)}, Tail::Peel};
  if (tiling.builder.add({chunks})) outer = {loop.child(0), loop.child(1)};
}

}  // namespace

double vector_operations(const LoopTree& tree, StageIndex index, const Target& target) {
  const Stage& stage = tree.stage(index);
  const int lanes =
      target.lanes(std::max(1, ir::bytes_of(tree.buffer(stage.first_buffer).element)));
  return iterations_of(tree, stage) * stage.instructions / lanes;
}

bool is_worth_threads(const LoopTree& tree, StageIndex index, const Target& target) {
  return is_worth_threads(tree, std::span(&index, 1), target);
}

bool is_worth_threads(const LoopTree& tree, std::span<const StageIndex> stages,
                      const Target& target) {
  double work = 0;
  for (const StageIndex index : stages) work += vector_operations(tree, index, target);
  return work >= kWorthThreads;
}

bool is_always_threaded(const LoopTree& tree, StageIndex index, const Target& target) {
  return vector_operations(tree, index, target) >= kAlwaysThreads;
}

std::optional<Name> fuse_loops(Tiling& tiling, StageIndex index, const LoopList& loops) {
  if (loops.size() == 1) return loops[0];
  if (!tiling.builder.add({Fuse{tiling.name_of(index), loops}})) return std::nullopt;
  return Name::fuse(std::vector<Name>(loops.begin(), loops.end()));
}

std::optional<Name> make_parallel(Tiling& tiling, StageIndex index, std::vector<Name>& outer,
                                  bool work_is_large) {
  if (outer.empty()) return std::nullopt;
  const int threads = tiling.target.threads();
  if (threads == 1 || !work_is_large) return outer[0];
  cut_chunks(tiling, index, outer);
  LoopList loops;
  int64_t tasks = 1;
  while (loops.size() < outer.size() && tasks < kTasksPerThread * threads) {
    tasks *= tiling.trips(index, outer[loops.size()]);
    loops.push_back(outer[loops.size()]);
  }
  if (tasks < 2) return outer[0];
  if (const std::optional<Name> fused = fuse_loops(tiling, index, loops)) {
    outer.erase(outer.begin() + 1, outer.begin() + static_cast<std::ptrdiff_t>(loops.size()));
    outer[0] = *fused;
  }
  tiling.builder.add({Annotate{tiling.name_of(index), outer[0], Annotation::Parallel}});
  return outer[0];
}

}  // namespace tilewright::heuristic
