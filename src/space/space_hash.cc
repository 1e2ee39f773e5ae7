#include "space/space_hash.h"

#include <optional>
#include <variant>
#include <vector>

namespace tilewright::space {
namespace {

using schedule::Hole;
using schedule::SiteDomain;
using schedule::Sketch;
using schedule::Step;
using schedule::StepDomain;
using schedule::TailDomain;
using schedule::TileDomain;

void add(const TileDomain& domain, Hasher* hasher) {
  hasher->add(domain.choices.size()).add_signed(domain.extent).add(domain.slices.size());
  for (const schedule::Factors& choice : domain.choices) {
    hasher->add(choice.size());
    for (const int64_t factor : choice) hasher->add_signed(factor);
  }
  for (const schedule::TileSlice& slice : domain.slices) {
    hasher->add_signed(slice.step).add(slice.from).add(slice.parts).add(slice.folds ? 1 : 0);
  }
}

void add(const StepDomain& domain, Hasher* hasher) {
  hasher->add(domain.choices.size());
  for (const std::optional<Step>& choice : domain.choices) {
    hasher->add_text(choice ? to_text(*choice) : "");
  }
}

void add(const SiteDomain& domain, Hasher* hasher) {
  hasher->add(domain.sites.size()).add(domain.choices.size());
  for (const int16_t site : domain.sites) hasher->add_signed(site);
  for (const auto& choice : domain.choices) {
    for (const std::vector<Step>& steps : choice) {
      hasher->add(steps.size());
      for (const Step& step : steps) hasher->add_text(to_text(step));
    }
  }
}

void add(const TailDomain& domain, Hasher* hasher) {
  hasher->add(domain.choices.size()).add(domain.steps.size());
  for (const schedule::Tail tail : domain.choices) hasher->add(static_cast<uint64_t>(tail));
  for (const int16_t step : domain.steps) hasher->add_signed(step);
}

}  // namespace

Hash128 hash_of(std::span<const Sketch> sketches) {
  Hasher hasher;
  hasher.add(sketches.size());
  for (const Sketch& sketch : sketches) {
    hasher.add(sketch.trace.steps.size()).add(sketch.holes.size());
    for (const Step& step : sketch.trace.steps) hasher.add_text(to_text(step));
    for (const Hole& hole : sketch.holes) {
      hasher.add_signed(hole.step).add_text(hole.stage.text());
      hasher.add(static_cast<uint64_t>(hole.kind)).add(hole.domain.index());
      std::visit([&](const auto& domain) { add(domain, &hasher); }, hole.domain);
    }
  }
  return hasher.finish();
}

}  // namespace tilewright::space
