// For tests and benchmarks of cost models: samples with a known cost function.
#pragma once

#include <cmath>

#include "base/rng.h"
#include "cost/model.h"
#include "feature/rows.h"

namespace tilewright::cost {

struct Synthetic {
  size_t programs = 300;
  size_t rows = 4;    // per program
  size_t width = 40;  // numbers per row; at least 8
  uint32_t group = 0;
  double noise = 0;          // of log2 latency; above 10, only noise is left
  double failure_share = 0;  // among the programs whose first row has a large column 6
  uint64_t seed = 1;
};

// The latency is the sum over the rows of work / speed. The speed has an optimum in column 2 and
// drops sharply in column 3. Column 0 is the index of the row; the first row has most of the work.
// Columns from 8 on are irrelevant.
inline Samples synthetic_samples(const Synthetic& what) {
  Rng rng(what.seed);
  Samples samples;
  feature::Encoded& rows = samples.inputs.emplace_back();
  rows.width = what.width;
  rows.version = feature::kFeatureVersion;
  for (size_t program = 0; program < what.programs; ++program) {
    double latency = 0;
    bool fails = false;
    for (size_t row = 0; row < what.rows; ++row) {
      std::vector<float> numbers;
      numbers.reserve(what.width);
      for (size_t column = 0; column < what.width; ++column) {
        numbers.push_back(std::log2(static_cast<float>(1 + rng.below(3 + 5 * (column % 7)))));
      }
      numbers[0] = static_cast<float>(row);
      const double sweet = std::abs(numbers[2] - 2.5);
      const double cliff = numbers[3] > 3.2 ? 3 : 1;
      latency += std::exp2(0.5 * numbers[1] + sweet) * cliff * (row == 0 ? 4 : 1) + numbers[5];
      if (row == 0) fails = numbers[6] > 4.7 && rng.uniform() < what.failure_share;
      rows.values.insert(rows.values.end(), numbers.begin(), numbers.end());
    }
    rows.begin.push_back(rows.begin.back() + static_cast<uint32_t>(what.rows));
    const double noise = what.noise * (rng.uniform() * 2 - 1);
    samples.latency_ns.push_back(fails ? 0 : 1000 * latency * std::exp2(noise));
    samples.group.push_back(what.group);
  }
  return samples;
}

}  // namespace tilewright::cost
