#include "space/sketch_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "schedule/fields.h"
#include "space/tile_order.h"

namespace tilewright::space {
namespace {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its domains

// The field of a step that a hole fills. Factors and tail of one split may be two holes.
enum class StepField : uint8_t { Factors, Tail, Whole };

struct Filled {
  int16_t step = 0;
  StepField field = StepField::Whole;
  size_t hole = 0;
};

class SketchCheck {
 public:
  explicit SketchCheck(const Sketch& sketch) : sketch_(sketch) {}

  std::string run() {
    for (size_t k = 0; k < sketch_.holes.size(); ++k) {
      const Hole& hole = sketch_.holes[k];
      if (hole.size() == 0 || hole.size() > UINT16_MAX) {
        return fmt::format("hole {} has {} choices; it needs 1 to {}", k, hole.size(), UINT16_MAX);
      }
      hole_ = k;
      std::string why =
          std::visit([&](const auto& domain) { return fault_in(hole, domain); }, hole.domain);
      if (!why.empty()) return why;
    }
    for (const Filled& filled : filled_) {
      if (!fits(filled)) {
        return fmt::format("hole {} names a step that is not there, or is no split", filled.hole);
      }
    }
    return conflict();
  }

 private:
  bool fits(const Filled& filled) const {
    const auto at = static_cast<size_t>(filled.step);
    if (filled.step < 0 || at >= sketch_.trace.steps.size()) return false;
    return filled.field == StepField::Whole ||
           std::holds_alternative<Split>(sketch_.trace.steps[at]);
  }

  void fill(int16_t step, StepField field) { filled_.push_back({step, field, hole_}); }

  std::string fault_in(const Hole& hole, const TileDomain& domain) {
    for (const Factors& choice : domain.choices) {
      if (check_factors(choice, {.code = IllegalCode::BadFactor, .stage = {}, .loop = {}})) {
        return fmt::format("hole {}: no split takes the factors {}", hole_, field_text(choice));
      }
      for (const TileSlice& slice : domain.slices) {
        const size_t end = size_t{slice.from} + slice.parts;
        if (slice.parts > 0 && end <= choice.size()) continue;
        return fmt::format("hole {}: a slice of {} factors from number {} on does not fit {}",
                           hole_, slice.parts, slice.from, field_text(choice));
      }
    }
    if (!has_order(domain)) {
      return fmt::format(
          "hole {}: its tile sizes must be distinct and sorted, by the first factor or by the last",
          hole_);
    }
    if (domain.slices.empty()) fill(hole.step, StepField::Factors);
    for (const TileSlice& slice : domain.slices) fill(slice.step, StepField::Factors);
    return {};
  }

  std::string fault_in(const Hole& /*hole*/, const TailDomain& domain) {
    if (domain.steps.empty()) return fmt::format("hole {} is of tails, but names no split", hole_);
    for (const int16_t step : domain.steps) fill(step, StepField::Tail);
    return {};
  }

  std::string fault_in(const Hole& hole, const StepDomain& /*domain*/) {
    fill(hole.step, StepField::Whole);
    return {};
  }

  std::string fault_in(const Hole& /*hole*/, const SiteDomain& domain) {
    for (const auto& choice : domain.choices) {
      if (choice.size() == domain.sites.size()) continue;
      return fmt::format("hole {}: a choice is for {} sites; there are {}", hole_, choice.size(),
                         domain.sites.size());
    }
    for (const int16_t site : domain.sites) fill(site, StepField::Whole);
    return {};
  }

  // True if every choice of the hole is a split or no step. Other holes may then fill the fields of
  // that split.
  bool keeps_split(size_t hole) const {
    const auto* const steps = std::get_if<StepDomain>(&sketch_.holes[hole].domain);
    return steps != nullptr && std::ranges::all_of(steps->choices, [](const auto& choice) {
             return !choice || std::holds_alternative<Split>(*choice);
           });
  }

  // Two holes that fill the same site.
  std::string conflict() {
    std::ranges::sort(filled_, {}, [](const Filled& filled) {
      return std::tuple(filled.step, filled.field, filled.hole);
    });
    for (size_t k = 1; k < filled_.size(); ++k) {
      const Filled& a = filled_[k - 1];
      const Filled& b = filled_[k];
      if (a.step != b.step) continue;
      if (a.field != b.field && b.field != StepField::Whole) continue;  // factors and tail
      if (a.field != b.field && keeps_split(b.hole)) continue;
      if (a.hole == b.hole) return fmt::format("hole {} fills step {} twice", a.hole, a.step);
      if (a.field != b.field && std::holds_alternative<StepDomain>(sketch_.holes[b.hole].domain)) {
        return fmt::format(
            "hole {} makes something else of step {}, which hole {} fills as a split", b.hole,
            a.step, a.hole);
      }
      return fmt::format("holes {} and {} fill the same step {}", std::min(a.hole, b.hole),
                         std::max(a.hole, b.hole), a.step);
    }
    return {};
  }

  const Sketch& sketch_;
  size_t hole_ = 0;  // that is checked
  std::vector<Filled> filled_;
};

}  // namespace

std::string fault_of(const Sketch& sketch) { return SketchCheck(sketch).run(); }

}  // namespace tilewright::space
