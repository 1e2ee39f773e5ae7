#include "space/variation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "space/tile_domain.h"
#include "space/tile_order.h"

namespace tilewright::space {
namespace {

using schedule::Genome;
using schedule::Hole;
using schedule::HoleKind;
using schedule::Sketch;
using schedule::StageName;
using schedule::Step;
using schedule::StepDomain;
using schedule::TailDomain;
using schedule::TileDomain;

StageName stage_of(std::string_view text) { return StageName::parse(text).value(); }

Hole tile_hole(std::string_view stage, int64_t extent, int levels = 4) {
  return {.step = 0,
          .stage = stage_of(stage),
          .domain = tile_domain({.extent = extent, .factors = levels - 1}),
          .kind = HoleKind::Tile};
}
Hole step_hole(std::string_view stage, size_t choices, HoleKind kind) {
  StepDomain domain;
  for (size_t k = 0; k < choices; ++k) domain.choices.emplace_back();
  return {.step = 0, .stage = stage_of(stage), .domain = domain, .kind = kind};
}

// Holes of three stages of two operators.
Sketch convolution() {
  Sketch sketch;
  sketch.holes.push_back(tile_hole("C", 56));
  sketch.holes.push_back(tile_hole("C", 64));
  sketch.holes.push_back(tile_hole("C.write", 512, 2));
  sketch.holes.push_back(step_hole("C", 3, HoleKind::Parallel));
  sketch.holes.push_back(step_hole("C.write", 2, HoleKind::Unroll));
  sketch.holes.push_back(step_hole("P", 5, HoleKind::Location));
  sketch.holes.push_back(step_hole("P", 1, HoleKind::Pack));
  sketch.holes.push_back({.step = 0,
                          .stage = stage_of("C"),
                          .domain = TailDomain{{schedule::Tail::Peel, schedule::Tail::Mask}, {}},
                          .kind = HoleKind::Tail});
  return sketch;
}

Genome zeros(const Sketch& sketch) { return {std::vector<uint16_t>(sketch.holes.size(), 0)}; }

size_t differing(const Genome& a, const Genome& b) {
  size_t count = 0;
  for (size_t k = 0; k < a.genes.size(); ++k) count += a.genes[k] != b.genes[k] ? 1 : 0;
  return count;
}

TEST(Mutate, ReachesEveryChoiceAndAlwaysChanges) {
  const Sketch sketch = convolution();
  Rng rng(1);
  Genome genome = zeros(sketch);
  std::vector<std::set<uint16_t>> seen(sketch.holes.size());
  std::map<size_t, int> changes;
  constexpr int kSteps = 40000;
  for (int k = 0; k < kSteps; ++k) {
    const Genome before = genome;
    ASSERT_TRUE(mutate(sketch, &genome, rng));
    const size_t changed = differing(before, genome);
    ASSERT_GE(changed, 1u);
    ASSERT_LE(changed, 3u);
    ++changes[changed];
    for (size_t h = 0; h < seen.size(); ++h) {
      ASSERT_LT(genome.genes[h], sketch.holes[h].size());
      seen[h].insert(genome.genes[h]);
    }
  }
  for (size_t h = 0; h < seen.size(); ++h) EXPECT_EQ(seen[h].size(), sketch.holes[h].size()) << h;
  EXPECT_NEAR(changes[1], 0.8 * kSteps, 0.08 * kSteps);  // some second genes are drawn twice
  EXPECT_GT(changes[3], 0.03 * kSteps);
}

TEST(Mutate, MostlyChangesTiles) {
  const Sketch sketch = convolution();
  Rng rng(2);
  std::map<HoleKind, int> changed;
  int total = 0;
  for (int k = 0; k < 20000; ++k) {
    Genome genome = zeros(sketch);
    ASSERT_TRUE(mutate(sketch, &genome, rng));
    for (size_t h = 0; h < genome.genes.size(); ++h) {
      if (genome.genes[h] == 0) continue;
      ++changed[sketch.holes[h].kind];
      ++total;
    }
  }
  const auto share = [&](HoleKind kind) { return changed[kind] / static_cast<double>(total); };
  EXPECT_NEAR(share(HoleKind::Tile), 0.75, 0.05);
  for (const HoleKind kind :
       {HoleKind::Parallel, HoleKind::Unroll, HoleKind::Location, HoleKind::Tail}) {
    EXPECT_NEAR(share(kind), 0.25 / 4, 0.02) << hole_kind_text(kind);
  }
  EXPECT_EQ(changed[HoleKind::Pack], 0);  // one choice only
}

TEST(Mutate, ChangesOnlyHolesWithAChoice) {
  Rng rng(3);
  Sketch none;
  none.holes.push_back(step_hole("P", 1, HoleKind::Pack));
  none.holes.push_back(tile_hole("C", 1));
  Genome genome = zeros(none);
  EXPECT_FALSE(mutate(none, &genome, rng));
  EXPECT_EQ(genome, zeros(none));
  Genome empty;
  EXPECT_FALSE(mutate(Sketch{}, &empty, rng));

  Sketch without_tiles;
  without_tiles.holes.push_back(step_hole("P", 2, HoleKind::Location));
  genome = zeros(without_tiles);
  for (int k = 0; k < 10; ++k) {
    const Genome before = genome;
    ASSERT_TRUE(mutate(without_tiles, &genome, rng));
    EXPECT_NE(genome, before);
  }
}

// Most mutations of an exact tiling move one divisor between two levels.
TEST(Mutate, MovesFactorsBetweenLevels) {
  Sketch sketch;
  sketch.holes.push_back(tile_hole("C", 720));
  const auto& choices = std::get<TileDomain>(sketch.holes[0].domain).choices;
  Rng rng(4);
  Genome genome{{static_cast<uint16_t>(choices.size() / 2)}};
  int moved = 0;
  constexpr int kSteps = 4000;
  for (int k = 0; k < kSteps; ++k) {
    const auto before = choices[genome.genes[0]];
    ASSERT_TRUE(mutate(sketch, &genome, rng));
    const auto after = choices[genome.genes[0]];
    int levels =
        720 / (before[0] * before[1] * before[2]) != 720 / (after[0] * after[1] * after[2]) ? 1 : 0;
    for (size_t f = 0; f < 3; ++f) levels += before[f] != after[f] ? 1 : 0;
    moved += levels == 2 ? 1 : 0;
  }
  EXPECT_GT(moved, kSteps * 45 / 100);
}

// The same among tilings that do not divide.
TEST(Mutate, HandlesTilingsWithRemainders) {
  TileDomain domain;
  domain.extent = 521;
  for (int64_t outer = 1; outer <= 16; ++outer) {
    for (int64_t inner = 1; inner <= 32; ++inner) domain.choices.push_back({outer, inner});
  }
  Sketch sketch;
  sketch.holes.push_back(
      {.step = 0, .stage = stage_of("C"), .domain = domain, .kind = HoleKind::Tile});
  Rng rng(5);
  Genome genome{{100}};
  std::set<uint16_t> seen;
  for (int k = 0; k < 20000; ++k) {
    ASSERT_TRUE(mutate(sketch, &genome, rng));
    seen.insert(genome.genes[0]);
  }
  EXPECT_EQ(seen.size(), domain.choices.size());
}

TEST(Mutate, IsAFunctionOfTheSeed) {
  const Sketch sketch = convolution();
  const auto walk = [&](uint64_t seed) {
    Rng rng(seed);
    Genome genome = zeros(sketch);
    for (int k = 0; k < 50; ++k) EXPECT_TRUE(mutate(sketch, &genome, rng));
    return genome;
  };
  EXPECT_EQ(walk(7), walk(7));
  EXPECT_NE(walk(7), walk(8));
}

TEST(Cross, TakesWholeStages) {
  const Sketch sketch = convolution();
  Rng rng(6);
  int together = 0;
  constexpr int kSteps = 4000;
  for (int k = 0; k < kSteps; ++k) {
    Genome a = zeros(sketch);
    Genome b = zeros(sketch);
    for (size_t h = 0; h < b.genes.size(); ++h) b.genes[h] = sketch.holes[h].size() > 1 ? 1 : 0;
    Genome child;
    ASSERT_TRUE(cross(sketch, a, b, rng, &child));
    EXPECT_NE(child, a);
    EXPECT_NE(child, b);
    std::map<std::string, std::set<uint16_t>> from;
    for (size_t h = 0; h < child.genes.size(); ++h) {
      if (sketch.holes[h].size() > 1) from[sketch.holes[h].stage.text()].insert(child.genes[h]);
    }
    for (const auto& [stage, genes] : from) EXPECT_EQ(genes.size(), 1u) << stage;
    together += from["C"] == from["C.write"] ? 1 : 0;
  }
  EXPECT_GT(together, kSteps * 6 / 10);
  EXPECT_LT(together, kSteps * 9 / 10);
}

TEST(Cross, RequiresTwoDifferingStages) {
  const Sketch sketch = convolution();
  Rng rng(7);
  const Genome a = zeros(sketch);
  Genome b = a;
  Genome child;
  EXPECT_FALSE(cross(sketch, a, b, rng, &child));
  b.genes[0] = 3;
  b.genes[3] = 1;  // the same stage
  EXPECT_FALSE(cross(sketch, a, b, rng, &child));
  b.genes[5] = 2;
  ASSERT_TRUE(cross(sketch, a, b, rng, &child));
  EXPECT_NE(child, a);
  EXPECT_NE(child, b);
}

std::vector<schedule::Factors> adjacent(const Hole& hole, uint16_t gene) {
  Sketch sketch;
  sketch.holes.push_back(hole);
  std::vector<schedule::Factors> found;
  for (const uint16_t k : neighbor_genes(sketch, {{gene}}, 0, Reach::Adjacent)) {
    found.push_back(std::get<TileDomain>(hole.domain).choices[k]);
  }
  return found;
}

TEST(Neighbors, TileSizesStepByOne) {
  using List = std::vector<schedule::Factors>;
  const Hole two = tile_hole("C", 12, 2);  // [1] [2] [3] [4] [6] [12]
  EXPECT_EQ(adjacent(two, 0), (List{{2}, {3}}));
  EXPECT_EQ(adjacent(two, 1), (List{{1}, {3}, {4}, {6}}));
  EXPECT_EQ(adjacent(two, 5), (List{{4}, {6}}));
  // Three levels of 8: [1, 1] [1, 2] [1, 4] [1, 8] [2, 1] [2, 2] [2, 4] [4, 1] [4, 2] [8, 1]
  Hole three = tile_hole("C", 8, 3);
  EXPECT_EQ(adjacent(three, 0), (List{{1, 2}, {2, 1}}));
  EXPECT_EQ(adjacent(three, 5), (List{{1, 2}, {1, 4}, {2, 1}, {2, 4}, {4, 1}, {4, 2}}));
  // The same, sorted by the last factor.
  const List by_last = {{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 2},
                        {2, 2}, {4, 2}, {1, 4}, {2, 4}, {1, 8}};
  three.domain = TileDomain{.choices = by_last, .extent = 8};
  EXPECT_EQ(adjacent(three, 0), (List{{2, 1}, {1, 2}}));
  EXPECT_EQ(adjacent(three, 5), (List{{2, 1}, {4, 1}, {1, 2}, {4, 2}, {1, 4}, {2, 4}}));
  // Sizes that leave a remainder: the next ones.
  Hole tails = two;
  tails.domain = TileDomain{.choices = {{1}, {4}, {5}, {7}, {9}}, .extent = 30};
  EXPECT_EQ(adjacent(tails, 3), (List{{5}, {9}}));
  EXPECT_EQ(adjacent(tails, 2), (List{{1}, {4}, {7}}));  // 5 * 6 gives its 5 away
}

TEST(Neighbors, OrderedHolesStepByOne) {
  Sketch sketch;
  sketch.holes.push_back(step_hole("C", 5, HoleKind::Unroll));
  const auto genes = [&](uint16_t gene, Reach reach) {
    return neighbor_genes(sketch, {{gene}}, 0, reach);
  };
  EXPECT_EQ(genes(0, Reach::Adjacent), (std::vector<uint16_t>{1}));
  EXPECT_EQ(genes(2, Reach::Adjacent), (std::vector<uint16_t>{1, 3}));
  EXPECT_EQ(genes(4, Reach::Adjacent), (std::vector<uint16_t>{3}));
  EXPECT_EQ(genes(2, Reach::All), (std::vector<uint16_t>{0, 1, 3, 4}));
}

TEST(Neighbors, AreMutualAndReachEverything) {
  for (const Hole& hole : {tile_hole("C", 56), tile_hole("C", 64, 3), tile_hole("C", 30, 3),
                           tile_hole("C", 7, 2), step_hole("C", 6, HoleKind::Location)}) {
    Sketch sketch;
    sketch.holes.push_back(hole);
    std::set<uint16_t> reached = {0};
    std::vector<uint16_t> work = {0};
    while (!work.empty()) {
      const uint16_t gene = work.back();
      work.pop_back();
      for (const uint16_t other : neighbor_genes(sketch, {{gene}}, 0, Reach::Adjacent)) {
        EXPECT_NE(other, gene);
        const auto back = neighbor_genes(sketch, {{other}}, 0, Reach::Adjacent);
        EXPECT_NE(std::ranges::find(back, gene), back.end()) << gene << " " << other;
        if (reached.insert(other).second) work.push_back(other);
      }
    }
    EXPECT_EQ(reached.size(), hole.size());
  }
}

// Tilings of one and of two levels, sorted by the last factor.
TEST(Neighbors, AreMutualAmongTilingsOfSeveralLevels) {
  const TileDomain domain{.choices = {{1}, {2, 1}, {4, 1}, {2}, {1, 2}, {2, 2}, {4}, {1, 4}},
                          .extent = 16};
  ASSERT_TRUE(has_order(domain));
  Sketch sketch;
  sketch.holes.push_back(
      {.step = 0, .stage = stage_of("C"), .domain = domain, .kind = HoleKind::Tile});
  for (uint16_t gene = 0; gene < domain.choices.size(); ++gene) {
    const auto found = neighbor_genes(sketch, {{gene}}, 0, Reach::Adjacent);
    EXPECT_FALSE(found.empty()) << gene;
    for (const uint16_t other : found) {
      const auto back = neighbor_genes(sketch, {{other}}, 0, Reach::Adjacent);
      EXPECT_NE(std::ranges::find(back, gene), back.end()) << gene << " " << other;
    }
  }
}

TEST(Neighbors, DifferInOneHoleHoleByHole) {
  const Sketch sketch = convolution();
  Rng rng(3);
  const Genome genome = schedule::sample(sketch, rng);
  for (const Reach reach : {Reach::Adjacent, Reach::All}) {
    const std::vector<Genome> found = neighbors(sketch, genome, reach);
    EXPECT_EQ(found, neighbors(sketch, genome, reach));
    size_t last_hole = 0, expected = 0;
    for (const Genome& other : found) {
      std::vector<size_t> differing;
      for (size_t k = 0; k < sketch.holes.size(); ++k) {
        if (other.genes[k] != genome.genes[k]) differing.push_back(k);
      }
      ASSERT_EQ(differing.size(), 1U);
      EXPECT_GE(differing[0], last_hole);
      last_hole = differing[0];
    }
    for (const Hole& hole : sketch.holes) expected += hole.size() - 1;
    if (reach == Reach::Adjacent) expected = found.size();
    EXPECT_EQ(found.size(), expected);
  }
}

}  // namespace
}  // namespace tilewright::space
