#include "te/ops/conv_capsule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

struct Case {
  const char* text;
  int64_t n, h, w, side, ci, co, kernel, y, x;
  int64_t stride = 1, pad = 0;
};

const Case kCases[] = {
    {"n=2,h=3,w=4,ci=2,co=3,kernel=2,capsule=2", 2, 3, 4, 2, 2, 3, 2, 2, 3},
    {"h=4,w=5,ci=2,co=1,kernel=3,stride=2,pad=1", 1, 4, 5, 4, 2, 1, 3, 2, 3, 2, 1},
    {"h=4,w=3,ci=1,co=2,kernel=3,pad=1,capsule=3,dtype=i8", 1, 4, 3, 3, 1, 2, 3, 4, 3, 1, 1},
};

TEST(Conv2dCapsule, EqualsItsDefinition) {
  for (const Case& s : kCases) {
    const Evaluated conv(std::string("conv2d_capsule:") + s.text);
    ASSERT_THAT(conv.shape, ::testing::ElementsAre(s.n, s.y, s.x, s.side, s.side, s.co)) << s.text;
    for_each_index(conv.shape, [&](const std::vector<int64_t>& i, size_t offset) {
      double sum = 0;
      for_each_index(
          {s.kernel, s.kernel, s.side, s.ci}, [&](const std::vector<int64_t>& r, size_t) {
            sum += at(conv.inputs.at("X"), {s.n, s.h, s.w, s.side, s.side, s.ci},
                      {i[0], i[1] * s.stride + r[0] - s.pad, i[2] * s.stride + r[1] - s.pad, i[3],
                       r[2], r[3]}) *
                   at(conv.inputs.at("W"), {s.kernel, s.kernel, s.side, s.side, s.ci, s.co},
                      {r[0], r[1], r[2], i[4], r[3], i[5]});
          });
      ASSERT_EQ(conv.output[offset], sum) << s.text << " at " << offset;
    });
  }
}

TEST(Conv2dCapsule, RejectsInvalidParameters) {
  const Mistake mistakes[] = {
      {"conv2d_capsule:h=4,w=4,ci=4,co=8,kernel=5", "a 5x5 kernel with dilation=1 does not fit"},
      {"conv2d_capsule:h=4,w=4,ci=4,co=8", "needs parameter kernel"},
      {"conv2d_capsule:h=4,w=4,ci=4,co=8,kernel=3,capsule=0", "capsule: 0 is out of range"},
      {"conv2d_capsule:h=4,w=4,ci=4,co=8,kernel=3,groups=2", "has no parameter 'groups'"},
      {"conv2d_capsule:h=4,w=4,ci=4,co=8,kernel=3,dtype=bool", "dtype bool is not supported"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
