// Variation: derives genomes from others, at random (mutate, cross) or in order (neighbors, for
// descent and annealing). Pure functions over a sketch. The result may be illegal or invalid; apply
// and space/validity decide that.
#pragma once

#include <vector>

#include "schedule/sketch.h"

namespace tilewright::space {

// Changes one or a few genes: usually tile sizes (a factor moves from one level to another, or one
// level changes size), sometimes another kind of hole. False: there is nothing to mutate.
bool mutate(const schedule::Sketch& sketch, schedule::Genome* genome, Rng& rng);

// Takes each stage from one of the parents. False: they do not differ in two stages.
bool cross(const schedule::Sketch& sketch, const schedule::Genome& a, const schedule::Genome& b,
           Rng& rng, schedule::Genome* child);

enum class Reach : uint8_t {
  Adjacent,  // one step away in the hole's domain
  All,       // every other choice
};

// The choices of a hole other than the genome's, in the order of its domain. Adjacent tile sizes
// move one prime factor from one level to another, or change one factor to its next smaller or
// larger value while the others stay (the outermost level gets the quotient). For any other hole,
// the adjacent choices are the previous and the next one. Adjacency is symmetric. It requires a
// sketch without a fault (space/sketch_fault.h): tile sizes are found in their order.
//
//   12 over two levels, [2]: adjacent are [1] and [4] (a factor 2 moves), [3] (the next value), [6]
std::vector<uint16_t> neighbor_genes(const schedule::Sketch& sketch, const schedule::Genome& genome,
                                     size_t hole, Reach reach);

// The genomes that differ from this one in exactly one hole, hole by hole.
std::vector<schedule::Genome> neighbors(const schedule::Sketch& sketch,
                                        const schedule::Genome& genome, Reach reach);

}  // namespace tilewright::space
