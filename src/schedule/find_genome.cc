#include "schedule/find_genome.h"

#include <algorithm>

namespace tilewright::schedule {

const Split* find_split(const Trace& trace, const Step& like) {
  const auto& wanted = std::get<Split>(like);
  for (const Step& step : trace.steps) {
    const auto* const split = std::get_if<Split>(&step);
    if (split == nullptr) continue;
    if (split->stage == wanted.stage && split->loop == wanted.loop) return split;
  }
  return nullptr;
}

Factors factors_of(const Factors& choice, const TileSlice& slice) {
  Factors factors;
  const size_t end = size_t{slice.from} + slice.parts;
  for (size_t k = slice.from; k < end; ++k) factors.push_back(choice[k]);
  for (size_t k = end; slice.folds && k < choice.size(); ++k) factors.back() *= choice[k];
  return factors;
}

uint16_t find_tail(const Sketch& sketch, const TailDomain& domain, const Trace& trace) {
  for (const int16_t step : domain.steps) {
    const Split* const split = find_split(trace, sketch.trace.steps[static_cast<size_t>(step)]);
    if (split == nullptr) continue;
    const auto found = std::ranges::find(domain.choices, split->tail);
    if (found != domain.choices.end()) {
      return static_cast<uint16_t>(found - domain.choices.begin());
    }
  }
  return 0;
}

namespace {

bool contains(const Trace& trace, const Step& step) {
  return std::ranges::find(trace.steps, step) != trace.steps.end();
}

uint16_t find_gene(const Sketch& sketch, const Hole& hole, const TileDomain& domain,
                   const Trace& trace) {
  std::vector<TileSlice> slices = domain.slices;
  const bool is_whole = slices.empty();
  if (is_whole) slices.push_back({.step = hole.step});
  for (size_t choice = 0; choice < domain.choices.size(); ++choice) {
    const bool fits = std::ranges::all_of(slices, [&](const TileSlice& slice) {
      const Split* const split =
          find_split(trace, sketch.trace.steps[static_cast<size_t>(slice.step)]);
      if (split == nullptr) return true;
      const Factors& factors = domain.choices[choice];
      return split->factors == (is_whole ? factors : factors_of(factors, slice));
    });
    if (fits) return static_cast<uint16_t>(choice);
  }
  return 0;
}

uint16_t find_gene(const Sketch& /*sketch*/, const Hole& /*hole*/, const StepDomain& domain,
                   const Trace& trace) {
  size_t off = 0;
  for (size_t choice = 0; choice < domain.choices.size(); ++choice) {
    if (!domain.choices[choice]) {
      off = choice;
    } else if (contains(trace, *domain.choices[choice])) {
      return static_cast<uint16_t>(choice);
    }
  }
  return static_cast<uint16_t>(off);
}

// Of the choices whose steps are all present, the one with the most steps.
uint16_t find_gene(const Sketch& /*sketch*/, const Hole& /*hole*/, const SiteDomain& domain,
                   const Trace& trace) {
  size_t best = 0;
  int max_count = -1;
  for (size_t choice = 0; choice < domain.choices.size(); ++choice) {
    int count = 0;
    bool all = true;
    for (const std::vector<Step>& steps : domain.choices[choice]) {
      for (const Step& step : steps) all = all && contains(trace, step);
      count += static_cast<int>(steps.size());
    }
    if (!all || count <= max_count) continue;
    best = choice;
    max_count = count;
  }
  return static_cast<uint16_t>(best);
}

uint16_t find_gene(const Sketch& sketch, const Hole& /*hole*/, const TailDomain& domain,
                   const Trace& trace) {
  return find_tail(sketch, domain, trace);
}

}  // namespace

std::optional<Genome> find_genome(const Sketch& sketch, const Trace& trace) {
  Genome genome;
  for (const Hole& hole : sketch.holes) {
    genome.genes.push_back(std::visit(
        [&](const auto& domain) { return find_gene(sketch, hole, domain, trace); }, hole.domain));
  }
  Trace made;
  instantiate(sketch, genome, &made);
  if (!(made == trace)) return std::nullopt;
  return genome;
}

}  // namespace tilewright::schedule
