#include "schedule/sketch.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

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

// The steps with which a choice replaces one step of the sketch's trace; none: the step is off.
struct Replacement {
  int16_t step = 0;
  bool keeps_place = false;  // one step that other holes may still change
  std::span<const Step> steps{};
};
using Replacements = std::vector<Replacement>;

void replace(const Hole& hole, const StepDomain& domain, uint16_t gene, Replacements* replaced) {
  const auto& choice = domain.choices[gene];
  if (choice) {
    replaced->push_back({.step = hole.step, .keeps_place = true, .steps = {&*choice, 1}});
  } else {
    replaced->push_back({.step = hole.step});
  }
}

void replace(const Hole& /*hole*/, const SiteDomain& domain, uint16_t gene,
             Replacements* replaced) {
  const auto& choice = domain.choices[gene];
  for (size_t k = 0; k < domain.sites.size(); ++k) {
    replaced->push_back({.step = domain.sites[k], .steps = choice[k]});
  }
}

template <class Domain>
void replace(const Hole&, const Domain&, uint16_t, Replacements*) {}

// The trace with the replacements, and where each step of the sketch's is now. If a stage is not
// created, the steps that name it are left out, and so are the stages that those would create; the
// same for an inlined stage.
class Rewriter {
 public:
  void run(std::span<const Step> from, const Replacements& replaced, std::vector<Step>* to) {
    to_ = to;
    position_.resize(from.size());
    if (replaced.empty()) {
      to_->assign(from.begin(), from.end());
      std::iota(position_.begin(), position_.end(), int16_t{0});
      return;
    }
    to_->clear();
    missing_.clear();
    std::fill(position_.begin(), position_.end(), kNone);
    by_step_.assign(from.size(), nullptr);
    for (const Replacement& replacement : replaced) {
      by_step_[static_cast<size_t>(replacement.step)] = &replacement;
    }
    for (size_t k = 0; k < from.size(); ++k) {
      const Replacement* replacement = by_step_[k];
      const auto position = static_cast<int16_t>(to_->size());
      if (replacement == nullptr) {
        if (take(from[k])) position_[k] = position;
      } else if (replacement->steps.empty()) {
        leave_out(from[k]);
      } else {
        for (const Step& step : replacement->steps) {
          if (take(step) && replacement->keeps_place) position_[k] = position;
        }
      }
    }
  }

  // The step of the trace that was this one of the sketch's, if it is there.
  Step* at(int16_t step) {
    const int16_t position = position_[static_cast<size_t>(step)];
    return position == kNone ? nullptr : &(*to_)[static_cast<size_t>(position)];
  }

 private:
  bool take(const Step& step) {
    for (const StageName& stage : missing_) {
      if (!names_stage(step, stage)) continue;
      leave_out(step);
      return false;
    }
    to_->push_back(step);
    if (const auto* inlined = std::get_if<ComputeInline>(&step)) missing_.push_back(inlined->stage);
    return true;
  }
  void leave_out(const Step& step) {
    if (const auto made = made_stage(step)) missing_.push_back(*made);
  }

  std::vector<Step>* to_ = nullptr;
  std::vector<StageName> missing_;
  std::vector<int16_t> position_;
  std::vector<const Replacement*> by_step_;
};

Split* split_at(Rewriter* rewriter, int16_t step) {
  Step* found = rewriter->at(step);
  return found == nullptr ? nullptr : &std::get<Split>(*found);
}

void fill(const Hole& hole, const TileDomain& domain, uint16_t gene, Rewriter* rewriter) {
  const Factors& choice = domain.choices[gene];
  if (domain.slices.empty()) {
    if (Split* split = split_at(rewriter, hole.step)) split->factors = choice;
    return;
  }
  for (const TileSlice& slice : domain.slices) {
    Split* split = split_at(rewriter, slice.step);
    if (split == nullptr) continue;
    Factors& factors = split->factors;
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

void fill(const Hole& /*hole*/, const TailDomain& domain, uint16_t gene, Rewriter* rewriter) {
  for (const int16_t step : domain.steps) {
    if (Split* split = split_at(rewriter, step)) split->tail = domain.choices[gene];
  }
}

template <class Domain>
void fill(const Hole&, const Domain&, uint16_t, Rewriter*) {}

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
  thread_local Replacements replaced;
  thread_local Rewriter rewriter;
  replaced.clear();
  const auto each_hole = [&](const auto& visitor) {
    for (size_t k = 0; k < sketch.holes.size(); ++k) {
      const Hole& hole = sketch.holes[k];
      std::visit([&](const auto& domain) { visitor(hole, domain, genome.genes[k]); }, hole.domain);
    }
  };
  each_hole([&](const Hole& hole, const auto& domain, uint16_t gene) {
    CHECK(gene < domain.choices.size(), "gene {} of a hole with {} choices", gene,
          domain.choices.size());
    replace(hole, domain, gene, &replaced);
  });
  rewriter.run(sketch.trace.steps, replaced, &trace->steps);
  each_hole([&](const Hole& hole, const auto& domain, uint16_t gene) {
    fill(hole, domain, gene, &rewriter);
  });
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
