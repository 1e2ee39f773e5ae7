#include "space/variation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "space/tile_order.h"

namespace tilewright::space {
namespace {

using schedule::Factors;
using schedule::Genome;
using schedule::Hole;
using schedule::HoleKind;
using schedule::Sketch;
using schedule::StageName;
using schedule::TileDomain;

// Share of mutated genes that are tile sizes, if there are other holes too.
constexpr double kTileShare = 0.75;
constexpr double kSeveralGenes = 0.25;  // share of mutations that change two or three genes
constexpr double kNearest = 0.3;        // share of tile mutations that take a nearby choice
constexpr double kAnywhere = 0.08;      // share of tile mutations that take any choice
constexpr int kDraws = 6;               // draws from which the nearest is taken
constexpr double kTogether = 0.7;  // probability that stages of one operator come from one parent
constexpr size_t kKinds = static_cast<size_t>(HoleKind::Other) + 1;

// Levels of a tiling: the outermost one, then the factors.
using Levels = std::array<int64_t, Factors::kCapacity + 1>;

size_t levels_of(const TileDomain& domain, const Factors& factors, Levels* levels) {
  (*levels)[0] = domain.outer_of(factors);
  for (size_t k = 0; k < factors.size(); ++k) (*levels)[k + 1] = factors[k];
  return factors.size() + 1;
}

uint16_t other_gene(size_t size, uint16_t gene, Rng& rng) {
  const uint64_t draw = rng.below(size - 1);
  return static_cast<uint16_t>(draw + (draw >= gene ? 1 : 0));
}

// Accurate to 10 %, which suffices to distinguish near from far.
float fast_log2(int64_t value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return (static_cast<float>(bits) * 0x1.0p-23f) - 127.0f;
}

uint16_t nearest_gene(const TileDomain& domain, uint16_t gene, Rng& rng) {
  Levels own{};
  const size_t count = levels_of(domain, domain.choices[gene], &own);
  std::array<float, Factors::kCapacity + 1> logs{};
  for (size_t k = 0; k < count; ++k) logs[k] = fast_log2(own[k]);
  uint16_t best = gene;
  float min_distance = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const uint16_t other = other_gene(domain.choices.size(), gene, rng);
    Levels levels{};
    if (levels_of(domain, domain.choices[other], &levels) != count && best != gene) continue;
    float distance = 0;
    for (size_t k = 0; k < count; ++k) distance += std::abs(fast_log2(levels[k]) - logs[k]);
    if (best != gene && distance >= min_distance) continue;
    best = other;
    min_distance = distance;
  }
  return best;
}

// A divisor above 1, uniformly; of the larger ones, those between 64 and value / 64 are left out.
int64_t random_divisor(int64_t value, Rng& rng) {
  std::array<int64_t, 128> divisors{};
  size_t count = 0;
  divisors[count++] = value;
  for (int64_t d = 2; d <= 64 && d * d <= value; ++d) {
    if (value % d != 0) continue;
    divisors[count++] = d;
    if (d * d != value) divisors[count++] = value / d;
  }
  return divisors[rng.below(count)];
}

// Domains of the rules are sorted by their first factor; given ones may be by their last.
bool find_choice(const TileDomain& domain, const Factors& wanted, uint16_t* gene) {
  for (const auto lower : {&lower_by_first, &lower_by_last}) {
    const auto found = std::ranges::lower_bound(domain.choices, wanted, *lower);
    if (found == domain.choices.end() || !(*found == wanted)) continue;
    *gene = static_cast<uint16_t>(found - domain.choices.begin());
    return true;
  }
  return false;
}

// Moves a divisor from one level to another.
bool move_factor(const TileDomain& domain, uint16_t* gene, Rng& rng) {
  Levels levels{};
  const size_t count = levels_of(domain, domain.choices[*gene], &levels);
  const size_t first = domain.extent > 0 ? 0 : 1;
  if (count - first < 2) return false;
  std::array<size_t, Factors::kCapacity + 1> givers{};
  size_t givers_count = 0;
  for (size_t k = first; k < count; ++k) {
    if (levels[k] > 1) givers[givers_count++] = k;
  }
  if (givers_count == 0) return false;
  const size_t giver = givers[rng.below(givers_count)];
  const size_t draw = first + rng.below(count - first - 1);
  const size_t taker = draw + (draw >= giver ? 1 : 0);
  const int64_t divisor = random_divisor(levels[giver], rng);
  levels[giver] /= divisor;
  levels[taker] *= divisor;
  Factors wanted;
  for (size_t k = 1; k < count; ++k) wanted.push_back(levels[k]);
  uint16_t found = 0;
  if (!find_choice(domain, wanted, &found) || found == *gene) return false;
  *gene = found;
  return true;
}

uint16_t mutated_tile(const TileDomain& domain, uint16_t gene, Rng& rng) {
  const double draw = rng.uniform();
  if (draw < kAnywhere) return other_gene(domain.choices.size(), gene, rng);
  if (draw >= kAnywhere + kNearest && move_factor(domain, &gene, rng)) return gene;
  return nearest_gene(domain, gene, rng);
}

// The holes with a choice, by kind.
struct Counts {
  std::array<uint16_t, kKinds> of_kind{};
  size_t kinds = 0;  // other than tile sizes
  size_t holes = 0;

