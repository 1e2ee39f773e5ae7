#include "schedule/sketch.h"

#include <algorithm>
#include <array>

namespace tilewright::schedule {
namespace {

// The stage that a step creates, if any.
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

constexpr int16_t kNothing = -1;

// Steps that replace one step of the trace; null or empty: the step is off.
struct Replacement {
  int16_t step = 0;
  const std::vector<Step>* steps = nullptr;
};
using Replacements = std::vector<Replacement>;

void fill(const Hole& hole, const TileDomain& domain, uint16_t gene, Trace* trace,
          Replacements* /*replaced*/) {
  const Factors& choice = domain.choices[gene];
  if (domain.slices.empty()) {
    std::get<Split>(trace->steps[static_cast<size_t>(hole.step)]).factors = choice;
    return;
  }
  for (const TileSlice& slice : domain.slices) {
    Factors& factors = std::get<Split>(trace->steps[static_cast<size_t>(slice.step)]).factors;
    factors.clear();
    for (size_t k = slice.from; k < size_t{slice.from} + slice.parts; ++k) {
      factors.push_back(choice[k]);
    }
    if (!slice.folds) continue;
    for (size_t k = size_t{slice.from} + slice.parts; k < choice.size(); ++k) {
      factors.back() *= choice[k];
    }
  }
}

void fill(const Hole& hole, const StepDomain& domain, uint16_t gene, Trace* trace,
          Replacements* replaced) {
  if (const auto& choice = domain.choices[gene]) {
    trace->steps[static_cast<size_t>(hole.step)] = *choice;
    if (std::holds_alternative<ComputeInline>(*choice)) replaced->push_back({kNothing, nullptr});
  } else {
    replaced->push_back({hole.step, nullptr});
  }
}

void fill(const Hole& /*hole*/, const SiteDomain& domain, uint16_t gene, Trace* /*trace*/,
          Replacements* replaced) {
  const auto& choice = domain.choices[gene];
  for (size_t k = 0; k < domain.sites.size(); ++k) {
    replaced->push_back({domain.sites[k], &choice[k]});
  }
}

void fill(const Hole& /*hole*/, const TailDomain& domain, uint16_t gene, Trace* trace,
          Replacements* /*replaced*/) {
  for (const int16_t step : domain.steps) {
    std::get<Split>(trace->steps[static_cast<size_t>(step)]).tail = domain.choices[gene];
  }
}

// Writes the replacements into the trace. If a stage is not created, the steps that name it are
// removed, and so are the stages that those would create; the same for an inlined stage.
void rewrite(const Replacements& replaced, Trace* trace) {
  thread_local std::vector<Step> from;
  thread_local std::vector<StageName> missing;
  thread_local std::vector<const Replacement*> by_step;
  from.swap(trace->steps);
  trace->steps.clear();
  missing.clear();
  by_step.assign(from.size(), nullptr);
  for (const Replacement& replacement : replaced) {
    if (replacement.step != kNothing) {
      by_step[static_cast<size_t>(replacement.step)] = &replacement;
    }
  }
  const auto take = [&](const Step& step, bool off) {
    for (const StageName& stage : missing) off = off || names_stage(step, stage);
    if (off) {
      if (const auto made = made_stage(step)) missing.push_back(*made);
      return;
    }
    trace->steps.push_back(step);
    if (const auto* inlined = std::get_if<ComputeInline>(&step)) missing.push_back(inlined->stage);
  };
  for (size_t k = 0; k < from.size(); ++k) {
    const Replacement* replacement = by_step[k];
    if (replacement == nullptr) {
      take(from[k], false);
    } else if (replacement->steps == nullptr || replacement->steps->empty()) {
      take(from[k], true);
    } else {
      for (const Step& step : *replacement->steps) take(step, false);
    }
  }
}

}  // namespace

std::string_view hole_kind_text(HoleKind kind) {
  constexpr std::array<std::string_view, 10> kTexts = {
      "tile",     "tail", "parallel",      "vectorize", "unroll",
      "location", "pack", "register_read", "prefetch",  "other"};
  return kTexts[static_cast<size_t>(kind)];
}

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
  thread_local Replacements replaced;
  replaced.clear();
  for (size_t k = 0; k < sketch.holes.size(); ++k) {
    const Hole& hole = sketch.holes[k];
    const uint16_t gene = genome.genes[k];
    CHECK(gene < hole.size(), "gene {} of hole {} with {} choices", gene, k, hole.size());
    std::visit([&](const auto& domain) { fill(hole, domain, gene, trace, &replaced); },
               hole.domain);
  }
  if (!replaced.empty()) rewrite(replaced, trace);
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

}  // namespace tilewright::schedule
