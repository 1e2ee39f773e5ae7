#include "space/nearest_genome.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "schedule/find_genome.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

constexpr double kMinLikeness = 2.0 / 3;  // share of the steps that donor and sketch have in common
constexpr double kOuterWeight = 0.5;      // of a level, relative to the next inner one
constexpr double kGrowth = 1.5;           // weight of a larger size, relative to a smaller one
constexpr double kRemainder = 0.25;       // of sizes that do not divide, in doublings
constexpr double kSizeWeight = 0.01;      // of sizes, relative to the presence of a step
constexpr double kFarthest = 10;          // doublings beyond which sizes are equally far
// Weight of a step that creates a stage or decides where it is computed, relative to steps that
// only arrange its loops.
constexpr double kPlacement = 3;

Step without_sizes(Step step) {
  if (auto* const split = std::get_if<Split>(&step)) {
    split->factors.clear();
    split->tail = Tail::Peel;
  } else if (auto* const prefetch = std::get_if<Prefetch>(&step)) {
    prefetch->distance = 1;
  }
  return step;
}

// From the innermost level outwards; a level that only one of them has counts as 1 in the other.
double distance_of(const Factors& from, const Factors& to) {
  double sum = 0;
  double weight = 1;
  for (size_t level = 0; level < std::max(from.size(), to.size()); ++level) {
    const auto size_at = [&](const Factors& factors) {
      return level < factors.size() ? factors[factors.size() - 1 - level] : int64_t{1};
    };
    const int64_t old_size = size_at(from), new_size = size_at(to);
    if (old_size != new_size) {
      const double doublings =
          std::log2(static_cast<double>(new_size) / static_cast<double>(old_size));
      sum += weight * (doublings > 0 ? kGrowth * doublings : -doublings);
    }
    weight *= kOuterWeight;
  }
  return sum;
}

// Of two steps that are equal without their sizes.
double size_distance(const Step& from, const Step& to) {
  if (const auto* const split = std::get_if<Split>(&from)) {
    return distance_of(split->factors, std::get<Split>(to).factors);
  }
  if (const auto* const prefetch = std::get_if<Prefetch>(&from)) {
    return distance_of({prefetch->distance}, {std::get<Prefetch>(to).distance});
  }
  return 0;
}

double weight_of(const Step& step) {
  const bool places =
      std::holds_alternative<ComputeAt>(step) || std::holds_alternative<ComputeInline>(step) ||
      std::holds_alternative<CacheRead>(step) || std::holds_alternative<CacheWrite>(step) ||
      std::holds_alternative<Rfactor>(step);
  return places ? kPlacement : 1;
}

class Donor {
 public:
  explicit Donor(const Trace& trace) : trace_(&trace) {
    bare_.reserve(trace.steps.size());
    for (const Step& step : trace.steps) bare_.push_back(without_sizes(step));
  }

  const Trace& trace() const { return *trace_; }

  // 1 if it has the step with these sizes, a little less with other sizes, -1 if it has it not.
  double likeness(const Step& step) const {
    const auto found = std::ranges::find(bare_, without_sizes(step));
    if (found == bare_.end()) return -1;
    const Step& own = trace_->steps[static_cast<size_t>(found - bare_.begin())];
    return 1 - kSizeWeight * std::min(size_distance(own, step), kFarthest);
  }

  // The share of steps that are common to both.
  double likeness(const Trace& other) const {
    double common = 0, all = 0;
    for (const Step& step : other.steps) {
      const double weight = weight_of(step);
      common += likeness(step) > 0 ? 2 * weight : 0;
      all += weight;
    }
    for (const Step& step : trace_->steps) all += weight_of(step);
    return all > 0 ? common / all : 1;
  }

 private:
  const Trace* trace_;
  std::vector<Step> bare_;
};

struct Chosen {
  uint16_t gene = 0;
  double value = -std::numeric_limits<double>::infinity();
};

// The first of `count` genes with the highest value.
template <class ValueOf>
Chosen best_gene(size_t count, const ValueOf& value_of) {
  Chosen best;
  for (size_t gene = 0; gene < count; ++gene) {
    const double value = value_of(static_cast<uint16_t>(gene));
    if (value > best.value) best = {.gene = static_cast<uint16_t>(gene), .value = value};
  }
  return best;
}

// Chooses the steps of one sketch. Sizes are chosen afterwards, because their domains are large.
class StepChooser {
 public:
  StepChooser(const Sketch& sketch, const Donor& donor) : sketch_(sketch), donor_(donor) {}