  explicit Counts(const Sketch& sketch) {
    for (const Hole& hole : sketch.holes) {
      if (hole.size() < 2) continue;
      ++holes;
      uint16_t& count = of_kind[static_cast<size_t>(hole.kind)];
      if (count++ == 0 && hole.kind != HoleKind::Tile) ++kinds;
    }
  }
};

HoleKind draw_kind(const Counts& counts, Rng& rng) {
  const bool tiles = counts.of_kind[static_cast<size_t>(HoleKind::Tile)] > 0;
  if (counts.kinds == 0 || (tiles && rng.chance(kTileShare))) return HoleKind::Tile;
  uint64_t draw = rng.below(counts.kinds);
  for (size_t kind = 0; kind < kKinds; ++kind) {
    if (static_cast<HoleKind>(kind) == HoleKind::Tile || counts.of_kind[kind] == 0) continue;
    if (draw-- == 0) return static_cast<HoleKind>(kind);
  }
  return HoleKind::Tile;
}

size_t draw_hole(const Sketch& sketch, const Counts& counts, Rng& rng) {
  const HoleKind kind = draw_kind(counts, rng);
  uint64_t draw = rng.below(counts.of_kind[static_cast<size_t>(kind)]);
  for (size_t k = 0;; ++k) {
    const Hole& hole = sketch.holes[k];
    if (hole.kind == kind && hole.size() > 1 && draw-- == 0) return k;
  }
}

// The stages of a sketch that have holes, with the data that a crossing needs.
struct Group {
  StageName stage;
  bool differs = false;
  bool from_b = false;
};

// All come from one parent, except one stage, usually with the others of its operator.
void turn_one(std::vector<Group>& groups, size_t differing, Rng& rng) {
  uint64_t draw = rng.below(differing);
  const auto chosen = std::ranges::find_if(
      groups, [&](const Group& group) { return group.differs && draw-- == 0; });
  const auto related = static_cast<size_t>(std::ranges::count_if(groups, [&](const Group& group) {
    return group.differs && group.stage.op == chosen->stage.op;
  }));
  const bool together = related < differing && rng.chance(kTogether);
  const Name op = chosen->stage.op;
  for (Group& group : groups) {
    const bool turns = together ? group.differs && group.stage.op == op : &group == &*chosen;
    if (turns) group.from_b = !group.from_b;
  }
}

std::vector<int64_t> primes_of(int64_t value) {
  std::vector<int64_t> primes;
  for (int64_t p = 2; p * p <= value; ++p) {
    if (value % p != 0) continue;
    primes.push_back(p);
    while (value % p == 0) value /= p;
  }
  if (value > 1) primes.push_back(value);
  return primes;
}

// Choices that move one prime factor between two levels.
void add_moved_factors(const TileDomain& domain, uint16_t gene, std::vector<uint16_t>* out) {
  Levels levels{};
  const size_t count = levels_of(domain, domain.choices[gene], &levels);
  int64_t product = 1;
  for (size_t k = 0; k < count; ++k) product *= levels[k];
  // The outermost level of a split with a remainder has no factors to give.
  const size_t first = product == domain.extent ? 0 : 1;
  for (size_t giver = first; giver < count; ++giver) {
    for (const int64_t prime : primes_of(levels[giver])) {
      for (size_t taker = first; taker < count; ++taker) {
        if (taker == giver) continue;
        Factors wanted;
        for (size_t k = 1; k < count; ++k) {
          wanted.push_back(k == giver   ? levels[k] / prime
                           : k == taker ? levels[k] * prime
                                        : levels[k]);
        }
        uint16_t found = 0;
        if (find_choice(domain, wanted, &found)) out->push_back(found);
      }
    }
  }
}

// Choices that differ in one factor, with no other choice between.
void add_next_factors(const TileDomain& domain, uint16_t gene, std::vector<uint16_t>* out) {
  const Factors& own = domain.choices[gene];
  constexpr size_t kNone = SIZE_MAX;
  std::array<size_t, Factors::kCapacity> below{}, above{};
  below.fill(kNone);
  above.fill(kNone);
  for (size_t k = 0; k < domain.choices.size(); ++k) {
    const Factors& other = domain.choices[k];
    if (other.size() != own.size()) continue;
    size_t differing = kNone, count = 0;
    for (size_t level = 0; level < own.size() && count < 2; ++level) {
      if (other[level] == own[level]) continue;
      differing = level;
      ++count;
    }
    if (count != 1) continue;
    const bool is_less = other[differing] < own[differing];
    size_t& nearest = (is_less ? below : above)[differing];
    const bool is_nearer =
        nearest == kNone || (is_less ? other[differing] > domain.choices[nearest][differing]
                                     : other[differing] < domain.choices[nearest][differing]);
    if (is_nearer) nearest = k;
  }
  for (size_t level = 0; level < own.size(); ++level) {
    for (const size_t k : {below[level], above[level]}) {
      if (k != kNone) out->push_back(static_cast<uint16_t>(k));
    }
  }
}

}  // namespace

