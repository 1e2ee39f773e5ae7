#include "te/ops/depthwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

struct Case {
  const char* text;
  int64_t n, h, w, c, kh, kw, y, x;
  int64_t stride = 1, pad = 0, dilation = 1;
};

const Case kCases[] = {
    {"n=2,h=5,w=4,ci=3,kernel=3", 2, 5, 4, 3, 3, 3, 3, 2},
    {"h=7,w=6,ci=2,co=2,groups=2,kernel=3,stride=2,pad=1", 1, 7, 6, 2, 3, 3, 4, 3, 2, 1},
    {"h=9,w=8,ci=4,kh=3,kw=2,stride=3,pad=2,dilation=2,dtype=i8", 1, 9, 8, 4, 3, 2, 3, 4, 3, 2, 2},
};

TEST(DepthwiseConv2d, EqualsItsDefinition) {
  for (const Case& s : kCases) {
    const Evaluated conv(std::string("depthwise_conv2d:") + s.text);
    ASSERT_THAT(conv.shape, ::testing::ElementsAre(s.n, s.y, s.x, s.c)) << s.text;
    for_each_index(conv.shape, [&](const std::vector<int64_t>& i, size_t offset) {
      double sum = 0;
      for (int64_t ry = 0; ry < s.kh; ++ry) {
        for (int64_t rx = 0; rx < s.kw; ++rx) {
          const int64_t row = i[1] * s.stride + ry * s.dilation - s.pad;
          const int64_t column = i[2] * s.stride + rx * s.dilation - s.pad;
          sum += at(conv.inputs.at("X"), {s.n, s.h, s.w, s.c}, {i[0], row, column, i[3]}) *
                 at(conv.inputs.at("W"), {s.kh, s.kw, s.c}, {ry, rx, i[3]});
        }
      }
      ASSERT_EQ(conv.output[offset], sum) << s.text << " at " << offset;
    });
  }
}

TEST(DepthwiseConv2d, TheWeightIsConstantByDefault) {
  const auto conv = parse_operator("depthwise_conv2d:h=5,w=4,ci=3,kernel=3");
  ASSERT_TRUE(conv.has_value()) << conv.error().message;
  EXPECT_THAT(conv->constants, ::testing::ElementsAre("W"));
  EXPECT_EQ(conv->text,
            "depthwise_conv2d:n=1,h=5,w=4,ci=3,kernel=3,stride=1,pad=0,dilation=1,dtype=f32");
}

TEST(DepthwiseConv2d, RejectsInvalidParameters) {
  const Mistake mistakes[] = {
      {"depthwise_conv2d:h=4,w=4,ci=4,co=8,kernel=3", "co=8 must be ci=4; conv2d takes any groups"},
      {"depthwise_conv2d:h=4,w=4,ci=4,groups=2,kernel=3", "groups=2 must be ci=4"},
      {"depthwise_conv2d:h=4,w=4,ci=4,kernel=5", "a 5x5 kernel with dilation=1 does not fit"},
      {"depthwise_conv2d:h=4,w=4,ci=4", "needs parameter kernel, or both kh and kw"},
      {"depthwise_conv2d:h=4,w=4,ci=4,kernel=1,dtype=bool", "dtype bool is not supported"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
