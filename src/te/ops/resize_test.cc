#include "te/ops/resize.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

// The place of element o, by the formulas of ONNX; long double holds these fractions well enough to
// tell halves apart.
long double place(const std::string& coordinates, int64_t o, int64_t in, int64_t out) {
  const auto x = static_cast<long double>(o), m = static_cast<long double>(in),
             n = static_cast<long double>(out);
  if (coordinates == "half_pixel") return ((2 * x + 1) * m - n) / (2 * n);
  if (coordinates == "asymmetric") return x * m / n;
  return out == 1 ? 0 : x * (m - 1) / (n - 1);
}

int64_t rounded(const std::string& rounding, long double x) {
  if (rounding == "floor") return static_cast<int64_t>(std::floor(x));
  if (rounding == "ceil") return static_cast<int64_t>(std::ceil(x));
  const long double below = std::floor(x);
  const bool up = x - below > 0.5L || (x - below == 0.5L && rounding == "round_prefer_ceil");
  return static_cast<int64_t>(below) + (up ? 1 : 0);
}

const char* const kCoordinates[] = {"half_pixel", "asymmetric", "align_corners"};

TEST(Resize, NearestRoundsTheCoordinate) {
  for (const auto& [in, out] : {std::pair<int64_t, int64_t>{4, 8},
                                {8, 4},
                                {5, 7},
                                {7, 5},
                                {3, 9},
                                {9, 3},
                                {6, 1},
                                {1, 6},
                                {4, 4},
                                {10, 4}}) {
    for (const std::string coordinates : kCoordinates) {
      for (const std::string rounding :
           {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
        const Evaluated op(fmt::format("resize:shape={},to={},coordinates={},rounding={},dtype=i64",
                                       in, out, coordinates, rounding),
                           0, 1000);
        for (int64_t o = 0; o < out; ++o) {
          const int64_t x = rounded(rounding, place(coordinates, o, in, out));
          ASSERT_EQ(op.output[static_cast<size_t>(o)],
                    op.in("X", std::clamp<int64_t>(in == out ? o : x, 0, in - 1)))
              << in << " to " << out << " " << coordinates << " " << rounding << " at " << o;
        }
      }
    }
  }
}

double at_clamped(const Evaluated& op, const std::vector<int64_t>& extents,
                  std::vector<int64_t> indices) {
  for (size_t d = 0; d < extents.size(); ++d) {
    indices[d] = std::clamp<int64_t>(indices[d], 0, extents[d] - 1);
  }
  return at(op.inputs.at("X"), extents, indices);
}

TEST(Resize, LinearInterpolatesFourNeighbors) {
  for (const auto& [to_y, to_x] :
       {std::pair<int64_t, int64_t>{8, 10}, {3, 2}, {7, 5}, {4, 7}, {1, 1}}) {
    for (const std::string coordinates : kCoordinates) {
      const std::vector<int64_t> extents = {2, 4, 5, 3};
      const Evaluated op(
          fmt::format("resize:shape=2x4x5x3,to=2x{}x{}x3,mode=linear,coordinates={},dtype=f64",
                      to_y, to_x, coordinates));
      for_each_index(op.shape, [&](const std::vector<int64_t>& o, size_t offset) {
        const long double y = place(coordinates, o[1], 4, to_y);
        const long double x = place(coordinates, o[2], 5, to_x);
        double expected = 0;
        for (const int64_t dy : {0, 1}) {
          for (const int64_t dx : {0, 1}) {
            const auto low_y = static_cast<int64_t>(std::floor(y));
            const auto low_x = static_cast<int64_t>(std::floor(x));
            const double wy = static_cast<double>(y - std::floor(y));
            const double wx = static_cast<double>(x - std::floor(x));
            expected += (dy == 1 ? wy : 1 - wy) * (dx == 1 ? wx : 1 - wx) *
                        at_clamped(op, extents, {o[0], low_y + dy, low_x + dx, o[3]});
          }
        }
        ASSERT_NEAR(op.output[offset], expected, 1e-12) << coordinates << to_y << "x" << to_x;
      });
    }
  }
}

TEST(Resize, UpsamplingByTwoIsADivisionByTwo) {
  const auto dag = parse_operator("resize:shape=4,to=8,coordinates=asymmetric,rounding=floor")->dag;
  EXPECT_THAT(dag->to_string(), ::testing::HasSubstr("= X[i / 2]"));
}

TEST(Resize, StagesOfLinear) {
  const auto names = [](const char* text) {
    std::vector<std::string> stages;
    const auto dag = parse_operator(text)->dag;
    for (const Tensor& tensor : dag->tensors()) {
      stages.push_back(tensor.name.text() + ":" + std::string(ir::name_of(tensor.element)));
    }
    return stages;
  };
  EXPECT_THAT(names("resize:shape=1x4x4x3,to=1x8x8x3,mode=linear,dtype=f16"),
              ::testing::ElementsAre("X:f16", "T1:f32", "Y:f16"));
  EXPECT_THAT(names("resize:shape=4x4,to=4x4,mode=linear"),
              ::testing::ElementsAre("X:f32", "Y:f32"));
}

TEST(Resize, Mistakes) {
  const Mistake mistakes[] = {
      {"resize:shape=4x4,to=8", "resize: 4x4 has 2 dimensions and 8 has 1"},
      {"resize:shape=4,to=8,mode=cubic", "mode has the unknown value 'cubic'"},
      {"resize:shape=4,to=8,coordinates=halfpixel", "did you mean half_pixel?"},
      {"resize:shape=4,to=8,rounding=up", "rounding has the unknown value 'up'"},
      {"resize:shape=4,to=8,mode=linear,dtype=i8", "dtype i8 is not supported"},
      {"resize:shape=4,to=2000000000", "dimension 0 has the extent 2000000000; up to 536870912"},
      {"resize:shape=4", "resize needs parameter to"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
