#include "cost/training_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "base/check.h"
#include "base/hash.h"

namespace tilewright::cost {
namespace {

constexpr size_t kEnoughOwn = 8;  // with this many of the task itself, no others are held out

bool may_be_held_out(size_t program) { return Hasher().add(program).finish().low % 5 == 0; }

// A fifth by index, of the samples of the task itself if there are enough. Samples of other tasks
// are a poor criterion for when to stop.
std::vector<bool> find_held_out(const Samples& samples) {
  std::vector<bool> any(samples.size()), own(samples.size());
  size_t owned = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    any[i] = may_be_held_out(i);
    own[i] = any[i] && (samples.weight.empty() || samples.weight[i] >= 1);
    owned += own[i] ? 1 : 0;
  }
  return owned >= kEnoughOwn ? own : any;
}

// Columns that are not constant, without duplicates.
std::vector<uint32_t> telling_columns(std::span<const float> values, size_t width) {
  std::vector<Hasher> hashers(width);
  std::vector<uint8_t> differs(width);
  for (size_t row = 0; row < values.size(); row += width) {
    for (size_t column = 0; column < width; ++column) {
      hashers[column].add(std::bit_cast<uint32_t>(values[row + column]));
      if (values[row + column] != values[column]) differs[column] = 1;
    }
  }
  std::map<Hash128, uint32_t> seen;
  std::vector<uint32_t> columns;
  for (uint32_t column = 0; column < width; ++column) {
    if (differs[column] == 0) continue;
    if (seen.emplace(hashers[column].finish(), column).second) columns.push_back(column);
  }
  return columns;
}

}  // namespace

Result<TrainingSet> make_training_set(const Samples& samples, double failure_weight) {
  const feature::Encoded& rows = samples.inputs.at(0);
  CHECK(rows.programs() == samples.size() && rows.rows() > 0, "rows of {} programs, {} samples",
        rows.programs(), samples.size());
  const size_t width = rows.width;
  for (size_t i = 0; i < rows.values.size(); ++i) {
    if (std::isfinite(rows.values[i])) continue;
    return fail(ErrorKind::BadInput,
                fmt::format("feature {} of row {} is not a finite number", i % width, i / width));
  }
  TrainingSet set;
  set.columns = telling_columns(rows.values, width);
  set.values.reserve(rows.rows() * set.columns.size());
  for (size_t row = 0; row < rows.values.size(); row += width) {
    for (const uint32_t column : set.columns) set.values.push_back(rows.values[row + column]);
  }
  set.begin = rows.begin;
  set.labels = labels_of(samples, failure_weight);
  const std::vector<bool> held_out = find_held_out(samples);
  for (uint32_t i = 0; i < samples.size(); ++i) {
    set.everyone.push_back(i);
    (held_out[i] ? set.held_out : set.training).push_back(i);
  }
  return set;
}

void rename_columns(std::span<const uint32_t> columns, size_t width, Forest* forest) {
  forest->width = width;
  for (Tree& tree : forest->trees) {
    for (TreeNode& node : tree) {
      if (!node.is_leaf()) {
        node.feature = static_cast<int32_t>(columns[static_cast<size_t>(node.feature)]);
      }
    }
  }
}

void sum_rows(std::span<const uint32_t> begin, std::span<const float> rows,
              std::span<float> programs) {
  for (size_t program = 0; program < programs.size(); ++program) {
    float sum = 0;
    for (uint32_t row = begin[program]; row < begin[program + 1]; ++row) sum += rows[row];
    programs[program] = sum;
  }
}

}  // namespace tilewright::cost
