#include "space/draft_writer.h"

#include <utility>

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

// Applies the only choice of a hole permanently.
void settle(Sketch& sketch, const Hole& hole) {
  if (const auto* tiles = std::get_if<TileDomain>(&hole.domain)) {
    const Factors& only = tiles->choices[0];
    if (tiles->slices.empty()) {
      std::get<Split>(sketch.trace.steps[static_cast<size_t>(hole.step)]).factors = only;
    }
    for (const TileSlice& slice : tiles->slices) {
      Factors& factors =
          std::get<Split>(sketch.trace.steps[static_cast<size_t>(slice.step)]).factors;
      factors.clear();
      for (size_t k = slice.from; k < size_t{slice.from} + slice.parts; ++k) {
        factors.push_back(only[k]);
      }
    }
  } else if (const auto* tail = std::get_if<TailDomain>(&hole.domain)) {
    for (const int16_t step : tail->steps) {
      std::get<Split>(sketch.trace.steps[static_cast<size_t>(step)]).tail = tail->choices[0];
    }
  }
}

bool settles(const Hole& hole) {
  return hole.size() == 1 && (std::holds_alternative<TileDomain>(hole.domain) ||
                              std::holds_alternative<TailDomain>(hole.domain));
}

}  // namespace

int16_t DraftWriter::add(const Step& step) {
  sketch_.trace.steps.push_back(step);
  return static_cast<int16_t>(sketch_.trace.steps.size() - 1);
}

void DraftWriter::add(const Steps& steps) {
  for (const Step& step : steps) add(step);
}

void DraftWriter::add_hole(Hole hole) {
  CHECK(hole.size() > 0, "a hole without choices");
  if (settles(hole)) {
    settle(sketch_, hole);
  } else {
    sketch_.holes.push_back(std::move(hole));
  }
}

void DraftWriter::add_maybe(StageName stage, HoleKind kind, const Step& step) {
  add_hole({next_step(), stage, StepDomain{{std::nullopt, step}}, kind});
  add(step);
}

void DraftWriter::add_one_of(StageName stage, HoleKind kind, std::vector<Steps> choices) {
  CHECK(!choices.empty(), "nothing to choose from");
  if (choices.size() == 1) return add(choices[0]);
  const Step* example = nullptr;
  for (const Steps& steps : choices) {
    if (!steps.empty()) example = &steps[0];
  }
  if (example == nullptr) return;
  const int16_t site = add_site(Step(*example));
  std::vector<std::vector<Steps>> by_site;
  by_site.reserve(choices.size());
  for (Steps& steps : choices) by_site.push_back({std::move(steps)});
  fill_sites(stage, kind, {site}, std::move(by_site));
}

void DraftWriter::fill_sites(StageName stage, HoleKind kind, std::vector<int16_t> sites,
                             std::vector<std::vector<Steps>> choices) {
  const int16_t first = sites.empty() ? int16_t{0} : sites[0];
  add_hole({first, stage, SiteDomain{std::move(sites), std::move(choices)}, kind});
}

void DraftWriter::add_split(StageName stage, Name loop, TileDomain domain, Tail tail) {
  const int16_t step = add(Split{stage, loop, domain.choices[0], tail});
  add_hole({step, stage, std::move(domain), HoleKind::Tile});
}

Step reorder_step(StageName stage, std::span<const Name> loops) {
  LoopList list;
  for (const Name loop : loops) list.push_back(loop);
  return Reorder{stage, list};
}

void DraftWriter::reorder(StageName stage, std::span<const Name> loops) {
  if (loops.size() > 1) add(reorder_step(stage, loops));
}

void DraftWriter::annotate(StageName stage, Name loop, Annotation how) {
  add(Annotate{stage, loop, how});
}

void DraftWriter::annotate_innermost(StageName stage, std::span<const Name> loops, Name lane) {
  for (const Name loop : loops) {
    annotate(stage, loop, loop == lane ? Annotation::Vectorize : Annotation::Unroll);
  }
}

FusedLoops fuse_loops(StageName stage, std::span<const Name> loops) {
  CHECK(!loops.empty(), "no loops to fuse");
  if (loops.size() == 1) return {{}, loops[0]};
  LoopList list;
  for (const Name loop : loops) list.push_back(loop);
  return {{Fuse{stage, list}}, Name::fuse(loops)};
}

}  // namespace tilewright::space
