#include "search/evolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "search/batch.h"
#include "search/drawing.h"
#include "search/evidence.h"
#include "space/variation.h"

namespace tilewright::search {
namespace {

constexpr size_t kMinPopulation = 256;
constexpr size_t kPopulationPerProposal = 32;
constexpr size_t kSamplingEffort = 16;   // samples drawn per requested one, at most
constexpr size_t kBreedingEffort = 4;    // children drawn per requested one, at most
constexpr double kRankPower = 2;         // parents: rank n * u^2, the best tenth has 32 % of them
constexpr double kOfMeasured = 0.2;      // share of parents drawn from the fastest measured ones
constexpr double kOfEachSketch = 0.1;    // share of parents drawn from the best of any sketch
constexpr size_t kFewFastest = 8;        // minimum number of parents without a model
constexpr double kHopelessSample = 0.2;  // of the samples of a sketch that was given up are made

// The possible parents, best first: indices into the pool.
struct Parents {
  std::vector<size_t> best;                    // of all
  std::vector<size_t> measured;                // fastest first, whatever their scores
  std::vector<std::vector<size_t>> of_sketch;  // the best of each sketch
  std::vector<size_t> open;                    // sketches with parents that may still win
};

size_t draw_rank(size_t count, Rng& rng) {
  const double rank = static_cast<double>(count) * std::pow(rng.uniform(), kRankPower);
  return std::min(static_cast<size_t>(rank), count - 1);
}

class Evolution : public Explorer {
 public:
  Evolution(const ExplorerContext& context, const EvolutionOptions& options)
      : context_(context),
        options_(options),
        rng_(context.seed),
        is_small_(genomes_in(context.sketches) <= kSmallSpace),
        evidence_(context.sketches) {}

  std::vector<Candidate> ask(size_t count) override {
    if (count == 0 || context_.sketches.empty()) return {};
    CandidatePool pool(context_.assessor);
    std::vector<size_t> fresh;
    if (is_small_) {
      for (Candidate& candidate : all_candidates(context_.sketches)) {
        pool.propose(std::move(candidate));
      }
      pool.assess();
      note_fresh(pool, 0, &fresh);
    } else {
      evolve(count, &pool, &fresh);
    }
    std::vector<Candidate> found = std::move(pool).kept();
    std::unordered_map<Hash128, float> scores;  // from the model, where ranks are by latency
    if (context_.scores_unreliable) {
      for (const Candidate& candidate : found) scores.emplace(candidate.program, candidate.score);
      rank_without_model(fresh, &found);
    }
    std::vector<Candidate> answer = choose_batch(
        found, fresh, evidence_, {.count = count, .random_share = options_.random_share}, rng_);
    for (Candidate& candidate : answer) {
      if (context_.scores_unreliable) candidate.score = scores.at(candidate.program);
      evidence_.note_proposed(candidate.program);
    }
    return answer;
  }

  void tell(std::span<const Outcome> outcomes) override { evidence_.tell(outcomes); }
  void set_scores_unreliable(bool unreliable) override { context_.scores_unreliable = unreliable; }

 private:
  void evolve(size_t count, CandidatePool* pool, std::vector<size_t>* fresh) {
    const size_t population =
        std::min(options_.population, std::max(kMinPopulation, kPopulationPerProposal * count));
    const auto of_measured =
        static_cast<size_t>(options_.measured_share * static_cast<double>(population));
    for (Candidate& candidate : evidence_.fastest(of_measured)) {
      pool->propose(std::move(candidate));
    }
    const size_t measured = pool->assess();
    for (const Candidate& candidate : evidence_.fastest(kFewFastest)) {
      for (Candidate& other : evidence_.decisions().neighbors(candidate)) {
        pool->propose(std::move(other));
      }
    }
    pool->assess();
    const size_t sampled_from = pool->kept().size();
    add_samples(population - std::min(population, measured), pool);
    note_fresh(*pool, sampled_from, fresh);
    // Without a model, only measured candidates are parents.
    const int generations = context_.scores_unreliable ? 1 : options_.generations;
    for (int k = 0; k < generations && !pool->kept().empty(); ++k) {
      breed(parents_of(*pool, measured, population), population, pool);
    }
  }

  // Children of measured candidates take precedence over random samples.
  static void rank_without_model(std::span<const size_t> fresh, std::vector<Candidate>* found) {
    for (Candidate& candidate : *found) candidate.score = 1;
    for (const size_t k : fresh) (*found)[k].score = 0;
  }

  static void note_fresh(const CandidatePool& pool, size_t from, std::vector<size_t>* fresh) {
    for (size_t k = from; k < pool.kept().size(); ++k) fresh->push_back(k);
  }

