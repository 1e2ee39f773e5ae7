#include "te/ops/conv_transpose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

struct Case {
  const char* text;
  int64_t n, h, w, ci, co, kh, kw, y, x;
  int64_t stride = 1, pad = 0;
};

const Case kCases[] = {
    {"n=2,h=3,w=4,ci=2,co=3,kernel=4,stride=2,pad=1", 2, 3, 4, 2, 3, 4, 4, 6, 8, 2, 1},
    {"h=3,w=2,ci=2,co=2,kernel=3,stride=2", 1, 3, 2, 2, 2, 3, 3, 7, 5, 2},
    {"h=3,w=3,ci=2,co=2,kernel=3,stride=2,pad=1,output_padding=1,dtype=i8", 1, 3, 3, 2, 2, 3, 3, 6,
     6, 2, 1},
    {"h=4,w=5,ci=2,co=2,kernel=3,pad=1", 1, 4, 5, 2, 2, 3, 3, 4, 5, 1, 1},
    {"h=3,w=4,ci=1,co=2,kernel=1", 1, 3, 4, 1, 2, 1, 1, 3, 4},
    {"h=3,w=3,ci=1,co=2,kernel=2,stride=3", 1, 3, 3, 1, 2, 2, 2, 8, 8, 3},  // gaps between kernels
    {"h=2,w=2,ci=1,co=1,kernel=1,stride=4,output_padding=3", 1, 2, 2, 1, 1, 1, 1, 8, 8, 4},
    {"h=4,w=3,ci=2,co=1,kh=5,kw=2,stride=3,pad=1", 1, 4, 3, 2, 1, 5, 2, 12, 6, 3, 1},
    {"h=5,w=5,ci=1,co=1,kernel=2,stride=1,pad=2", 1, 5, 5, 1, 1, 2, 2, 2, 2, 1,
     2},  // pad >= kernel
};

// Scatters each element of X, as the definition does.
std::vector<double> naive(const Evaluated& conv, const Case& s) {
  std::vector<double> output(conv.output.size());
  for_each_index({s.n, s.h, s.w, s.ci}, [&](const std::vector<int64_t>& i, size_t from) {
    for_each_index({s.kh, s.kw, s.co}, [&](const std::vector<int64_t>& r, size_t) {
      const int64_t y = i[1] * s.stride - s.pad + r[0];
      const int64_t x = i[2] * s.stride - s.pad + r[1];
      if (y < 0 || y >= s.y || x < 0 || x >= s.x) return;
      output[static_cast<size_t>(((i[0] * s.y + y) * s.x + x) * s.co + r[2])] +=
          conv.inputs.at("X")[from] *
          at(conv.inputs.at("W"), {s.kh, s.kw, s.ci, s.co}, {r[0], r[1], i[3], r[2]});
    });
  });
  return output;
}

TEST(Conv2dTranspose, EqualsItsDefinition) {
  for (const Case& s : kCases) {
    const Evaluated conv(std::string("conv2d_transpose:") + s.text);
    ASSERT_THAT(conv.shape, ::testing::ElementsAre(s.n, s.y, s.x, s.co)) << s.text;
    EXPECT_EQ(conv.output, naive(conv, s)) << s.text;
  }
}

// Pairs of an output position and a tap r < k with r = y + pad mod stride.
double taps(int64_t output, int64_t kernel, const Case& s) {
  double count = 0;
  for (int64_t y = 0; y < output; ++y) {
    for (int64_t r = 0; r < kernel; ++r) count += (y + s.pad - r) % s.stride == 0 ? 1 : 0;
  }
  return count;
}

TEST(Conv2dTranspose, FlopCountsTapsInsideTheKernel) {
  for (const Case& s : kCases) {
    const auto conv = parse_operator(std::string("conv2d_transpose:") + s.text);
    EXPECT_EQ(conv->dag->flop(), 2.0 * static_cast<double>(s.n * s.ci * s.co) * taps(s.y, s.kh, s) *
                                     taps(s.x, s.kw, s))
        << s.text;
  }
}

TEST(Conv2dTranspose, StagesExistOnlyIfNeeded) {
  const auto has_border = [](const char* text) {
    return parse_operator(text)->dag->find_op(Name("P")).has_value();
  };
  EXPECT_TRUE(has_border("conv2d_transpose:h=3,w=4,ci=2,co=3,kernel=4,stride=2,pad=1"));
  EXPECT_FALSE(has_border("conv2d_transpose:h=3,w=4,ci=2,co=3,kernel=2,stride=2"));
  const auto whole = parse_operator("conv2d_transpose:h=3,w=4,ci=2,co=3,kernel=4,stride=2")->dag;
  EXPECT_FALSE(whole->access(3).has_branch);
  const auto odd = parse_operator("conv2d_transpose:h=3,w=4,ci=2,co=3,kernel=3,stride=2")->dag;
  EXPECT_TRUE(odd->access(3).has_branch);
}

TEST(Conv2dTranspose, RejectsInvalidParameters) {
  const Mistake mistakes[] = {
      {"conv2d_transpose:h=4,w=4,ci=4,co=8", "needs parameter kernel"},
      {"conv2d_transpose:h=4,w=4,ci=4,co=8,kernel=3,stride=2,output_padding=2",
       "output_padding=2 must be below stride=2"},
      {"conv2d_transpose:h=1,w=2,ci=4,co=8,kernel=3,stride=2,pad=2",
       "pad=2 leaves nothing of the 3x5 elements that 1x2 grows to"},
      {"conv2d_transpose:h=4,w=4,ci=4,co=8,kernel=3,dilation=2", "has no parameter 'dilation'"},
      {"conv2d_transpose:h=4,w=4,ci=4,co=8,kernel=3,dtype=bool", "dtype bool is not supported"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
