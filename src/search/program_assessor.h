// ProgramAssessor: the hot loop of every search. instantiate, apply, validity, hash, rows, score;
// on all cores, each program once.
#pragma once

#include <memory>

#include "cost/model.h"
#include "search/explorer.h"
#include "space/space.h"
#include "target/machine.h"

namespace tilewright::search {

// Where the time went, for the table of ./dev bench search.
struct AssessorCounts {
  int64_t asked = 0, illegal = 0, unfit = 0, known = 0, scored = 0;
  double instantiate_s = 0, apply_s = 0, validity_s = 0, hash_s = 0, rows_s = 0, predict_s = 0;
};

class ProgramAssessor : public Assessor {
 public:
  // The space outlives the assessor. `threads` 0: all cpus.
  ProgramAssessor(const space::Space& space, const Machine& machine, int threads = 0);
  ~ProgramAssessor() override;

  void set_model(
      const cost::CostModel* model);  // scores that were remembered are forgotten; rows are kept
  void assess(std::span<Candidate> candidates) override;

  // The rows of a program that was assessed; null when it was not.
  bool rows_of(const Hash128& program, feature::RowBatch* batch);
  const AssessorCounts& counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::search
