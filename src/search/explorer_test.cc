#include "search/explorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "search/batch.h"
#include "search/evolution.h"
#include "search/explorers.h"
#include "search/landscape_testing.h"

namespace tilewright::search {
namespace {

// All explorers, with small sizes if they have such an option.
std::vector<Selection> all_explorers() {
  std::vector<Selection> all;
  for (const ExplorerRow& row : explorers().rows()) {
    const std::string options = row.name == "evolution" ? ":population=256"
                                : row.name == "beam"    ? ":width=32"
                                                        : "";
    all.push_back(explorers().parse(row.name + options).value());
  }
  return all;
}

// A beam drops programs that it never returns to; all others try all that there is.
bool exhausts(const Selection& explorer) { return explorer.name != "beam"; }

std::unique_ptr<Explorer> make(const Selection& explorer, const ExplorerContext& context) {
  return explorers().make(explorer, context).value();
}

std::unique_ptr<Explorer> make_small(std::string_view name, const ExplorerContext& context) {
  for (const Selection& explorer : all_explorers()) {
    if (explorer.name == name) return make(explorer, context);
  }
  return nullptr;
}

ExplorerContext context_of(const Landscape& landscape, Assessor* assessor, uint64_t seed = 1) {
  return {.sketches = landscape.sketches, .assessor = assessor, .seed = seed};
}

// Two sketches of 60 and 24 genomes; the last gene of each changes nothing, so that there are half
// as many programs.
struct SmallSpace : Assessor {
  std::vector<schedule::Sketch> sketches = {
      {.trace = {}, .holes = {choice_hole(5, "A"), choice_hole(6, "B"), choice_hole(2, "B")}},
      {.trace = {}, .holes = {choice_hole(12, "A"), choice_hole(2, "A")}}};

