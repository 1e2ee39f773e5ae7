// The bound against Winograd's algorithm in f32, compared with a direct evaluation in f64, on
// random inputs and on inputs that are searched for large errors.
#include "graph/winograd_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "graph/passes/constant_math.h"
#include "te/ops/winograd_matrices.h"

namespace tilewright::graph {
namespace {

enum class Order : uint8_t { Forward, Backward, Fused };  // Fused: forward, with fma

// One tile of one output channel: x[side, side, ci], w[3, 3, ci].
struct Tile {
  Tile(int64_t tile, size_t channels) : m(tile), ci(channels), side(static_cast<size_t>(tile) + 2) {
    x.resize(side * side * ci);
    w.resize(9 * ci);
  }

  const te::WinogradMatrices& matrices() const { return te::winograd_matrices(m); }

  // U[side, side, ci] = G w G^T, in f64.
  std::vector<double> transformed() const {
    std::vector<double> u(side * side * ci);
    for (size_t k = 0; k < u.size(); ++k) {
      for (size_t tap = 0; tap < 9; ++tap) {
        u[k] += matrices().g[k / ci / side][tap / 3] * matrices().g[k / ci % side][tap % 3] *
                static_cast<double>(w[tap * ci + k % ci]);
      }
    }
    return u;
  }
  WinogradError error() const {
    const TensorType type{.element = ir::Scalar::F32,
                          .shape = {m + 2, m + 2, static_cast<int64_t>(ci), 1}};
    return winograd_error(of_numbers(type, transformed()));
  }

