// Evolution against random at an equal number of trials, on landscapes whose best is known.
#include "search/landscape_testing.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "search/evolution.h"
#include "search/random.h"

namespace tilewright::search {
namespace {

constexpr size_t kTrials = 200;
constexpr size_t kAtOnce = 40;
constexpr uint64_t kSeeds = 100;
constexpr int kWanted = 95;
constexpr int kWantedBlind = 75;  // five questions are only four generations of what was measured

EvolutionOptions small() {
  EvolutionOptions options;
  options.population = 128;
  return options;
}

struct Race {
  int wins = 0;
  double mean = 0;  // of evolution's best against the known best
};

Race race(const Landscape& landscape, double noise, bool blind) {
  Race result;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    LandscapeAssessor assessor(landscape, noise, blind);
    const ExplorerContext context{.sketches = landscape.sketches,
                                  .assessor = &assessor,
                                  .seed = seed,
                                  .scores_unreliable = blind};
    const auto evolution = make_evolution(context, small());
    const auto random = make_random(context);
    const auto ours = explore(*evolution, landscape, kTrials, kAtOnce);
    const auto theirs = explore(*random, landscape, kTrials, kAtOnce);
    EXPECT_EQ(ours.size(), kTrials);
    EXPECT_EQ(theirs.size(), kTrials);
    result.wins += std::ranges::min(ours) < std::ranges::min(theirs) ? 1 : 0;
    result.mean += std::ranges::min(ours) / landscape.best_ns / kSeeds;
  }
  return result;
}

TEST(Landscape, EvolutionWithAnExactModelFindsTheBest) {
  for (const Landscape& landscape : all_landscapes()) {
    const Race result = race(landscape, 0, false);
    EXPECT_GE(result.wins, kWanted) << landscape.name;
    EXPECT_LE(result.mean, 1.15) << landscape.name;
  }
}

TEST(Landscape, EvolutionWithANoisyModelBeatsRandom) {
  for (const Landscape& landscape : all_landscapes()) {
    const Race result = race(landscape, 1.0, false);
    EXPECT_GE(result.wins, kWanted) << landscape.name;
  }
}

TEST(Landscape, EvolutionWithoutAModelBeatsRandom) {
  for (const Landscape& landscape : all_landscapes()) {
    const Race result = race(landscape, 0, true);
    EXPECT_GE(result.wins, kWantedBlind) << landscape.name;
  }
}

}  // namespace
}  // namespace tilewright::search
