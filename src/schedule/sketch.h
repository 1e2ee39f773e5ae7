// Sketch: a trace with holes. Genome: what fills them, one small integer a hole. Everything that
// searches works on these two; a schedule written by hand is a sketch with a genome.
//
//   sketch   split C i ?            hole 0: tile sizes of 64 over two levels: [1] [2] [4] ... [64]
//            cache_write D ?        hole 1: off, on
//   genome   {3, 0}
//   trace    split C i [8]          and no step that names D.write
//
// Values; a Sketch may be read from many threads.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "schedule/trace.h"

namespace tilewright::schedule {

// The factors of a Split.
struct TileDomain {
  std::vector<Factors> choices;
};
// A whole step: a choice of its fields, a location (compute_at here, there, compute_root), or
// nothing at all (the step is off).
struct StepDomain {
  std::vector<std::optional<Step>> choices;
};

struct Hole {
  int16_t step = 0;  // of Sketch::trace
  StageName stage;   // whose decision it is: crossover exchanges all holes of a stage together
  std::variant<TileDomain, StepDomain> domain;

  size_t size() const;  // number of choices, at least one
};

struct Sketch {
  Trace trace;  // steps with holes hold any one choice
  std::vector<Hole> holes;

  double size() const;  // of the space: the product of the domains
};

struct Genome {
  std::vector<uint16_t> genes;  // genes[k] < holes[k].size()

  bool operator==(const Genome&) const = default;
};

// Fills the holes. Steps that are off are left out, and with them every step that names a stage
// they would have made. `trace` is reused without allocation where it can be.
void instantiate(const Sketch& sketch, const Genome& genome, Trace* trace);

// Each gene uniform over its domain, independently.
Genome sample(const Sketch& sketch, Rng& rng);

// All ways to write `extent` as outer * f1 * ... * f(levels-1) with the innermost factor at most
// `max_innermost`: the exact tilings of an axis.
TileDomain exact_tiles(int64_t extent, int levels, int64_t max_innermost);

}  // namespace tilewright::schedule
