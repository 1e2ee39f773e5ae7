#include "search/landscape_testing.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "search/genome_hash.h"
#include "space/tile_domain.h"

namespace tilewright::search {
namespace {

using schedule::Factors;
using schedule::Hole;
using schedule::Sketch;
using schedule::TileDomain;

Sketch sketch_of(std::string name, std::vector<Hole> holes) {
  return {.trace = {}, .holes = std::move(holes), .name = std::move(name)};
}

const Factors& tile(const Landscape& landscape, const Candidate& candidate, size_t hole) {
  const Hole& domain = landscape.sketches[candidate.sketch].holes[hole];
  return std::get<TileDomain>(domain.domain).choices[candidate.genome.genes[hole]];
}

// The distance of a tile from a size, in doublings.
double away(int64_t factor, double size) {
  return std::abs(std::log2(static_cast<double>(factor)) - std::log2(size));
}

uint64_t gene(const Candidate& candidate, size_t hole) { return candidate.genome.genes[hole]; }

// Three of ten genomes are refused.
bool is_refused(const Candidate& candidate) {
  return genome_hash(candidate.sketch, candidate.genome).high % 10 < 3;
}

Landscape make(std::string_view name, std::vector<Sketch> sketches,
               double (*latency)(const Landscape&, const Candidate&)) {
  Landscape landscape{.name = name, .sketches = std::move(sketches), .latency_ns = {}};
  landscape.latency_ns = [shape = landscape, latency](const Candidate& candidate) {
    return is_refused(candidate) ? 0 : latency(shape, candidate);
  };
  return landscape;
}

}  // namespace

Hole tile_hole(int64_t extent, int levels, std::string_view stage) {
  return {.step = 0,
          .stage = {.op = Name(stage)},
          .domain = space::tile_domain({.extent = extent, .factors = levels - 1}),
          .kind = schedule::HoleKind::Tile};
}

Hole choice_hole(size_t size, std::string_view stage) {
  return {.step = 0,
          .stage = {.op = Name(stage)},
          .domain = schedule::StepDomain{.choices = {size, std::nullopt}},
          .kind = schedule::HoleKind::Unroll};
}

Landscape separable_tiles() {
  std::vector<Sketch> sketches;
  for (const char* name : {"a", "b", "c"}) {
    sketches.push_back(
        sketch_of(name, {tile_hole(512, 4, "C"), tile_hole(384, 4, "C"), tile_hole(256, 2, "C"),
                         choice_hole(4, "C"), choice_hole(4, "D")}));
  }
  return make("separable tiles", std::move(sketches),
              [](const Landscape& self, const Candidate& c) {
                double cost = c.sketch == 1 ? 0 : 3;
                const Factors& i = tile(self, c, 0);
                const Factors& j = tile(self, c, 1);
                cost += away(i[0], 4) + away(i[1], 2) + away(i[2], 8);
                cost += away(j[0], 2) + away(j[1], 6) + away(j[2], 32);
                cost += away(tile(self, c, 2)[0], 16);
                cost += static_cast<double>(gene(c, 3) == 2 ? 0 : 1);
                return std::exp(0.15 * cost);
              });
}

Landscape coupled_pairs() {
  std::vector<Hole> holes = {tile_hole(512, 3, "C"), tile_hole(512, 3, "C"), tile_hole(512, 3, "D"),
                             tile_hole(512, 3, "D"), choice_hole(3, "D")};
  return make("coupled pairs", {sketch_of("only", std::move(holes))},
              [](const Landscape& self, const Candidate& c) {
                double cost = 0;
                for (const size_t pair : {size_t{0}, size_t{2}}) {
                  const Factors& i = tile(self, c, pair);
                  const Factors& j = tile(self, c, pair + 1);
                  const auto sums = static_cast<double>(i[1] * j[1]);  // spilled above 32
                  cost += sums > 32 ? 4 + std::log2(sums / 32) : std::log2(32 / sums);
                  cost += away(j[1], 16);
                  cost += away(i[0] * j[0] * i[1] * j[1], 4096);
                }
                return std::exp(0.15 * cost);
              });
}

Landscape deceptive_plateau() {
  std::vector<Hole> holes;
  for (const char* stage : {"A", "B", "C", "D", "E", "F"}) holes.push_back(choice_hole(24, stage));
  return make("deceptive plateau", {sketch_of("only", std::move(holes))},
              [](const Landscape&, const Candidate& c) {
                double good = 0;
                double lesser = 0;
                for (size_t h = 0; h < 6; ++h) {
                  const auto value = static_cast<double>(gene(c, h));
                  good += std::max(0.0, 6 - std::abs(value - 19));
                  lesser += std::max(0.0, 10 - value);
                }
                const double gain = std::max(good <= 12 ? 0 : (good - 12) / 24 * 1.5,
                                             lesser <= 18 ? 0 : (lesser - 18) / 42 * 0.9);
                return std::exp(1.5 - gain);
              });
}

Landscape needle() {
  std::vector<Hole> holes;
  for (const char* stage : {"A", "A", "B", "B", "C", "C", "D", "D"}) {
    holes.push_back(choice_hole(12, stage));
  }
  return make("needle", {sketch_of("only", std::move(holes))},
              [](const Landscape&, const Candidate& c) {
                double wrong = 0;
                for (size_t h = 0; h < 8; ++h) wrong += gene(c, h) == (5 * h + 3) % 12 ? 0 : 1;
                return std::exp(0.2 * wrong);
              });
}

std::vector<Landscape> all_landscapes() {
  std::vector<Landscape> all;
  all.push_back(separable_tiles());
  all.push_back(coupled_pairs());
  all.push_back(deceptive_plateau());
  all.push_back(needle());
  return all;
}

void LandscapeAssessor::assess_one(Candidate& candidate) const {
  candidate.program = {};
  candidate.score = 0;
  const double latency = landscape_.latency_ns(candidate);
  if (latency <= 0) return;
  candidate.program = genome_hash(candidate.sketch, candidate.genome);
  if (blind_) return;
  const double chance = static_cast<double>(candidate.program.low >> 11) * 0x1.0p-53;
  candidate.score = static_cast<float>(-std::log(latency) + noise_ * (2 * chance - 1));
}

void LandscapeAssessor::assess(std::span<Candidate> candidates) {
  assessed_ += candidates.size();
  std::vector<std::jthread> threads;
  for (size_t t = 1; t < threads_; ++t) {
    threads.emplace_back([&, t] {
      for (size_t k = t; k < candidates.size(); k += threads_) assess_one(candidates[k]);
    });
  }
  for (size_t k = 0; k < candidates.size(); k += threads_) assess_one(candidates[k]);
}

std::vector<double> explore(Explorer& explorer, const Landscape& landscape, size_t trials,
                            size_t at_once) {
  std::vector<double> latencies;
  while (latencies.size() < trials) {
    std::vector<Outcome> outcomes;
    for (Candidate& candidate : explorer.ask(std::min(at_once, trials - latencies.size()))) {
      const double latency = landscape.latency_ns(candidate);
      latencies.push_back(latency);
      outcomes.push_back({.candidate = std::move(candidate), .latency_ns = latency});
    }
    if (outcomes.empty()) break;
    explorer.tell(outcomes);
  }
  return latencies;
}

}  // namespace tilewright::search