std::vector<uint16_t> neighbor_genes(const Sketch& sketch, const Genome& genome, size_t hole,
                                     Reach reach) {
  CHECK(genome.genes.size() == sketch.holes.size() && hole < sketch.holes.size(),
        "hole {} of {}, {} genes", hole, sketch.holes.size(), genome.genes.size());
  const size_t size = sketch.holes[hole].size();
  const uint16_t gene = genome.genes[hole];
  std::vector<uint16_t> genes;
  if (reach == Reach::All) {
    for (size_t k = 0; k < size; ++k) {
      if (k != gene) genes.push_back(static_cast<uint16_t>(k));
    }
    return genes;
  }
  if (const auto* tiles = std::get_if<TileDomain>(&sketch.holes[hole].domain)) {
    add_moved_factors(*tiles, gene, &genes);
    add_next_factors(*tiles, gene, &genes);
    std::ranges::sort(genes);
    const auto doubled = std::ranges::unique(genes);
    genes.erase(doubled.begin(), doubled.end());
    return genes;
  }
  if (gene > 0) genes.push_back(static_cast<uint16_t>(gene - 1));
  if (gene + size_t{1} < size) genes.push_back(static_cast<uint16_t>(gene + 1));
  return genes;
}

std::vector<Genome> neighbors(const Sketch& sketch, const Genome& genome, Reach reach) {
  std::vector<Genome> found;
  for (size_t hole = 0; hole < sketch.holes.size(); ++hole) {
    for (const uint16_t gene : neighbor_genes(sketch, genome, hole, reach)) {
      found.push_back(genome);
      found.back().genes[hole] = gene;
    }
  }
  return found;
}

bool mutate(const Sketch& sketch, Genome* genome, Rng& rng) {
  CHECK(genome->genes.size() == sketch.holes.size(), "{} genes for {} holes", genome->genes.size(),
        sketch.holes.size());
  const Counts counts(sketch);
  if (counts.holes == 0) return false;
  const size_t wanted = rng.chance(kSeveralGenes) ? 2 + rng.below(2) : 1;
  std::array<size_t, 3> changed{};
  size_t count = 0;
  for (size_t draw = 0; draw < wanted; ++draw) {
    const size_t k = draw_hole(sketch, counts, rng);
    const auto end = changed.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::find(changed.begin(), end, k) != end) continue;  // it would be changed back
    changed[count++] = k;
    const Hole& hole = sketch.holes[k];
    uint16_t& gene = genome->genes[k];
    const auto* tiles = std::get_if<TileDomain>(&hole.domain);
    gene = tiles != nullptr ? mutated_tile(*tiles, gene, rng) : other_gene(hole.size(), gene, rng);
  }
  return true;
}

bool cross(const Sketch& sketch, const Genome& a, const Genome& b, Rng& rng, Genome* child) {
  const size_t holes = sketch.holes.size();
  CHECK(a.genes.size() == holes && b.genes.size() == holes, "{} and {} genes for {} holes",
        a.genes.size(), b.genes.size(), holes);
  thread_local std::vector<Group> groups;
  thread_local std::vector<uint16_t> group_of;
  groups.clear();
  group_of.clear();
  for (size_t k = 0; k < holes; ++k) {
    const StageName stage = sketch.holes[k].stage;
    const auto found = std::ranges::find(groups, stage, &Group::stage);
    group_of.push_back(static_cast<uint16_t>(found - groups.begin()));
    if (found == groups.end()) groups.push_back({.stage = stage});
    groups[group_of.back()].differs |= a.genes[k] != b.genes[k];
  }
  const auto differing = static_cast<size_t>(std::ranges::count(groups, true, &Group::differs));
  if (differing < 2) return false;

  size_t from_b = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    Group& group = groups[g];
    if (!group.differs) continue;
    group.from_b = rng.chance(0.5);
    const auto relative = std::find_if(
        groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(g),
        [&](const Group& other) { return other.differs && other.stage.op == group.stage.op; });
    const bool has_relative = relative != groups.begin() + static_cast<std::ptrdiff_t>(g);
    if (has_relative && rng.chance(kTogether)) group.from_b = relative->from_b;
    from_b += group.from_b ? 1 : 0;
  }
  if (from_b == 0 || from_b == differing) turn_one(groups, differing, rng);
  child->genes.resize(holes);
  for (size_t k = 0; k < holes; ++k) {
    child->genes[k] = groups[group_of[k]].from_b ? b.genes[k] : a.genes[k];
  }
  return true;
}

}  // namespace tilewright::space
