// TrainingSet: samples of one encoding as trees want them: only columns that say something, labels,
// and which programs are held out.
#pragma once

#include <vector>

#include "cost/forest.h"
#include "cost/loss.h"

namespace tilewright::cost {

struct TrainingSet {
  std::vector<uint32_t> columns;  // those that differ between rows and from earlier columns
  std::vector<float> values;      // columns.size() a row
  std::vector<uint32_t> begin;    // of each program's rows, as in Encoded
  std::vector<Label> labels;
  // Programs. Held out: a fifth, by index, of those that weigh 1 (one's own) if that is enough.
  std::vector<uint32_t> everyone, training, held_out;

  size_t programs() const { return labels.size(); }
};

// An Error where a number is not finite. `samples` has at least one row.
Result<TrainingSet> make_training_set(const Samples& samples, double failure_weight);

// Columns as the trees of `forest` know them -> columns of whole rows.
void rename_columns(std::span<const uint32_t> columns, size_t width, Forest* forest);

// One number per row -> one per program.
void sum_rows(std::span<const uint32_t> begin, std::span<const float> rows,
              std::span<float> programs);

}  // namespace tilewright::cost
