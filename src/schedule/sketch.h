// Sketch: a trace with holes. Genome: one small integer per hole, which selects a choice. Searches
// operate on these two; a schedule written by hand is a sketch with one genome.
//
//   sketch   split C i ?            hole 0: tile sizes of 64 over two levels: [1] [2] [4] ... [64]
//            cache_write D ?        hole 1: off, on
//   genome   {3, 0}
//   trace    split C i [8]          and no step that names D.write
//
// Values; a Sketch may be read by several threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "base/rounding.h"
#include "schedule/trace.h"

namespace tilewright::schedule {

// The factors that a choice of tile sizes gives to one of the splits that share it: `parts`
// factors, starting at index `from`. If it `folds`, the last one is multiplied by all factors
// further in.
//
//   choice [4, 2, 8]   {from 0, parts 2, folds}  -> split C i [4, 16]
//                      {from 2, parts 1}         -> split C.write i [8]
struct TileSlice {
  int16_t step = 0;  // index in Sketch::trace
  uint8_t from = 0;
  uint8_t parts = 1;
  bool folds = false;
};
inline int64_t product_of(const Factors& factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) product *= factor;
  return product;
}
// The factors of a Split, or, with slices, of several splits that cut the same axis.
struct TileDomain {
  std::vector<Factors> choices;
  std::vector<TileSlice> slices{};  // empty: the split at Hole::step takes all of them
  int64_t extent = 0;               // of the axis; 0: not known

  // The outermost level that a choice leaves: 70 over [4, 8] leaves 3. 1 where the extent is not
  // known.
  int64_t outer_of(const Factors& choice) const {
    return extent > 0 ? ceil_div(extent, product_of(choice)) : 1;
  }
};
// A whole step: a choice of its fields, a location (compute_at at some loop, compute_root), or no
// step.
struct StepDomain {
  std::vector<std::optional<Step>> choices;
};
// Lists of steps at several positions of the trace: choices[c][s] replaces step sites[s].
struct SiteDomain {
  std::vector<int16_t> sites;
  std::vector<std::vector<std::vector<Step>>> choices;
};
// The tail of some splits.
struct TailDomain {
  std::vector<Tail> choices;
  std::vector<int16_t> steps;
};

// The kind of decision of a hole, used to weight mutations and for display.
enum class HoleKind : uint8_t {
  Tile,
  Tail,
  Parallel,
  Vectorize,
  Unroll,
  Location,
  Pack,
  RegisterRead,
  Prefetch,
  Other,
};
std::string_view hole_kind_text(HoleKind kind);  // `tile`, `register_read`

struct Hole {
  int16_t step = 0;  // index in Sketch::trace; SiteDomain and TailDomain have their own indices
  StageName stage;   // the stage it decides on: crossover exchanges all holes of a stage together
  std::variant<TileDomain, StepDomain, SiteDomain, TailDomain> domain;
  HoleKind kind = HoleKind::Other;

  size_t size() const;  // number of choices, at least one
};

struct Sketch {
  Trace trace;  // steps with holes contain an arbitrary choice
  std::vector<Hole> holes;
  std::string name{};  // how it was derived, for display: `cache_write C, fused at 2`

  double size() const;  // number of genomes: the product of the domain sizes
};

struct Genome {
  std::vector<uint16_t> genes;  // genes[k] < holes[k].size()

  bool operator==(const Genome&) const = default;
};

// Fills the holes. Steps that are off are left out, together with every step that names a stage
// that they would have created or that has been inlined. `trace` is reused without allocation if
// possible.
void instantiate(const Sketch& sketch, const Genome& genome, Trace* trace);

// Draws each gene uniformly and independently.
Genome sample(const Sketch& sketch, Rng& rng);

}  // namespace tilewright::schedule
