// ProgramAssessor: the hot loop of every search. instantiate, apply, validity, hash, encode, score;
// on all cores, each program once. It makes and caches the encodings that its model reads. What
// comes out does not depend on the number of threads.
//
// Where an encoding follows from the trace (feature/encoding.h), two genomes of one program have
// two encodings and two scores: then encodings and scores are of genomes, each made once.
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
  int64_t asked = 0;     // candidates
  int64_t illegal = 0;   // of the candidates not seen before: illegal
  int64_t rejected = 0;  //   legal but rejected by Validity,
  int64_t known = 0;     // genomes or programs seen before
  int64_t scored = 0;    // programs that were scored
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

  // Drops cached scores. Encodings are kept unless the model reads others, which must be in the
  // table. Null: every score is 0 and nothing is encoded. The model outlives its use here; call
  // set_model again after training it.
  void set_model(const cost::CostModel* model);
  // Candidates that are illegal or rejected get the lowest float as their score.
  void assess(std::span<Candidate> candidates) override;

  // Names of the encodings that the current model reads.
  const std::vector<std::string>& encodings() const;
  // Appends a candidate that was assessed, in those encodings: the numbers that it was scored by.
  // False if it was not assessed, or without encodings: they were dropped, or there was no model.
  bool inputs_of(const Candidate& candidate, feature::Inputs* inputs) const;
  const AssessorCounts& counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::search
