// The evolutionary explorer, after Ansor (OSDI 2020, section 5.1). Each call of `ask` is one
// evolution:
//
//   generation 0   the fastest measured candidates, neighbors of them that differ in one decision,
//                  and fresh samples
//   generation k   children of the best so far: mutations, crossings, some fresh samples
//   result         the best that were never proposed (search/batch.h)
//
// Parents are drawn by rank, so the scale of the scores does not matter. A program is scored at
// most once per evolution. Only latencies are kept between calls, because the model may have been
// trained in between.
#pragma once

#include "search/explorers.h"

namespace tilewright::search {

// Defaults are Ansor's constants where it has them.
struct EvolutionOptions {
  size_t population = 2048;
  int generations = 4;
  double mutation = 0.85;  // share of the children; the others are crossings and fresh samples
  double crossover = 0.05;
  double measured_share = 0.2;  // share of the population, from the best measured candidates
  double random_share = 0.05;   // epsilon: share of the proposals drawn without the model
  size_t min_of_sketch = 1;     // diversity: elites that each sketch keeps per generation

  static constexpr auto fields() {
    using E = EvolutionOptions;
    return std::tuple(
        option("population", &E::population, "candidates per generation", {1, 1e6}),
        option("generations", &E::generations, "generations per round", {0, 1000}),
        option("mutation", &E::mutation, "share of the children that are mutations", {0, 1}),
        option("crossover", &E::crossover, "share of the children that are crossings", {0, 1}),
        option("measured_share", &E::measured_share,
               "share of the first generation that was measured before", {0, 1}),
        option("random_share", &E::random_share, "share of a round drawn without the model",
               {0, 1}),
        option("min_of_sketch", &E::min_of_sketch, "elites that each sketch keeps", {1, 1e6},
               "least_of_sketch"));
  }
  std::string fault() const;
};

std::unique_ptr<Explorer> make_evolution(const ExplorerContext& context,
                                         const EvolutionOptions& options = {});

ExplorerRow evolution_explorer();

}  // namespace tilewright::search
