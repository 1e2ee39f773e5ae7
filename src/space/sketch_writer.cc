#include "space/sketch_writer.h"

#include <algorithm>
#include <utility>

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

void SketchWriter::add_maybe(StageName stage, const Step& step) {
  sketch_.holes.push_back({next_step(), stage, StepDomain{{std::nullopt, step}}});
  add(step);
}

void SketchWriter::add_split(StageName stage, Name loop, const std::vector<Factors>& choices,
                             Tail tail) {
  std::vector<Factors> distinct;
  for (const Factors& factors : choices) {
    if (std::ranges::find(distinct, factors) == distinct.end()) distinct.push_back(factors);
  }
  const Factors first = distinct.front();
  if (distinct.size() > 1) {
    sketch_.holes.push_back({next_step(), stage, TileDomain{std::move(distinct)}});
  }
  add(Split{.stage = stage, .loop = loop, .factors = first, .tail = tail});
}

void SketchWriter::add_reorder(StageName stage, std::initializer_list<const DrawnLoops*> parts) {
  LoopList names;
  for (const DrawnLoops* loops : parts) {
    for (const DrawnLoop& loop : *loops) {
      if (!names.full()) names.push_back(loop.name);
    }
  }
  if (names.size() > 1) add(Reorder{.stage = stage, .loops = names});
}

void SketchWriter::fuse_first(StageName stage, DrawnLoops& loops, size_t count) {
  if (count < 2 || count > loops.size()) return;
  LoopList names;
  int64_t extent = 1;
  for (size_t k = 0; k < count; ++k) {
    names.push_back(loops[k].name);
    extent *= loops[k].extent;
  }
  add(Fuse{.stage = stage, .loops = names});
  loops.erase(loops.begin() + 1, loops.begin() + static_cast<std::ptrdiff_t>(count));
  loops[0] = {Name::fuse(std::span(names.begin(), names.size())), extent};
}

int64_t SketchWriter::some_factor(int64_t extent, int64_t high) {
  high = std::min(extent, high);
  if (high <= 1) return 1;
  if (rng_.chance(0.25)) return rng_.between(1, high);
  int64_t chosen = 1;
  uint64_t seen = 0;  // each divisor is as likely
  for (int64_t factor = 1; factor <= std::min<int64_t>(high, 512); ++factor) {
    if (extent % factor == 0 && rng_.below(++seen) == 0) chosen = factor;
  }
  return chosen;
}

std::vector<Factors> SketchWriter::some_factors(int64_t extent, int64_t high) {
  constexpr size_t kChoices = 3;
  std::vector<Factors> choices(kChoices);
  for (Factors& factors : choices) factors.push_back(some_factor(extent, high));
  return choices;
}

Tail SketchWriter::some_tail(bool vector) {
  const double draw = rng_.uniform();
  if (draw < 0.8) return Tail::Peel;
  if (vector && draw < 0.9) return Tail::Mask;
  return draw < 0.95 ? Tail::Overlap : Tail::Peel;
}

void SketchWriter::shuffle(DrawnLoops& loops) {
  for (size_t k = loops.size(); k > 1; --k) std::swap(loops[k - 1], loops[rng_.below(k)]);
}

}  // namespace tilewright::space
