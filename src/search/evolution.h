// The evolutionary explorer, in the manner of Ansor (OSDI 2020, section 5.1). One question is one
// evolution:
//
//   generation 0   the fastest measured ones, the nearest of them one decision apart, and fresh
//                  samples
//   a generation   children of what is best so far: mutations, crossings, some fresh samples
//   the answer     the best that were never asked for (search/batch.h)
//
// Parents are drawn by rank, so that it does not matter how scores are scaled. What has been scored
// once in an evolution is kept and never scored again in it. Nothing but latencies is kept from one
// question to the next, since the model may have learnt in between.
#pragma once

#include "search/explorers.h"

namespace tilewright::search {

// Ansor's constants where there are any.
struct EvolutionOptions {
  size_t population = 2048;
  int generations = 4;
  double mutation = 0.85;  // of the children; the others are crossings and fresh samples
  double crossover = 0.05;
  double measured_share = 0.2;  // of the population, from the best that were measured
  double random_share = 0.05;   // epsilon: of what is asked for, drawn without the model
  size_t least_of_sketch = 1;   // diversity: elites that a sketch keeps in each generation

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
        option("least_of_sketch", &E::least_of_sketch, "elites that each sketch keeps", {1, 1e6}));
  }
};

std::unique_ptr<Explorer> make_evolution(const ExplorerContext& context,
                                         const EvolutionOptions& options = {});

ExplorerRow evolution_explorer();

}  // namespace tilewright::search
