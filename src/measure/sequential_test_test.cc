// On made-up machines: noise only adds, in jitter, spikes and slow spells. No clock is read.
#include "measure/sequential_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/quantile.h"
#include "base/rng.h"

namespace tilewright::measure {
namespace {

// A sample of code with the latency `true_ns` on a machine with some kind of noise.
struct Noise {
  const char* name;
  double jitter;       // mean of an exponential, as a share
  double spike_share;  // of samples that are up to ten times as long
  double drift;        // slow wave over the samples, as a share
};

constexpr Noise kNoises[] = {
    {"quiet", 0.002, 0, 0},
    {"jitter", 0.02, 0, 0},
    {"spikes", 0.005, 0.2, 0},
    {"drift", 0.005, 0.02, 0.01},
};

double reading(double true_ns, const Noise& noise, int64_t number, Rng& rng) {
  double share = 1 - noise.jitter * std::log(1 - rng.uniform());
  share += noise.drift * (1 + std::sin(static_cast<double>(number) / 50)) / 2;
  if (rng.chance(noise.spike_share)) share *= 1 + 9 * rng.uniform();
  return true_ns * share;
}

struct Search {
  double chosen_ns = 0;  // its true cost
  double loser_samples = 0;
  double best_samples = 0;
};

// Fifty candidates, 1 to 20 % (and some much) slower than the best, in random order.
Search search(const Noise& noise, double best_ns, Rng& rng) {
  std::vector<double> candidates = {best_ns};
  for (int k = 1; k < 50; ++k) {
    candidates.push_back(best_ns * (1.01 + (k % 4 == 0 ? 2.0 : 0.19) * rng.uniform()));
  }
  for (size_t k = candidates.size(); k > 1; --k) {
    std::swap(candidates[k - 1], candidates[rng.below(k)]);
  }
  Search result;
  double incumbent = 0;
  int64_t number = 0;
  size_t losers = 0;
  for (const double candidate : candidates) {
    SequentialTest test(incumbent);
    double elapsed = 0;
    bool done = false;
    while (!done) {
      const double sample = reading(candidate, noise, number++, rng);
      elapsed += sample;
      done = test.add(sample, elapsed);
    }
    EXPECT_LE(test.samples().size(), 64U);
    if (candidate > 1.5 * best_ns && incumbent > 0 && incumbent < 1.1 * best_ns) {
      result.loser_samples += static_cast<double>(test.samples().size());
      ++losers;
    }
    if (candidate == best_ns) result.best_samples = static_cast<double>(test.samples().size());
    if (incumbent > 0 && test.latency_ns() >= incumbent) continue;
    incumbent = test.latency_ns();
    result.chosen_ns = candidate;
  }
  result.loser_samples /= static_cast<double>(std::max<size_t>(1, losers));
  return result;
}

TEST(SequentialTest, FindsTheBestOfFiftyWithFewSamplesForLosers) {
  constexpr int kSeeds = 20;
  for (const Noise& noise : kNoises) {
    SCOPED_TRACE(noise.name);
    int within_one_percent = 0;
    double worst = 0, loser_samples = 0, best_samples = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Rng rng(seed);
      const Search found = search(noise, 1e6, rng);
      within_one_percent += found.chosen_ns <= 1.0101e6 ? 1 : 0;
      worst = std::max(worst, found.chosen_ns / 1e6);
      loser_samples += found.loser_samples / kSeeds;
      best_samples += found.best_samples / kSeeds;
    }
    EXPECT_GE(within_one_percent, kSeeds - 4);
    EXPECT_LE(worst, 1.03);
    EXPECT_LE(loser_samples, 5);
    EXPECT_GE(best_samples, 8);
  }
}

struct Stop {
  const char* name;
  double incumbent_ns;
  std::vector<double> samples;  // taken in order; the last one is repeated
  size_t expected;              // how many are taken
};

TEST(SequentialTest, StopsWhenTheVerdictIsClear) {
  const Stop cases[] = {
      {"twice as slow", 1e6, {2.1e6}, 2},
      {"clearly slower", 1e6, {1.6e6}, 3},
      {"slower by a quarter", 1e6, {1.3e6}, 4},
      {"slower by a tenth", 1e6, {1.1e6}, 8},
      {"a short loser waits for a millisecond", 1e4, {2e4}, 50},
      {"near, and short", 1e5, {1.2e5}, 34},
      {"equal, steady", 1e6, {1e6}, 12},
      {"nothing known, steady", 0, {1e5}, 12},
      {"long contender", 1e8, {1e8}, 5},
      {"long, not clear", 1e8, {1.06e8}, 3},
      {"one fast sample of many", 1e6, {0.9e6, 1.2e6, 1.3e6, 1.4e6, 1.5e6, 1.6e6}, 27},
  };
  for (const Stop& one : cases) {
    SCOPED_TRACE(one.name);
    SequentialTest test(one.incumbent_ns);
    double elapsed = 0;
    for (size_t k = 0;; ++k) {
      const double sample = one.samples[std::min(k, one.samples.size() - 1)];
      elapsed += sample;
      if (test.add(sample, elapsed)) break;
    }
    EXPECT_EQ(test.samples().size(), one.expected);
  }
}

TEST(SequentialTest, LoadedMachineTakesMoreSamples) {
  SequentialTest test(1e5);
  double elapsed = 0;
  do elapsed += 3e5;
  while (!test.add(3e5, elapsed, false));
  EXPECT_EQ(test.samples().size(), 20U);
}

TEST(SequentialTest, QuotesTheLowQuantile) {
  SequentialTest test(0);
  for (int k = 11; k > 0; --k) test.add(k, 0);
  EXPECT_EQ(test.latency_ns(), 2);
  const double one[] = {7};
  EXPECT_EQ(quantile_of(one, 0.5), 7);
  const double two[] = {1, 2};
  EXPECT_EQ(quantile_of(two, 0.25), 1.25);
}

}  // namespace
}  // namespace tilewright::measure
