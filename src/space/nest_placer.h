// NestPlacer: places the members of a nest, which are the stages that only stages of the nest read.
// A member is computed inside the nest, at root, or inline. One hole decides about the threads of
// the nest and all of its members, since the choices depend on each other (space/placements.h).
//
//   Y with loop i; S reads M   ->   hole: both at i, M at root and S at i, both at root
//
// It records the operators that it has placed. Not thread-safe.
#pragma once

#include <set>
#include <vector>

#include "space/layout_context.h"
#include "space/thread_variants.h"

namespace tilewright::space {

// A stage at root, with the loops at which other stages may be computed.
struct Nest {
  StageName root;
  int16_t site = -1;  // position of the variants' steps; -1: the only variant has no steps
  std::vector<ThreadVariant> variants{};
  std::set<te::OpId> inside{};   // operators that are computed in it
  std::set<te::OpId> blocked{};  // those of them that every choice computes at loop 1
};

class NestPlacer {
 public:
  // `draft` says which operators are open.
  NestPlacer(const LayoutContext& layout, const Draft& draft) : layout_(layout), draft_(draft) {}

  // Lays out the members and adds the hole of the nest.
  void place(Nest nest);
  bool is_placed(te::OpId op) const { return placed_.contains(op); }

 private:
  const LayoutContext& layout_;
  const Draft& draft_;
  std::set<te::OpId> placed_;  // members of all nests so far
};

}  // namespace tilewright::space
