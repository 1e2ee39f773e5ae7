#include "space/random_trace.h"

#include <set>
#include <utility>

#include "schedule/apply.h"
#include "schedule/program_hash.h"
#include "space/space.h"
#include "space/validity.h"

namespace tilewright::space {
namespace {

// Attempts without a new program after which the space counts as exhausted.
constexpr size_t kVainTries = 4000;

}  // namespace

std::vector<schedule::Trace> random_traces(const Task& task, size_t count, Rng& rng) {
  std::vector<schedule::Trace> traces;
  const Result<Space> space = Space::make(task);
  if (!space) return traces;
  const int vector_bytes = task.target.vector_bytes();
  const int64_t longest = code_limit(space->initial(), vector_bytes);
  std::set<std::pair<uint64_t, uint64_t>> seen;
  schedule::LoopTree tree;
  schedule::Trace trace;
  for (size_t vain = 0; traces.size() < count && vain < kVainTries; ++vain) {
    const schedule::Sketch& sketch = space->sketches()[rng.below(space->sketches().size())];
    schedule::instantiate(sketch, schedule::sample(sketch, rng), &trace);
    if (schedule::apply(space->initial(), trace, &tree)) continue;
    if (schedule::estimated_instructions(tree, vector_bytes) > longest) continue;
    const Hash128 hash = schedule::program_hash(tree, task.target);
    if (!seen.emplace(hash.high, hash.low).second) continue;
    traces.push_back(trace);
    vain = 0;
  }
  return traces;
}

}  // namespace tilewright::space
