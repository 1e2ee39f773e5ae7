#include "te/ops/pool.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

using ::testing::ElementsAre;

// One window a dimension, as [begin, end) that may leave the input.
using Box = std::vector<std::pair<int64_t, int64_t>>;

struct Window {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  int64_t inside = 0, all = 0;
};

// The elements in the window `box` of a 4-dimensional X at (n, c).
Window window_at(const Evaluated& op, const std::vector<int64_t>& shape, int64_t n, int64_t c,
                 const Box& box) {
  Window window;
  for (int64_t y = box[0].first; y < box[0].second; ++y) {
    for (int64_t x = box[1].first; x < box[1].second; ++x) {
      ++window.all;
      if (y < 0 || y >= shape[1] || x < 0 || x >= shape[2]) continue;
      const double value = op.in("X", ((n * shape[1] + y) * shape[2] + x) * shape[3] + c);
      window.largest = std::max(window.largest, value);
      window.sum += value;
      ++window.inside;
    }
  }
  return window;
}

TEST(Pool, EqualsItsWindows) {
  struct Case {
    int64_t kernel[2], stride[2], pad[2];
    int64_t y, x;
  };
  const Case cases[] = {{{2, 2}, {2, 2}, {0, 0}, 3, 4},
                        {{3, 3}, {2, 2}, {1, 1}, 4, 4},
                        {{3, 2}, {1, 3}, {2, 0}, 9, 3},
                        {{1, 8}, {1, 1}, {0, 3}, 7, 7}};
  const std::vector<int64_t> shape = {2, 7, 8, 3};
  for (const Case& c : cases) {
    for (const char* mode : {"max", "average", "average,count_include_pad=1"}) {
      const Evaluated op(fmt::format(
          "pool:n=2,spatial=7x8,c=3,kernel={}x{},stride={}x{},pad={}x{},"
          "dtype=f64,op={}",
          c.kernel[0], c.kernel[1], c.stride[0], c.stride[1], c.pad[0], c.pad[1], mode));
      ASSERT_THAT(op.shape, ElementsAre(2, c.y, c.x, 3));
      for_each_index(op.shape, [&](const std::vector<int64_t>& at, size_t offset) {
        Box box;
        for (size_t d = 0; d < 2; ++d) {
          const int64_t begin = at[d + 1] * c.stride[d] - c.pad[d];
          box.emplace_back(begin, begin + c.kernel[d]);
        }
        const Window window = window_at(op, shape, at[0], at[3], box);
        const int64_t count = std::string(mode) == "average" ? window.inside : window.all;
        const double expected =
            std::string(mode) == "max" ? window.largest : window.sum / static_cast<double>(count);
        ASSERT_DOUBLE_EQ(op.output[offset], expected) << mode << " at " << offset;
      });
    }
  }
}

TEST(Pool, OneAndThreeDimensions) {
  const Evaluated line("pool:op=max,spatial=5,c=1,kernel=2,stride=3,dtype=i8");
  EXPECT_THAT(line.output, ElementsAre(std::max(line.in("X", 0), line.in("X", 1)),
                                       std::max(line.in("X", 3), line.in("X", 4))));
  const Evaluated cube("pool:op=average,spatial=2x2x2,c=1,kernel=2");
  double sum = 0;
  for (int64_t k = 0; k < 8; ++k) sum += cube.in("X", k);
  EXPECT_THAT(cube.output, ElementsAre(sum / 8));
}

TEST(Pool, GlobalEqualsItsReduction) {
  for (const char* mode : {"max", "average"}) {
    const Evaluated op(fmt::format("global_pool:op={},n=2,spatial=3x5,c=4,dtype=f64", mode));
    ASSERT_THAT(op.shape, ElementsAre(2, 4));
    for_each_index(op.shape, [&](const std::vector<int64_t>& at, size_t offset) {
      const Window window = window_at(op, {2, 3, 5, 4}, at[0], at[1], {{0, 3}, {0, 5}});
      EXPECT_DOUBLE_EQ(op.output[offset],
                       std::string(mode) == "max" ? window.largest : window.sum / 15);
    });
  }
}

