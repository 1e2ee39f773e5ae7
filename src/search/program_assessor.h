// ProgramAssessor: the hot loop of every search. instantiate, apply, validity, hash, rows, score;
// on all cores, each program once. What comes out does not depend on the number of threads.
#pragma once

#include <memory>
#include <span>

#include "cost/model.h"
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
  double instantiate_s = 0, apply_s = 0, validity_s = 0, hash_s = 0, rows_s = 0, predict_s = 0;
};

class ProgramAssessor : public Assessor {
 public:
  // The space outlives the assessor. `threads` 0: all cpus of the machine.
  ProgramAssessor(const space::Space& space, const Machine& machine, int threads = 0);
  // The same over any sketches of a task; all outlive the assessor.
  ProgramAssessor(const Task& task, const schedule::LoopTree& initial,
                  std::span<const schedule::Sketch> sketches, const Machine& machine,
                  int threads = 0);
  ~ProgramAssessor() override;

  // Scores that were remembered are forgotten; rows are kept. Null: every score is 0 and no rows
  // are made. The model outlives its use here; it is to be set anew when it has learned.
  void set_model(const cost::CostModel* model);
  // Candidates that are not legal or not fit get the lowest float as their score.
  void assess(std::span<Candidate> candidates) override;

  // Appends the rows of a program that was assessed. False when it was not, or its rows have been
  // dropped since, or were never made for want of a model.
  bool rows_of(const Hash128& program, feature::RowBatch* batch);
  // The same, made anew where they are not at hand. False when it is not legal or not fit.
  bool rows_of(const Candidate& candidate, feature::RowBatch* batch);
  const AssessorCounts& counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::search
