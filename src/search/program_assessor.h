// ProgramAssessor: the hot loop of every search. instantiate, apply, validity, hash, encode, score;
// on all cores, each program once. It makes and caches the encodings that its model reads. What
// comes out does not depend on the number of threads.
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

// Where the time went, for the table of ./dev bench search. Seconds are summed over threads and
// taken of one candidate in eight.
struct AssessorCounts {
  int64_t asked = 0;    // candidates
  int64_t illegal = 0;  // of those never seen before: not legal,
  int64_t unfit = 0;    //   legal but told to be no good,
  int64_t known = 0;    // genomes or programs that were seen before
  int64_t scored = 0;   // programs that got a score
  double instantiate_s = 0, apply_s = 0, validity_s = 0, hash_s = 0, encode_s = 0, predict_s = 0;
};

class ProgramAssessor : public Assessor {
 public:
  // Space and table outlive the assessor. `threads` 0: all cpus of the machine.
  ProgramAssessor(const space::Space& space, const Machine& machine, int threads = 0,
                  const feature::EncodingTable& encodings = feature::encodings());
  // The same over any sketches of a task; all outlive the assessor.
  ProgramAssessor(const Task& task, const schedule::LoopTree& initial,
                  std::span<const schedule::Sketch> sketches, const Machine& machine,
                  int threads = 0, const feature::EncodingTable& encodings = feature::encodings());
  ~ProgramAssessor() override;

  // Scores that were remembered are forgotten; encodings are kept unless the model reads others,
  // which have to be in the table. Null: every score is 0 and nothing is encoded. The model
  // outlives its use here; it is to be set anew when it has learned.
  void set_model(const cost::CostModel* model);
  // Candidates that are not legal or not fit get the lowest float as their score.
  void assess(std::span<Candidate> candidates) override;

  // Names of the encodings that the last model reads.
  const std::vector<std::string>& encodings() const;
  // Appends a program that was assessed, in those encodings. False when it was not, or they have
  // been dropped since, or were never made for want of a model.
  bool inputs_of(const Hash128& program, feature::Inputs* inputs);
  // The same, made anew where they are not at hand. False when it is not legal or not fit, or there
  // never was a model.
  bool inputs_of(const Candidate& candidate, feature::Inputs* inputs);
  const AssessorCounts& counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::search
