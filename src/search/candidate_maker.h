// CandidateMaker: candidate -> LoopTree, the schedule-dependent part of assessment. Consecutive
// candidates with the same structure (all genes except tile sizes) share it; only their numbers are
// recomputed. Holds scratch memory: one per thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/apply.h"
#include "schedule/sketch.h"
#include "space/validity.h"

namespace tilewright::search {

// Seconds per phase, sampled every few candidates.
struct StageTimes {
  double instantiate_s = 0, apply_s = 0, validity_s = 0, hash_s = 0, encode_s = 0;
};

// Adds the time since its last lap to a counter, if it is on.
class Stopwatch {
 public:
  explicit Stopwatch(bool on) : on_(on) {
    if (on_) last_ = Clock::now();
  }
  void lap(double* seconds, double times = 1) {
    if (!on_) return;
    const Clock::time_point now = Clock::now();
    *seconds += times * std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool on_;
  Clock::time_point last_;
};

// The genes of a sketch that determine the structure of its programs: all except tile sizes.
class StructureGenes {
 public:
  explicit StructureGenes(const schedule::Sketch& sketch);
  uint64_t hash(const schedule::Genome& genome) const;

 private:
  std::vector<uint16_t> holes_;
};

enum class CandidateStatus : uint8_t { Fit, Illegal, Rejected };

class CandidateMaker {
 public:
  static constexpr int kTimedEvery = 8;

  // All arguments outlive it.
  CandidateMaker(const schedule::LoopTree& initial, std::span<const schedule::Sketch> sketches,
                 const space::Validity& validity)
      : initial_(&initial), sketches_(sketches), validity_(&validity) {}

  // `structure` is the hash from StructureGenes. If the status is Fit, `tree` is complete and
  // `program` is its hash.
  CandidateStatus make(uint16_t sketch, const schedule::Genome& genome, uint64_t structure,
                       Hash128* program);
  const schedule::LoopTree& tree() const { return tree_; }
  const schedule::Trace& trace() const { return trace_; }

  // Extrapolated: one of kTimedEvery candidates is timed and counted kTimedEvery times.
  StageTimes times;
  bool is_timed() const { return made_ % kTimedEvery == 1; }

 private:
  enum class Structure : uint8_t { None, Legal, Illegal };
  bool make_tree(const schedule::Sketch& sketch, const schedule::Genome& genome, bool same,
                 Stopwatch& watch);

  const schedule::LoopTree* initial_;
  std::span<const schedule::Sketch> sketches_;
  const space::Validity* validity_;
  schedule::Trace trace_;
  schedule::LoopTree tree_;
  uint16_t sketch_ = 0;
  uint64_t structure_ = 0;
  Structure state_ = Structure::None;
  int64_t made_ = 0;
};

}  // namespace tilewright::search