TEST(Pool, AdaptiveEqualsItsWindows) {
  for (const auto& [to_y, to_x] :
       {std::pair{3, 4}, std::pair{7, 2}, std::pair{1, 8}, std::pair{10, 5}}) {
    for (const char* mode : {"max", "average"}) {
      const Evaluated op(fmt::format("adaptive_pool:op={},n=1,spatial=7x8,c=2,to={}x{},dtype=f64",
                                     mode, to_y, to_x));
      ASSERT_THAT(op.shape, ElementsAre(1, to_y, to_x, 2));
      for_each_index(op.shape, [&](const std::vector<int64_t>& at, size_t offset) {
        const auto bounds = [](int64_t y, int64_t extent, int64_t to) {
          return std::pair{y * extent / to, ((y + 1) * extent + to - 1) / to};
        };
        const Box box = {bounds(at[1], 7, to_y), bounds(at[2], 8, to_x)};
        const Window window = window_at(op, {1, 7, 8, 2}, at[0], at[3], box);
        ASSERT_EQ(window.inside, window.all);
        ASSERT_DOUBLE_EQ(op.output[offset], std::string(mode) == "max"
                                                ? window.largest
                                                : window.sum / static_cast<double>(window.all))
            << mode << to_y << "x" << to_x;
      });
    }
  }
}

TEST(Pool, EvenAdaptiveWindowsNeedNoGuard) {
  const auto guarded = [](const char* text) {
    const auto dag = parse_operator(text)->dag;
    return dag->access(dag->find_op(Name("Y")).value()).has_branch;
  };
  EXPECT_FALSE(guarded("adaptive_pool:op=max,spatial=8,c=1,to=4"));
  EXPECT_FALSE(guarded("adaptive_pool:op=max,spatial=7,c=1,to=2"));  // [0,4) [3,7)
  EXPECT_TRUE(guarded("adaptive_pool:op=max,spatial=8,c=1,to=3"));   // [0,3) [2,6) [5,8)
}

TEST(Pool, SmallTypesAreKept) {
  const auto mean = parse_operator("pool:op=average,spatial=4,c=1,kernel=2,dtype=bf16")->dag;
  EXPECT_EQ(mean->tensor(mean->op(1).outputs[0]).element, ir::Scalar::F32);
  EXPECT_EQ(mean->tensor(mean->outputs()[0]).element, ir::Scalar::BF16);
  const auto max_pool = parse_operator("pool:op=max,spatial=4,c=1,kernel=2,dtype=u8")->dag;
  EXPECT_EQ(max_pool->tensor(max_pool->outputs()[0]).element, ir::Scalar::U8);
}

TEST(Pool, Mistakes) {
  const Mistake mistakes[] = {
      {"pool:op=mean,spatial=4,c=1,kernel=2",
       "op has the unknown value 'mean'; did you mean max? (values: max, average)"},
      {"pool:op=max,spatial=4x4,c=1,kernel=2,pad=2", "pad=2x2 is not smaller than kernel=2x2"},
      {"pool:op=max,spatial=4x4,c=1,kernel=7,pad=1",
       "a 7x7 kernel does not fit into 4x4 with pad=1x1"},
      {"pool:op=max,spatial=4x4,c=1,kernel=2x2x2", "kernel has 3 numbers for 2 dimensions"},
      {"pool:op=max,spatial=4x4x4x4,c=1,kernel=2", "4 spatial dimensions; 1 to 3 are supported"},
      {"pool:op=average,spatial=4,c=1,kernel=2,dtype=i8",
       "pool:op=average: dtype i8 is not supported"},
      {"pool:op=max,spatial=4,c=1", "pool needs parameter kernel"},
      {"global_pool:op=max,spatial=4,c=1,dtype=bool", "dtype bool is not supported"},
      {"adaptive_pool:op=max,spatial=4,c=1,to=2x2", "to has 2 numbers for 1 dimensions"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
