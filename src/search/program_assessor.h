// ProgramAssessor: the hot loop of every search: instantiate, apply, validity, hash, encode, score,
// on all cores, each program once. It makes and caches the encodings that its model reads. Results
// do not depend on the number of threads.
//
// If an encoding follows from the trace (feature/encoding.h), two genomes of one program have two
// encodings and two scores. Encodings and scores are then computed once per genome, not per
// program.
//
// Memory is bounded: encodings of older programs are dropped, and a program that is requested later
// is applied again (AssessorCounts::again). The programs that a round requests first stay longest,
// because an explorer begins with the programs that it returns to: the fastest and their neighbors.
#pragma once

#include <memory>
#include <span>

#include "cost/model.h"
#include "feature/encoding.h"
#include "feature/encodings.h"
#include "schedule/loop_tree.h"
#include "search/explorer.h"
#include "space/space.h"
#include "target/machine.h"

namespace tilewright::search {

// Time per phase, for the table of `./dev bench search`. Seconds are summed over threads, from one
// candidate in eight.
struct AssessorCounts {
  int64_t requested = 0;  // candidates
  int64_t illegal = 0;    // of the candidates not seen before: illegal
  int64_t rejected = 0;   //   legal but rejected by Validity,
  int64_t known = 0;      // genomes or programs seen before
  int64_t again = 0;      //   known genomes that were applied again: their encodings were dropped
  int64_t scored = 0;     // programs that were scored
  double instantiate_s = 0, apply_s = 0, validity_s = 0, hash_s = 0, encode_s = 0, predict_s = 0;
};

class ProgramAssessor : public Assessor {
 public:
  // Space and table outlive the assessor. `threads` 0: one per CPU.
  ProgramAssessor(const space::Space& space, const Machine& machine, int threads = 0,
                  const feature::EncodingTable& encodings = feature::encodings());
  // The same for any sketches of a task; all arguments outlive the assessor.
  ProgramAssessor(const Task& task, const schedule::LoopTree& initial,
                  std::span<const schedule::Sketch> sketches, const Machine& machine,
                  int threads = 0, const feature::EncodingTable& encodings = feature::encodings());
  ~ProgramAssessor() override;

  // Drops cached scores. Null: every score is 0. The model outlives its use here; call set_model
  // again after training it. Programs are encoded as the model reads them, and in the encodings
  // `also`; all of these must be in the table. A program that an encoding of the model cannot
  // represent is rejected; `also` rejects none. Encodings stay cached if they were made before;
  // with neither a model nor `also`, nothing is encoded.
  void set_model(const cost::CostModel* model, std::span<const std::string> also = {});
  // Candidates that are illegal or rejected get the lowest float as their score.
  void assess(std::span<Candidate> candidates) override;

  // Names of the encodings that are made.
  const std::vector<std::string>& encodings() const;
  // Appends these encodings of an assessed candidate. False if it was not assessed, if one of them
  // is not made or cannot represent it, or if they were dropped.
  bool inputs_of(const Candidate& candidate, std::span<const std::string> encodings,
                 feature::Inputs* inputs) const;

  // From now on, other programs are those that the round requests first.
  void begin_round();
  // Releases threads and memory until the next call of assess. If the cached encodings take more
  // than `bytes`, only those of `reported` and of the programs that the round requested first stay.
  void shrink(size_t bytes, std::span<const Candidate> reported);
  const AssessorCounts& counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::search
