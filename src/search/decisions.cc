#include "search/decisions.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "space/variation.h"

namespace tilewright::search {
namespace {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its domains

constexpr size_t kMaxChoices = 16;  // choices of a hole that are distinguished

std::string text_of(const Hole& /*hole*/, const Sketch& /*sketch*/, const StepDomain& domain,
                    size_t choice) {
  const std::optional<Step>& step = domain.choices[choice];
  return step ? to_text(*step) : "off";
}

std::string text_of(const Hole& /*hole*/, const Sketch& /*sketch*/, const SiteDomain& domain,
                    size_t choice) {
  std::string text;
  for (const std::vector<Step>& steps : domain.choices[choice]) {
    for (const Step& step : steps) text += to_text(step) + ";";
  }
  return text.empty() ? "off" : text;
}

std::string text_of(const Hole& /*hole*/, const Sketch& sketch, const TailDomain& domain,
                    size_t choice) {
  const Step& split = sketch.trace.steps[static_cast<size_t>(domain.steps.front())];
  return fmt::format("{} {}", std::get<Split>(split).loop.text(),
                     static_cast<int>(domain.choices[choice]));
}

std::string text_of(const Hole& /*hole*/, const Sketch& /*sketch*/, const TileDomain& /*domain*/,
                    size_t /*choice*/) {
  return {};
}

}  // namespace

Decisions::Decisions(std::span<const Sketch> sketches) : sketches_(sketches) {
  std::map<std::string, uint32_t> known;
  for (const Sketch& sketch : sketches) {
    std::vector<Open>& open = open_.emplace_back();
    for (size_t k = 0; k < sketch.holes.size(); ++k) {
      const Hole& hole = sketch.holes[k];
      const bool is_tile = std::holds_alternative<TileDomain>(hole.domain);
      if (is_tile || hole.size() < 2 || hole.size() > kMaxChoices) continue;
      Open& numbered = open.emplace_back(Open{.hole = k, .numbers = {}});
      for (size_t choice = 0; choice < hole.size(); ++choice) {
        const std::string text = std::visit(
            [&](const auto& domain) { return text_of(hole, sketch, domain, choice); }, hole.domain);
        const std::string key =
            fmt::format("{} {} {}", hole.stage.text(), hole_kind_text(hole.kind), text);
        numbered.numbers.push_back(
            known.emplace(key, static_cast<uint32_t>(known.size())).first->second);
      }
    }
  }
  count_ = known.size();
}

void Decisions::of(const Candidate& candidate, std::vector<uint32_t>* numbers) const {
  numbers->clear();
  for (const Open& open : open_[candidate.sketch]) {
    numbers->push_back(open.numbers[candidate.genome.genes[open.hole]]);
  }
}

std::vector<Candidate> Decisions::neighbors(const Candidate& candidate) const {
  const Sketch& sketch = sketches_[candidate.sketch];
  std::vector<Candidate> out;
  for (const Open& open : open_[candidate.sketch]) {
    for (const uint16_t gene :
         space::neighbor_genes(sketch, candidate.genome, open.hole, space::Reach::All)) {
      Candidate& other = out.emplace_back(
          Candidate{.sketch = candidate.sketch, .genome = candidate.genome, .program = {}});
      other.genome.genes[open.hole] = gene;
    }
  }
  return out;
}

}  // namespace tilewright::search
