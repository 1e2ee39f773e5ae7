// Explorers propose candidates (`ask`) and receive their results (`tell`). They do not compile,
// read clocks or do I/O.
//
//   explorer.ask(64)   -> candidates that were never proposed before, best first
//   explorer.tell(...) <- their results, in the order of proposal
//
// The same seed and the same results give the same candidates, whatever the number of threads. The
// table `explorers()` lists them (search/explorers.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/rng.h"
#include "schedule/sketch.h"

namespace tilewright::search {

inline constexpr uint16_t kNoSketch = UINT16_MAX;

struct Candidate {
  uint16_t sketch = 0;  // index in the space
  schedule::Genome genome;
  Hash128 program;   // set by the assessor; zero: illegal or rejected by the validity check
  float score = 0;   // from the cost model; higher is better
  float spread = 0;  // standard deviation of the score, if the model has one
};

// Scores candidates: fills in `program`, `score` and `spread` of each, on all cores. Programs seen
// before are cached. Explorers decide which candidates are assessed, and in which order.
class Assessor {
 public:
  virtual ~Assessor() = default;
  virtual void assess(std::span<Candidate> candidates) = 0;
};

// The result of a proposed candidate.
struct Outcome {
  Candidate candidate;
  double latency_ns = 0;  // 0: it failed
};

class Explorer {
 public:
  virtual ~Explorer() = default;
  // Up to `count` candidates with distinct programs that were neither proposed nor reported before.
  // Fewer, or none, if no more are found.
  virtual std::vector<Candidate> ask(size_t count) = 0;
  // Some of the candidates were not proposed here: schedules of similar tasks (tune/carry.h). A
  // program that is not from the space has the sketch kNoSketch; it is never proposed.
  virtual void tell(std::span<const Outcome> outcomes) = 0;
  // Whether scores are unreliable from now on (ExplorerContext::scores_unreliable).
  virtual void set_scores_unreliable(bool /*unreliable*/) {}
};

// The sketches and the assessor outlive the explorer.
struct ExplorerContext {
  std::span<const schedule::Sketch> sketches;
  Assessor* assessor = nullptr;
  uint64_t seed = 1;
  bool scores_unreliable = false;  // scores are unreliable: fewer generations
};

}  // namespace tilewright::search
