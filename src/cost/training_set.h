// TrainingSet: samples of one encoding, prepared for tree training: the informative columns,
// labels, and the split into training and held-out programs.
#pragma once

#include <vector>

#include "cost/forest.h"
#include "cost/loss.h"

namespace tilewright::cost {

struct TrainingSet {
  // Columns that are neither constant nor equal to an earlier column.
  std::vector<uint32_t> columns;
  std::vector<float> values;    // columns.size() per row
  std::vector<uint32_t> begin;  // first row of each program, as in Encoded
  std::vector<Label> labels;
  // Program indices. Held out: a fifth, by index, of the programs with weight 1 (those of the task
  // itself), if that is enough.
  std::vector<uint32_t> everyone, training, held_out;

  size_t programs() const { return labels.size(); }
};

// An Error if a number is not finite. `samples` has at least one row.
Result<TrainingSet> make_training_set(const Samples& samples, double failure_weight);

// Maps the columns of the trees in `forest` to columns of complete rows.
void rename_columns(std::span<const uint32_t> columns, size_t width, Forest* forest);

// One number per row -> one per program.
void sum_rows(std::span<const uint32_t> begin, std::span<const float> rows,
              std::span<float> programs);

}  // namespace tilewright::cost
