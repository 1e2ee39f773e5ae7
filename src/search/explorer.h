// Explorers: what proposes candidates. They speak ask and tell: no compiling, no clocks, no I/O.
//
//   explorer.ask(64)   -> candidates that were never asked for before, best first
//   explorer.tell(...) <- what became of them, in the order of proposal
//
// The same seed and the same answers give the same candidates, whatever the number of threads. The
// table `explorers()` lists them (search/explorers.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/rng.h"
#include "schedule/sketch.h"

namespace tilewright::search {

inline constexpr uint16_t kNoSketch = UINT16_MAX;

struct Candidate {
  uint16_t sketch = 0;  // of the space
  schedule::Genome genome;
  Hash128 program;   // set by the assessor; zero: not legal or not fit
  float score = 0;   // of the cost model; higher is better
  float spread = 0;  // of the score, where the model has it
};

// Says what candidates are worth: fills in `program`, `score` and `spread` of each. Remembers
// programs it has seen, so that the same one costs a look-up. Search decides in which order; this
// one does the work, on all cores.
class Assessor {
 public:
  virtual ~Assessor() = default;
  virtual void assess(std::span<Candidate> candidates) = 0;
};

// The outcome of a candidate that was asked for.
struct Outcome {
  Candidate candidate;
  double latency_ns = 0;  // 0: it failed
};

class Explorer {
 public:
  virtual ~Explorer() = default;
  virtual std::string_view name() const = 0;
  // Up to `count` candidates with distinct programs, none of which was told or asked for before.
  // Fewer, or none, when no more are found.
  virtual std::vector<Candidate> ask(size_t count) = 0;
  // A program that did not come from the space is of kNoSketch: it will not be asked for.
  virtual void tell(std::span<const Outcome> outcomes) = 0;
  // From now on scores mean nothing, or something again (ExplorerContext::model_is_guess).
  virtual void set_scores_unreliable(bool /*is_guess*/) {}
};

// The sketches and the assessor outlive the explorer.
struct ExplorerContext {
  std::span<const schedule::Sketch> sketches;
  Assessor* assessor = nullptr;
  uint64_t seed = 1;
  bool model_is_guess = false;  // scores mean nothing: fewer generations
};

}  // namespace tilewright::search
