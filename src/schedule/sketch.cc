#include "schedule/sketch.h"

#include <algorithm>

namespace tilewright::schedule {
namespace {

// The stage that a step makes, if it makes one.
std::optional<StageName> made_stage(const Step& step) {
  if (const auto* s = std::get_if<CacheWrite>(&step)) {
    return StageName{.op = s->stage.op, .role = StageRole::Write};
  }
  if (const auto* s = std::get_if<CacheRead>(&step)) {
    return StageName{
        .op = s->stage.op, .role = StageRole::Read, .ordinal = static_cast<uint8_t>(s->ordinal)};
  }
  if (const auto* s = std::get_if<Rfactor>(&step)) {
    return StageName{.op = s->stage.op, .role = StageRole::Rfactor};
  }
  return std::nullopt;
}

bool names(const StageName& field, const StageName& stage) { return field == stage; }
bool names(const StageList& field, const StageName& stage) {
  return std::find(field.begin(), field.end(), stage) != field.end();
}
template <class T>
bool names(const T&, const StageName&) {
  return false;
}

bool names_stage(const Step& step, const StageName& stage) {
  return std::visit(
      [&]<class S>(const S& s) {
        return std::apply([&](const auto&... f) { return (names(s.*f.member, stage) || ...); },
                          S::fields());
      },
      step);
}

void factorise(int64_t rest, int levels, int64_t limit, Factors* inner,
               std::vector<Factors>* choices) {
  if (levels == 1) {
    Factors factors;  // collected from the inside out
    for (size_t k = inner->size(); k-- > 0;) factors.push_back((*inner)[k]);
    choices->push_back(factors);
    return;
  }
  for (int64_t factor = 1; factor <= std::min(rest, limit); ++factor) {
    if (rest % factor != 0) continue;
    inner->push_back(factor);
    factorise(rest / factor, levels - 1, INT64_MAX, inner, choices);
    inner->resize(inner->size() - 1);
  }
}

}  // namespace

size_t Hole::size() const {
  return std::visit([](const auto& d) { return d.choices.size(); }, domain);
}

double Sketch::size() const {
  double size = 1;
  for (const Hole& hole : holes) size *= static_cast<double>(hole.size());
  return size;
}

void instantiate(const Sketch& sketch, const Genome& genome, Trace* trace) {
  CHECK(genome.genes.size() == sketch.holes.size(), "{} genes for {} holes", genome.genes.size(),
        sketch.holes.size());
  trace->steps = sketch.trace.steps;
  std::vector<int16_t> off;
  for (size_t k = 0; k < sketch.holes.size(); ++k) {
    const Hole& hole = sketch.holes[k];
    const uint16_t gene = genome.genes[k];
    CHECK(gene < hole.size(), "gene {} of hole {} with {} choices", gene, k, hole.size());
    Step& step = trace->steps[static_cast<size_t>(hole.step)];
    if (const auto* tile = std::get_if<TileDomain>(&hole.domain)) {
      std::get<Split>(step).factors = tile->choices[gene];
    } else if (const auto& choice = std::get<StepDomain>(hole.domain).choices[gene]) {
      step = *choice;
    } else {
      off.push_back(hole.step);
    }
  }
  if (off.empty()) return;
  // A stage that is not made takes the steps that name it along, and the stages those would make.
  std::vector<StageName> missing;
  size_t kept = 0;
  for (size_t k = 0; k < trace->steps.size(); ++k) {
    const Step& step = trace->steps[k];
    bool absent = std::find(off.begin(), off.end(), static_cast<int16_t>(k)) != off.end();
    for (const StageName& stage : missing) absent = absent || names_stage(step, stage);
    if (absent) {
      if (const auto made = made_stage(step)) missing.push_back(*made);
    } else {
      if (kept != k) trace->steps[kept] = trace->steps[k];
      ++kept;
    }
  }
  trace->steps.resize(kept);
}

Genome sample(const Sketch& sketch, Rng& rng) {
  Genome genome;
  genome.genes.reserve(sketch.holes.size());
  for (const Hole& hole : sketch.holes) {
    CHECK(hole.size() >= 1 && hole.size() <= UINT16_MAX + size_t{1}, "a hole of {} choices",
          hole.size());
    genome.genes.push_back(static_cast<uint16_t>(rng.below(hole.size())));
  }
  return genome;
}

TileDomain exact_tiles(int64_t extent, int levels, int64_t max_innermost) {
  CHECK(extent > 0 && levels > 1 && levels <= static_cast<int>(Factors::kCapacity) + 1,
        "tiles of {} over {} levels", extent, levels);
  TileDomain domain;
  Factors inner;
  factorise(extent, levels, max_innermost, &inner, &domain.choices);
  return domain;
}

}  // namespace tilewright::schedule