  Genome run() {
    genome_.genes.assign(sketch_.holes.size(), 0);
    std::vector<size_t> unclear;
    for (size_t hole = 0; hole < sketch_.holes.size(); ++hole) {
      const Chosen chosen = std::visit([&](const auto& domain) { return best_of(domain); },
                                       sketch_.holes[hole].domain);
      genome_.genes[hole] = chosen.gene;
      if (chosen.value < 0) unclear.push_back(hole);
    }
    // The donor has none of the choices. One of them still keeps more steps of other holes: a stage
    // that is not inlined keeps its loops.
    for (const size_t hole : unclear) {
      genome_.genes[hole] = best_gene(sketch_.holes[hole].size(), [&](uint16_t gene) {
                              genome_.genes[hole] = gene;
                              return likeness();
                            }).gene;
    }
    likeness_ = likeness();
    return genome_;
  }

  double likeness_of_result() const { return likeness_; }

 private:
  Chosen best_of(const StepDomain& domain) const {
    return best_gene(domain.choices.size(), [&](uint16_t gene) {
      const std::optional<Step>& step = domain.choices[gene];
      return step ? donor_.likeness(*step) : 0;
    });
  }
  Chosen best_of(const SiteDomain& domain) const {
    return best_gene(domain.choices.size(), [&](uint16_t gene) {
      double sum = 0;
      for (const std::vector<Step>& steps : domain.choices[gene]) {
        for (const Step& step : steps) sum += donor_.likeness(step);
      }
      return sum;
    });
  }
  template <class Domain>
  static Chosen best_of(const Domain&) {
    return {.gene = 0, .value = 0};
  }

  double likeness() {
    instantiate(sketch_, genome_, &trace_);
    return donor_.likeness(trace_);
  }

  const Sketch& sketch_;
  const Donor& donor_;
  Genome genome_;
  Trace trace_;
  double likeness_ = 0;
};

// A slice of a choice of tile sizes, and the donor's factors there.
struct DonatedSlice {
  TileSlice slice;
  Factors factors;
};

std::vector<DonatedSlice> donated_slices(const Sketch& sketch, const Hole& hole,
                                         const TileDomain& domain, const Donor& donor) {
  std::vector<TileSlice> slices = domain.slices;
  if (slices.empty()) slices.push_back({.step = hole.step});  // with all parts
  std::vector<DonatedSlice> donated;
  for (const TileSlice& slice : slices) {
    const Split* const split =
        find_split(donor.trace(), sketch.trace.steps[static_cast<size_t>(slice.step)]);
    if (split != nullptr) donated.push_back({.slice = slice, .factors = split->factors});
  }
  return donated;
}

void choose_sizes(const Sketch& sketch, const Donor& donor, bool same_extents, Genome* genome) {
  for (size_t k = 0; k < sketch.holes.size(); ++k) {
    const Hole& hole = sketch.holes[k];
    if (const auto* const tail = std::get_if<TailDomain>(&hole.domain)) {
      genome->genes[k] = find_tail(sketch, *tail, donor.trace());
      continue;
    }
    const auto* const domain = std::get_if<TileDomain>(&hole.domain);
    if (domain == nullptr) continue;
    const std::vector<DonatedSlice> donated = donated_slices(sketch, hole, *domain, donor);
    const bool is_whole = domain->slices.empty();
    const auto nearness_of = [&](uint16_t gene) {
      const Factors& choice = domain->choices[gene];
      const bool divides = domain->extent == 0 || domain->extent % product_of(choice) == 0;
      double far = same_extents || divides ? 0 : kRemainder;
      for (const DonatedSlice& one : donated) {
        far += distance_of(one.factors, is_whole ? choice : factors_of(choice, one.slice));
      }
      return -far;
    };
    genome->genes[k] = best_gene(domain->choices.size(), nearness_of).gene;
  }
}

}  // namespace

std::optional<SketchGenome> nearest_genome(std::span<const Sketch> sketches, const Trace& donor,
                                           bool same_extents) {
  const Donor from(donor);
  std::optional<SketchGenome> nearest;
  double max_likeness = 0;
  for (size_t index = 0; index < sketches.size(); ++index) {
    StepChooser chooser(sketches[index], from);
    Genome genome = chooser.run();
    const double likeness = chooser.likeness_of_result();
    if (likeness < kMinLikeness || likeness <= max_likeness) continue;
    max_likeness = likeness;
    nearest = {.sketch = static_cast<uint16_t>(index), .genome = std::move(genome)};
  }
  if (nearest) choose_sizes(sketches[nearest->sketch], from, same_extents, &nearest->genome);
  return nearest;
}

}  // namespace tilewright::space