  // Until `wanted` legal ones are found, with an effort that does not depend on earlier calls.
  void add_samples(size_t wanted, CandidatePool* pool) {
    size_t found = 0;
    size_t tried = 0;
    size_t left = kSamplingEffort * wanted;
    while (found < wanted && left > 0) {
      const size_t draws = std::min(left, proposals_for(wanted - found, found, tried));
      for (size_t k = 0; k < draws; ++k) pool->propose(draw_sample());
      left -= draws;
      tried += draws;
      found += pool->assess();
    }
  }

  Candidate draw_sample() {
    size_t sketch = rng_.below(context_.sketches.size());
    if (evidence_.is_hopeless(sketch) && !rng_.chance(kHopelessSample)) {
      sketch = rng_.below(context_.sketches.size());
    }
    return {.sketch = static_cast<uint16_t>(sketch),
            .genome = schedule::sample(context_.sketches[sketch], rng_),
            .program = {}};
  }

  Parents parents_of(const CandidatePool& pool, size_t measured, size_t population) const {
    const std::vector<Candidate>& kept = pool.kept();
    Parents parents;
    for (size_t k = 0; k < measured; ++k) parents.measured.push_back(k);
    parents.of_sketch.resize(context_.sketches.size());
    const size_t max_best = std::max<size_t>(population / 2, 1);
    for (const size_t k : by_score(kept)) {
      if (parents.best.size() < max_best) parents.best.push_back(k);
      std::vector<size_t>& own = parents.of_sketch[kept[k].sketch];
      if (own.size() < options_.min_of_sketch || parents.best.back() == k) own.push_back(k);
    }
    for (size_t s = 0; s < parents.of_sketch.size(); ++s) {
      if (!parents.of_sketch[s].empty() && !evidence_.is_hopeless(s)) parents.open.push_back(s);
    }
    if (context_.scores_unreliable && measured > 0) {
      parents.measured.resize(std::min(measured, std::max(kFewFastest, measured / 8)));
      parents.best = parents.measured;
    }
    return parents;
  }

  void breed(const Parents& parents, size_t wanted, CandidatePool* pool) {
    size_t found = 0;
    size_t tried = 0;
    size_t left = kBreedingEffort * wanted;
    while (found < wanted && left > 0) {
      const size_t draws = std::min(left, proposals_for(wanted - found, found, tried));
      for (size_t k = 0; k < draws; ++k) pool->propose(make_child(parents, pool->kept()));
      left -= draws;
      tried += draws;
      found += pool->assess();
    }
  }

  Candidate make_child(const Parents& parents, const std::vector<Candidate>& kept) {
    const double kind = rng_.uniform();
    if (kind >= options_.mutation + options_.crossover) return draw_sample();
    const Candidate& parent = kept[draw_parent(parents)];
    const schedule::Sketch& sketch = context_.sketches[parent.sketch];
    Candidate child{.sketch = parent.sketch, .genome = parent.genome, .program = {}};
    const std::vector<size_t>& others = parents.of_sketch[parent.sketch];
    if (kind >= options_.mutation && others.size() > 1) {
      const Candidate& other = kept[others[draw_rank(others.size(), rng_)]];
      if (space::cross(sketch, parent.genome, other.genome, rng_, &child.genome)) return child;
      child.genome = parent.genome;
    }
    return space::mutate(sketch, &child.genome, rng_) ? child : draw_sample();
  }

  size_t draw_parent(const Parents& parents) {
    const double from = rng_.uniform();
    if (from < kOfMeasured && !parents.measured.empty()) {
      return parents.measured[draw_rank(parents.measured.size(), rng_)];
    }
    if (from > 1 - kOfEachSketch && !parents.open.empty()) {
      const std::vector<size_t>& own =
          parents.of_sketch[parents.open[rng_.below(parents.open.size())]];
      return own[draw_rank(std::min(own.size(), options_.min_of_sketch), rng_)];
    }
    return parents.best[draw_rank(parents.best.size(), rng_)];
  }

  ExplorerContext context_;
  EvolutionOptions options_;
  Rng rng_;
  bool is_small_;
  Evidence evidence_;
};

}  // namespace

std::string EvolutionOptions::fault() const {
  constexpr double kRounding = 1e-9;
  if (mutation + crossover <= 1 + kRounding) return {};
  return fmt::format(
      "mutation={} and crossover={} are shares of the same children; their sum must be at most 1",
      mutation, crossover);
}

std::unique_ptr<Explorer> make_evolution(const ExplorerContext& context,
                                         const EvolutionOptions& options) {
  return std::make_unique<Evolution>(context, options);
}

ExplorerRow evolution_explorer() {
  return make_row<std::unique_ptr<Explorer>, ExplorerContext>(
      "evolution", "mutates and crosses the best, guided by the cost model", EvolutionOptions{},
      make_evolution);
}

}  // namespace tilewright::search