  void assess(std::span<Candidate> candidates) override {
    for (Candidate& candidate : candidates) {
      const std::vector<uint16_t>& genes = candidate.genome.genes;
      uint64_t program = candidate.sketch + 1U;
      for (size_t k = 0; k + 1 < genes.size(); ++k) program = program * 16 + genes[k];
      candidate.program = {.high = 1, .low = program};
      candidate.score = static_cast<float>(program % 7);
    }
  }
};

std::vector<Outcome> outcomes_of(std::span<const Candidate> proposed, double latency_ns) {
  std::vector<Outcome> outcomes;
  for (const Candidate& candidate : proposed) {
    outcomes.push_back({.candidate = candidate, .latency_ns = latency_ns});
  }
  return outcomes;
}

TEST(Explorer, SameSeedSameCandidatesForAnyNumberOfThreads) {
  const Landscape landscape = separable_tiles();
  for (const Selection& kind : all_explorers()) {
    std::vector<std::vector<double>> runs;
    for (const size_t threads : {size_t{1}, size_t{1}, size_t{3}}) {
      LandscapeAssessor assessor(landscape, 0.5, false, threads);
      const auto explorer = make(kind, context_of(landscape, &assessor));
      runs.push_back(explore(*explorer, landscape, 100, 32));
    }
    EXPECT_EQ(runs[0], runs[1]);
    EXPECT_EQ(runs[0], runs[2]);
    LandscapeAssessor assessor(landscape, 0.5);
    const auto other = make(kind, context_of(landscape, &assessor, 2));
    EXPECT_NE(runs[0], explore(*other, landscape, 100, 32));
  }
}

TEST(Explorer, NeverProposesAProgramTwice) {
  const Landscape landscape = needle();
  for (const Selection& kind : all_explorers()) {
    LandscapeAssessor assessor(landscape, 0.5);
    const auto explorer = make(kind, context_of(landscape, &assessor));
    std::set<Hash128> programs;
    for (int round = 0; round < 6; ++round) {
      const std::vector<Candidate> proposed = explorer->ask(50);
      EXPECT_EQ(proposed.size(), 50U) << kind.text();
      for (const Candidate& candidate : proposed) {
        EXPECT_TRUE(programs.insert(candidate.program).second) << kind.text();
        EXPECT_NE(candidate.program, Hash128{});
      }
      if (round % 2 == 0) explorer->tell(outcomes_of(proposed, 10));  // or there are no results
    }
  }
}

TEST(Explorer, NeverProposesReportedPrograms) {
  SmallSpace space;
  for (const Selection& kind : all_explorers()) {
    const ExplorerContext context{.sketches = space.sketches, .assessor = &space};
    const std::vector<Candidate> first = make(kind, context)->ask(20);
    const auto explorer = make(kind, context);
    explorer->tell(outcomes_of(first, 5));
    std::set<Hash128> before;
    for (const Candidate& candidate : first) before.insert(candidate.program);
    for (const Candidate& candidate : explorer->ask(100)) {
      EXPECT_FALSE(before.contains(candidate.program));
    }
  }
}

TEST(Explorer, IgnoresOutcomesFromOutsideTheSpace) {
  SmallSpace space;
  for (const Selection& kind : all_explorers()) {
    const ExplorerContext context{.sketches = space.sketches, .assessor = &space};
    const Hash128 program = make(kind, context)->ask(1).at(0).program;
    const auto explorer = make(kind, context);
    const Outcome known{.candidate = {.sketch = kNoSketch, .genome = {}, .program = program},
                        .latency_ns = 0};
    explorer->tell({&known, 1});
    for (int round = 0; round < 4; ++round) {
      for (const Candidate& candidate : explorer->ask(16)) {
        EXPECT_NE(candidate.program, program) << kind.text();
      }
    }
  }
}

TEST(Explorer, ScoresComeFromTheModelEvenIfUnreliable) {
  SmallSpace space;
  for (const Selection& kind : all_explorers()) {
    const auto explorer = make(
        kind,
        {.sketches = space.sketches, .assessor = &space, .seed = 1, .scores_unreliable = true});
    for (const Candidate& candidate : explorer->ask(16)) {
      EXPECT_EQ(candidate.score, static_cast<float>(candidate.program.low % 7)) << kind.text();
    }
  }
}

TEST(Explorer, ExhaustsSmallSpacesExactly) {
  SmallSpace space;
  for (const Selection& kind : all_explorers()) {
    if (!exhausts(kind)) continue;
    const auto explorer = make(kind, {.sketches = space.sketches, .assessor = &space});
    std::set<Hash128> programs;
    size_t rounds = 0;
    for (;; ++rounds) {
      const std::vector<Candidate> proposed = explorer->ask(16);
      if (proposed.empty()) break;
      for (const Candidate& candidate : proposed) {
        EXPECT_TRUE(programs.insert(candidate.program).second);
      }
      explorer->tell(outcomes_of(proposed, rounds == 1 ? 0 : 10));
    }
    EXPECT_EQ(programs.size(), 42U) << kind.text();
    EXPECT_EQ(rounds, 3U);
    EXPECT_TRUE(explorer->ask(16).empty());
  }
}

TEST(Explorer, BeamTerminatesInASmallSpace) {
  SmallSpace space;
  const auto explorer = make_small("beam", {.sketches = space.sketches, .assessor = &space});
  std::set<Hash128> programs;
  for (int round = 0; round < 20; ++round) {
    for (const Candidate& candidate : explorer->ask(16)) {
      EXPECT_TRUE(programs.insert(candidate.program).second);
    }
  }
  EXPECT_GE(programs.size(), 21U);  // what it drops early it does not come back to
}

TEST(Explorer, TerminatesIfNothingIsLegal) {
  Landscape landscape = separable_tiles();
  landscape.latency_ns = [](const Candidate&) { return 0; };
  for (const Selection& kind : all_explorers()) {
    LandscapeAssessor assessor(landscape);
    EXPECT_TRUE(make(kind, context_of(landscape, &assessor))->ask(64).empty());
    EXPECT_LE(assessor.assessed(), 20000U);
  }
}

TEST(Explorer, FindsRareLegalCandidates) {
  Landscape landscape = needle();
  landscape.latency_ns = [](const Candidate& c) {
    return c.genome.genes[0] == 3 && c.genome.genes[1] > 5 ? 1.0 + c.genome.genes[2] : 0;
  };
  for (const Selection& kind : all_explorers()) {
    if (!exhausts(kind)) continue;
    LandscapeAssessor assessor(landscape);
    EXPECT_EQ(make(kind, context_of(landscape, &assessor))->ask(64).size(), 64U);
  }
}

TEST(Explorer, ProposesIfAllScoresAreEqual) {
  const Landscape landscape = coupled_pairs();
  for (const Selection& kind : all_explorers()) {
    LandscapeAssessor assessor(landscape, 0, true);
    const auto explorer = make(kind, context_of(landscape, &assessor));
    EXPECT_EQ(explore(*explorer, landscape, 192, 64).size(), 192U) << kind.text();
  }
}

TEST(Explorer, NoSketchesNoCandidates) {
  SmallSpace space;
  for (const Selection& kind : all_explorers()) {
    EXPECT_TRUE(make(kind, {.sketches = {}, .assessor = &space})->ask(8).empty());
  }
}

TEST(Evolution, SharesOfChildrenSumToAtMostOne) {
  EXPECT_TRUE(explorers().parse("evolution:mutation=0.9,crossover=0.1").has_value());
  EXPECT_EQ(explorers().parse("evolution:mutation=0.9,crossover=0.9").error().message,
            "evolution: mutation=0.9 and crossover=0.9 are shares of the same children; their sum "
            "must be at most 1");
}

// All candidates were tried except those of one sketch that looks bad: it is still proposed, until
// it was tried often enough.
TEST(Evolution, EverySketchIsTriedUntilHopeless) {
  Landscape landscape = needle();
  landscape.sketches.push_back(landscape.sketches[0]);
  const auto fair = landscape.latency_ns;
  landscape.latency_ns = [fair](const Candidate& c) {
    return (c.sketch == 1 ? 100 : 1) * fair(c);  // slower than anything of the other
  };
  LandscapeAssessor assessor(landscape);
  const auto explorer = make_small("evolution", context_of(landscape, &assessor));
  size_t tried = 0;
  for (int round = 0; round < 12; ++round) {
    std::vector<Outcome> outcomes;
    size_t of_bad = 0;
    for (const Candidate& candidate : explorer->ask(16)) {
      of_bad += candidate.sketch;
      outcomes.push_back({.candidate = candidate, .latency_ns = landscape.latency_ns(candidate)});
    }
    EXPECT_GE(of_bad, tried < 4 ? 1U : 0U) << "round " << round;
    EXPECT_LE(of_bad, tried < 4 ? 16U : 1U) << "round " << round;  // then by chance only
    tried += of_bad;
    explorer->tell(outcomes);
  }
  EXPECT_GE(tried, 4U);
}

TEST(Evolution, OneInSixteenIsRandom) {
  const Landscape landscape = needle();
  LandscapeAssessor assessor(landscape);
  for (const size_t count : {size_t{16}, size_t{64}}) {
    const auto explorer = make_small("evolution", context_of(landscape, &assessor));
    explore(*explorer, landscape, 64, 64);
    const std::vector<Candidate> proposed = explorer->ask(count);
    ASSERT_EQ(proposed.size(), count);
    // Random candidates are last, and far worse than those that the model chose.
    const size_t by_chance = count / 16;
    const float worst = proposed[count - by_chance - 1].score;
    for (size_t k = 0; k < count; ++k) {
      EXPECT_EQ(k >= count - by_chance, proposed[k].score < worst) << k << " of " << count;
    }
  }
}

TEST(Batch, ContainsFewNearDuplicates) {
  // The best one, 40 that differ from it in one gene, and 40 worse ones that differ in two.
  std::vector<Candidate> found;
  for (uint16_t k = 0; k <= 80; ++k) {
    Candidate candidate{.sketch = 0, .genome = {{0, 0, 0}}, .program = {.high = 1, .low = k}};
    candidate.score = static_cast<float>(100 - k);
    if (k > 0) candidate.genome.genes[0] = k;
    if (k > 40) candidate.genome.genes[1] = k;
    found.push_back(candidate);
  }
  const std::vector<schedule::Sketch> sketches(1);
  const Evidence evidence(sketches);
  Rng rng(1);
  const BatchOptions options{.count = 20, .random_share = 0};
  const std::vector<Candidate> batch = choose_batch(found, {}, evidence, options, rng);
  ASSERT_EQ(batch.size(), 20U);
  EXPECT_EQ(std::ranges::count_if(batch, [](const Candidate& c) { return c.genome.genes[1] == 0; }),
            1 + 4);
  // If there are no other candidates, near duplicates are accepted.
  const std::vector<Candidate> only =
      choose_batch(std::span(found).first(30), {}, evidence, options, rng);
  EXPECT_EQ(only.size(), 20U);
}

// A model that is wrong about one decision does not keep it from being tried.
TEST(Evolution, EveryDecisionIsTried) {
  struct Prejudiced : Assessor {
    std::vector<schedule::Sketch> sketches = {
        {.trace = {},
         .holes = {tile_hole(512, 4, "A"), tile_hole(512, 4, "A"), choice_hole(6, "A")}}};
    void assess(std::span<Candidate> candidates) override {
      for (Candidate& candidate : candidates) {
        const std::vector<uint16_t>& genes = candidate.genome.genes;
        candidate.program = {.high = genes[2] + 1U, .low = genes[0] * 1000U + genes[1]};
        candidate.score = genes[2] == 3 ? -1e6F : static_cast<float>(genes[0]);
      }
    }
  } assessor;
  const auto explorer =
      make_evolution({.sketches = assessor.sketches, .assessor = &assessor, .seed = 1});
  const std::vector<Candidate> first = explorer->ask(24);
  std::set<uint16_t> choices;
  for (const Candidate& candidate : first) choices.insert(candidate.genome.genes[2]);
  EXPECT_EQ(choices.size(), 6u);
}

}  // namespace
}  // namespace tilewright::search