  int64_t m;
  size_t ci, side;
  std::vector<float> x, w;
};

// The sum of the terms in f32.
float sum_of(std::vector<std::pair<float, float>> terms, Order order) {
  if (order == Order::Backward) std::ranges::reverse(terms);
  float sum = 0;
  for (const auto& [a, b] : terms) {
    const float product = a * b;
    sum = order == Order::Fused ? std::fma(a, b, sum) : sum + product;
  }
  return sum;
}

// sum over p, q of rows[p] columns[q] values[p, q]
float double_sum(const std::vector<double>& row, const std::vector<double>& column,
                 const std::vector<float>& values, Order order) {
  std::vector<std::pair<float, float>> terms;
  for (size_t p = 0; p < row.size(); ++p) {
    for (size_t q = 0; q < column.size(); ++q) {
      terms.emplace_back(static_cast<float>(row[p] * column[q]), values[p * column.size() + q]);
    }
  }
  return sum_of(std::move(terms), order);
}

// The outputs of the tile as a kernel computes them.
std::vector<float> computed(const Tile& tile, Order order) {
  const te::WinogradMatrices& matrices = tile.matrices();
  const std::vector<double> u = tile.transformed();
  const size_t side = tile.side, elements = side * side;
  std::vector<std::vector<std::pair<float, float>>> terms(elements);
  for (size_t c = 0; c < tile.ci; ++c) {
    std::vector<float> channel(elements);
    for (size_t k = 0; k < elements; ++k) channel[k] = tile.x[k * tile.ci + c];
    for (size_t k = 0; k < elements; ++k) {
      const float v = double_sum(matrices.b_transposed[k / side], matrices.b_transposed[k % side],
                                 channel, order);
      terms[k].emplace_back(v, static_cast<float>(u[k * tile.ci + c]));
    }
  }
  std::vector<float> products(elements);
  for (size_t k = 0; k < elements; ++k) products[k] = sum_of(std::move(terms[k]), order);
  std::vector<float> outputs;
  for (const std::vector<double>& row : matrices.a_transposed) {
    for (const std::vector<double>& column : matrices.a_transposed) {
      outputs.push_back(double_sum(row, column, products, order));
    }
  }
  return outputs;
}

std::vector<double> exact(const Tile& tile) {
  std::vector<double> outputs;
  for (size_t i = 0; i + 2 < tile.side; ++i) {
    for (size_t j = 0; j + 2 < tile.side; ++j) {
      double sum = 0;
      for (size_t tap = 0; tap < 9; ++tap) {
        for (size_t c = 0; c < tile.ci; ++c) {
          const size_t pixel = (i + tap / 3) * tile.side + j + tap % 3;
          sum += static_cast<double>(tile.x[pixel * tile.ci + c]) *
                 static_cast<double>(tile.w[tap * tile.ci + c]);
        }
      }
      outputs.push_back(sum);
    }
  }
  return outputs;
}

// The largest error over max|x|.
double error_of(const Tile& tile, Order order) {
  const std::vector<float> is = computed(tile, order);
  const std::vector<double> should = exact(tile);
  double error = 0, largest = 0;
  for (size_t k = 0; k < is.size(); ++k) {
    error = std::max(error, std::abs(static_cast<double>(is[k]) - should[k]));
  }
  for (const float x : tile.x) largest = std::max(largest, std::abs(static_cast<double>(x)));
  return error / largest;
}

float random_float(Rng& rng) { return static_cast<float>(2 * rng.uniform() - 1); }

Tile random_tile(int64_t m, size_t ci, Rng& rng) {
  Tile tile(m, ci);
  for (float& x : tile.x) x = random_float(rng);
  for (float& w : tile.w) w = random_float(rng);
  return tile;
}

// Large inputs with full mantissas: 1 and a little less, with either sign.
float hostile_float(Rng& rng) {
  const float x = 1 - static_cast<float>(rng.between(0, 64)) * 0x1p-24F;
  return rng.chance(0.5) ? x : -x;
}

// Changes single numbers as long as that increases the error.
double searched_error(Tile tile, Order order, int steps, Rng& rng) {
  double error = error_of(tile, order) / tile.error().bound;
  for (int step = 0; step < steps; ++step) {
    std::vector<float>& numbers = rng.chance(0.7) ? tile.x : tile.w;
    float& number = numbers[rng.below(numbers.size())];
    const float before = std::exchange(number, hostile_float(rng));
    const double now = error_of(tile, order) / tile.error().bound;
    if (now < error) {
      number = before;
    } else {
      error = now;
    }
  }
  return error;
}

constexpr Order kOrders[] = {Order::Forward, Order::Backward, Order::Fused};

TEST(WinogradError, BoundsTheErrorsOfRandomInputs) {
  Rng rng(3);
  for (const int64_t m : {2, 4}) {
    for (const size_t ci : {1, 3, 16, 100}) {
      for (int n = 0; n < 20; ++n) {
        const Tile tile = random_tile(m, ci, rng);
        for (const Order order : kOrders) {
          EXPECT_LE(error_of(tile, order), tile.error().bound) << m << ' ' << ci;
        }
      }
    }
  }
}

TEST(WinogradError, BoundsTheErrorsOfHostileInputs) {
  Rng rng(4);
  for (const int64_t m : {2, 4}) {
    for (const size_t ci : {1, 2, 16}) {
      for (const Order order : kOrders) {
        Tile tile(m, ci);
        for (float& x : tile.x) x = hostile_float(rng);
        for (float& w : tile.w) w = hostile_float(rng);
        const double share = searched_error(std::move(tile), order, 300, rng);
        EXPECT_LE(share, 1) << m << ' ' << ci;
        EXPECT_GE(share, 1e-3) << m << ' ' << ci;  // the search finds large errors
      }
    }
  }
}

// By hand: |A| sums 3 weights for each row of the output, |B| two inputs for each; (3 * 2)^2 = 36.
// 4 terms of the inner sum, 9 of the outer, 5 channels, the rounding of the weights.
TEST(WinogradError, IsTheSumOfItsTerms) {
  const TensorType type{.element = ir::Scalar::F32, .shape = {4, 4, 5, 2}};
  std::vector<double> ones(static_cast<size_t>(type.elements()), 1);
  const double roundings = 4 + 9 + 5 + 1, unit = 0x1p-24;
  const double gamma = roundings * unit / (1 - roundings * unit);
  EXPECT_NEAR(winograd_error(of_numbers(type, ones)).bound, 5 * 36 * gamma, 1e-5 * 180 * gamma);
  ones[1] = -3;  // of the second output channel
  EXPECT_NEAR(winograd_error(of_numbers(type, ones)).bound, (5 * 36 + 8) * gamma,
              1e-5 * 188 * gamma);
  const TensorType wide{.element = ir::Scalar::F64, .shape = type.shape};
  EXPECT_LT(winograd_error(of_numbers(wide, ones)).bound, 1e-5 * gamma);
}

TEST(WinogradError, TheDirectConvolutionHasTheBoundOfItsSums) {
  Tile tile(4, 2);
  for (size_t k = 0; k < tile.w.size(); ++k) tile.w[k] = k % 2 == 0 ? 0.5F : -0.25F;
  const double gamma = 18 * 0x1p-24 / (1 - 18 * 0x1p-24);
  EXPECT_NEAR(tile.error().direct, gamma * 9 * 0.75, 1e-6 * gamma);
  EXPECT_GT(tile.error().bound, tile.error().direct);
}

TEST(WinogradError, SmallTilesHaveSmallerErrors) {
  Rng rng(6);
  Tile large = random_tile(4, 64, rng), small(2, 64);
  small.w = large.w;
  EXPECT_LT(small.error().bound, large.error().bound / 2);
}

}  // namespace
}  // namespace tilewright::graph
