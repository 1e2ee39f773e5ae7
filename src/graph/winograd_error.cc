#include "graph/winograd_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"
#include "te/ops/winograd_matrices.h"

namespace tilewright::graph {
namespace {

using te::Matrix;

constexpr double kTransform =
    0x1p-48;                        // relative error of transformed weights: 32 roundings in f64
constexpr double kSlack = 0x1p-30;  // of the sums of this file

double unit_roundoff(ir::Scalar element) {
  CHECK(element == ir::Scalar::F32 || element == ir::Scalar::F64, "weights of another type");
  return element == ir::Scalar::F32 ? 0x1p-24 : 0x1p-53;
}

double gamma(double roundings, double unit) {
  const double sum = roundings * unit;
  return sum < 1 ? sum / (1 - sum) : std::numeric_limits<double>::infinity();
}

double absolute_sum(const std::vector<double>& row) {
  double sum = 0;
  for (const double entry : row) sum += std::abs(entry);
  return sum;
}

double nonzeros(const std::vector<double>& row) {
  return static_cast<double>(row.size()) - static_cast<double>(std::ranges::count(row, 0.0));
}

// The sums of |U| over the input channels, one row per element of a tile, and of |w| over these and
// the taps; each per output channel.
struct ChannelSums {
  Matrix transformed;
  std::vector<double> direct;
};

ChannelSums channel_sums(const Constant& weights, const te::WinogradMatrices& matrices) {
  const Matrix& inverse = matrices.g_inverse;
  const auto side = static_cast<size_t>(weights.type().shape[0]);
  const auto ci = static_cast<size_t>(weights.type().shape[2]);
  const auto co = static_cast<size_t>(weights.type().shape[3]);
  ChannelSums sums{.transformed = Matrix(side * side, std::vector<double>(co)),
                   .direct = std::vector<double>(co)};
  for (size_t c = 0; c < ci; ++c) {
    Matrix taps(inverse.size() * inverse.size(), std::vector<double>(co));
    for (size_t element = 0; element < side * side; ++element) {
      std::vector<double> row(co);
      for (size_t k = 0; k < co; ++k) {
        row[k] = weights.number(static_cast<int64_t>((element * ci + c) * co + k));
        sums.transformed[element][k] += std::abs(row[k]);
      }
      for (size_t tap = 0; tap < taps.size(); ++tap) {
        const double entry = inverse[tap / inverse.size()][element / side] *
                             inverse[tap % inverse.size()][element % side];
        if (entry == 0) continue;
        for (size_t k = 0; k < co; ++k) taps[tap][k] += entry * row[k];
      }
    }
    for (const std::vector<double>& tap : taps) {
      for (size_t k = 0; k < co; ++k) sums.direct[k] += std::abs(tap[k]);
    }
  }
  return sums;
}

// One row of A^T, as the bound sees it: by each element of V, and by each of the weights.
struct Growth {
  double terms = 0;
  std::vector<double> values;  // |A[i,a]| beta[a]
  // The same if U is replaced by |G| |w| |G|^T, where |w| <= |L| |U| |L|^T with the left inverse L
  // of G: the errors of the transform in f64.
  std::vector<double> weights;
};

Growth growth_of(const std::vector<double>& row, const te::WinogradMatrices& matrices) {
  Growth growth{.terms = nonzeros(row), .values = row, .weights = std::vector<double>(row.size())};
  for (size_t a = 0; a < row.size(); ++a) {
    growth.values[a] = std::abs(row[a]) * absolute_sum(matrices.b_transposed[a]);
    for (size_t tap = 0; tap < matrices.g_inverse.size(); ++tap) {
      for (size_t b = 0; b < row.size(); ++b) {
        growth.weights[b] +=
            growth.values[a] * std::abs(matrices.g[a][tap] * matrices.g_inverse[tap][b]);
      }
    }
  }
  return growth;
}

}  // namespace

WinogradError winograd_error(const Constant& weights) {
  const std::vector<int64_t>& shape = weights.type().shape;
  const te::WinogradMatrices& matrices = te::winograd_matrices(shape[0] - 2);
  const double unit = unit_roundoff(weights.type().element);
  const auto ci = static_cast<double>(shape[2]);
  const ChannelSums sums = channel_sums(weights, matrices);
  std::vector<Growth> growths;
  for (const std::vector<double>& row : matrices.a_transposed) {
    growths.push_back(growth_of(row, matrices));
  }
  WinogradError error;
  const auto side = static_cast<size_t>(shape[0]);
  for (const Growth& i : growths) {
    for (const Growth& j : growths) {
      std::vector<double> bounds(sums.direct.size());  // per output channel
      for (size_t a = 0; a < side; ++a) {
        for (size_t b = 0; b < side; ++b) {
          const double roundings =
              nonzeros(matrices.b_transposed[a]) * nonzeros(matrices.b_transposed[b]) + ci +
              i.terms * j.terms + 1;
          const double factor = gamma(roundings, unit) * i.values[a] * j.values[b] +
                                kTransform * i.weights[a] * j.weights[b];
          const std::vector<double>& row = sums.transformed[a * side + b];
          for (size_t k = 0; k < row.size(); ++k) bounds[k] += factor * row[k];
        }
      }
      error.bound = std::max(error.bound, std::ranges::max(bounds));
    }
  }
  error.bound *= 1 + kSlack;
  error.direct = gamma(9 * ci, unit) * std::ranges::max(sums.direct);
  return error;
}

}  // namespace tilewright::graph
