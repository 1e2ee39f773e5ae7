#include "te/ops/conv2d.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "te/ops/testing.h"

namespace tilewright::te {
namespace {

// The convolution at (n, y, x, c) by its definition.
double naive(const Evaluated& conv, const Conv2dShape& s, int64_t n, int64_t y, int64_t x,
             int64_t c) {
  const int64_t in = s.ci / s.groups, out = s.co / s.groups;
  double sum = 0;
  for (int64_t ry = 0; ry < s.kh; ++ry) {
    for (int64_t rx = 0; rx < s.kw; ++rx) {
      const int64_t row = y * s.stride + ry * s.dilation - s.pad;
      const int64_t column = x * s.stride + rx * s.dilation - s.pad;
      if (row < 0 || row >= s.h || column < 0 || column >= s.w) continue;
      for (int64_t rc = 0; rc < in; ++rc) {
        const int64_t channel = c / out * in + rc;
        sum += conv.in("X", ((n * s.h + row) * s.w + column) * s.ci + channel) *
               conv.in("W", ((ry * s.kw + rx) * in + rc) * s.co + c);
      }
    }
  }
  return sum;
}

struct Case {
  const char* text;
  Conv2dShape shape;
  int64_t y, x;  // extents of the output
};

const Case kCases[] = {
    {"n=2,h=5,w=6,ci=3,co=4,kernel=3",
     {.n = 2, .h = 5, .w = 6, .ci = 3, .co = 4, .kh = 3, .kw = 3},
     3,
     4},
    {"n=1,h=5,w=5,ci=2,co=3,kernel=3,pad=1",
     {.h = 5, .w = 5, .ci = 2, .co = 3, .kh = 3, .kw = 3, .pad = 1},
     5,
     5},
    {"n=1,h=8,w=7,ci=2,co=3,kernel=3,pad=1,stride=2",
     {.h = 8, .w = 7, .ci = 2, .co = 3, .kh = 3, .kw = 3, .stride = 2, .pad = 1},
     4,
     4},
    {"n=1,h=9,w=9,ci=2,co=3,kernel=3,pad=3,stride=2,dilation=2",
     {.h = 9, .w = 9, .ci = 2, .co = 3, .kh = 3, .kw = 3, .stride = 2, .pad = 3, .dilation = 2},
     6,
     6},
    {"n=1,h=4,w=6,ci=2,co=2,kh=1,kw=4,pad=1",
     {.h = 4, .w = 6, .ci = 2, .co = 2, .kh = 1, .kw = 4, .pad = 1},
     6,
     5},
    {"n=1,h=4,w=4,ci=4,co=6,kernel=3,pad=1,groups=2",
     {.h = 4, .w = 4, .ci = 4, .co = 6, .kh = 3, .kw = 3, .pad = 1, .groups = 2},
     4,
     4},
    {"n=1,h=4,w=4,ci=4,co=4,kernel=2,groups=4",
     {.h = 4, .w = 4, .ci = 4, .co = 4, .kh = 2, .kw = 2, .groups = 4},
     3,
     3},
};

TEST(Conv2d, EqualsItsDefinition) {
  for (const Case& test : kCases) {
    const Evaluated conv(std::string("conv2d:") + test.text);
    const Conv2dShape& s = test.shape;
    ASSERT_THAT(conv.shape, ::testing::ElementsAre(s.n, test.y, test.x, s.co)) << test.text;
    for (size_t k = 0; k < conv.output.size(); ++k) {
      const auto flat = static_cast<int64_t>(k);
      const int64_t c = flat % s.co, x = flat / s.co % test.x;
      const int64_t y = flat / s.co / test.x % test.y, n = flat / s.co / test.x / test.y;
      ASSERT_EQ(conv.output[k], naive(conv, s, n, y, x, c)) << test.text << " at " << flat;
    }
  }
}

TEST(Conv2d, TheEpilogueEqualsItsDefinition) {
  const Conv2dShape s{.h = 4, .w = 4, .ci = 2, .co = 3, .kh = 3, .kw = 3, .pad = 1};
  const Evaluated conv("conv2d_bias_bn_relu:h=4,w=4,ci=2,co=3,kernel=3,pad=1");
  for (size_t k = 0; k < conv.output.size(); ++k) {
    const auto flat = static_cast<int64_t>(k);
    const int64_t c = flat % 3, x = flat / 3 % 4, y = flat / 12;
    const double normal = (naive(conv, s, 0, y, x, c) + conv.in("bias", c)) * conv.in("scale", c) +
                          conv.in("shift", c);
    ASSERT_EQ(conv.output[k], std::max(normal, 0.0));
  }
}

TEST(Conv2d, StagesAndAxes) {
  const auto padded = conv2d({.h = 5, .w = 5, .ci = 2, .co = 3, .kh = 3, .kw = 3, .pad = 1});
  ASSERT_TRUE(padded.has_value());
  std::vector<std::string> stages, axes;
  for (const Op& op : (*padded)->ops()) stages.push_back(op.name.text());
  EXPECT_THAT(stages, ::testing::ElementsAre("X", "W", "P", "Y"));
  for (const Axis& axis : (*padded)->op(3).axes) axes.push_back(axis.name.text());
  for (const Axis& axis : (*padded)->op(3).reduce_axes) axes.push_back(axis.name.text());
  EXPECT_THAT(axes, ::testing::ElementsAre("n", "y", "x", "c", "ry", "rx", "rc"));
  const auto plain = conv2d({.h = 5, .w = 5, .ci = 2, .co = 3});
  EXPECT_FALSE((*plain)->find_op(Name("P")).has_value());
}

TEST(Conv2d, RefusesWhatHasNoMeaning) {
  struct Mistake {
    const char* text;
    const char* message;
  };
  const Mistake mistakes[] = {
      {"conv2d:h=4,w=4,ci=3,co=4,kernel=3,groups=2", "groups=2 must divide ci=3 and co=4"},
      {"conv2d:h=4,w=4,ci=4,co=4,kernel=7", "a 7x7 kernel with dilation=1 does not fit into 4x4"},
      {"conv2d:h=4,w=4,ci=4,co=4", "needs parameter kernel, or both kh and kw"},
      {"conv2d:h=4,w=4,ci=4,co=4,kh=3", "needs parameter kernel, or both kh and kw"},
      {"conv2d:h=4,w=4,ci=4,co=4,kernel=3,kh=2", "kernel and kh, kw exclude each other"},
      {"conv2d_bias_bn_relu:h=4,w=4,ci=4,co=4,kernel=1,dtype=i8", "dtype i8 is not supported"},
  };
  for (const Mistake& mistake : mistakes) {
    const auto instance = parse_operator(mistake.text);
    ASSERT_FALSE(instance.has_value()) << mistake.text;
    EXPECT_THAT(instance.error().message, ::testing::HasSubstr(mistake.message));
  }
}

}  // namespace
}  // namespace tilewright::te
