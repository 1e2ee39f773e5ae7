#include "te/ops/slice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

TEST(Slice, ReadsEveryStepthElement) {
  struct Case {
    const char* text;
    std::vector<int64_t> begin, size, step;
  };
  const Case cases[] = {{"begin=0x8,size=4x9,step=2x-1", {0, 8}, {4, 9}, {2, -1}},
                        {"begin=2,size=3x3", {2, 2}, {3, 3}, {1, 1}},
                        {"begin=7x0,size=3x3,step=-3x4", {7, 0}, {3, 3}, {-3, 4}},
                        {"begin=7x8,size=1,step=100", {7, 8}, {1, 1}, {100, 100}}};
  for (const Case& c : cases) {
    for (const char* dtype : {"f32", "f16", "i8", "bool"}) {
      const Evaluated op(fmt::format("slice:shape=8x9,{},dtype={}", c.text, dtype), 0, 1);
      ASSERT_EQ(op.shape, c.size);
      for_each_index(c.size, [&](const std::vector<int64_t>& y, size_t offset) {
        const int64_t i = c.begin[0] + y[0] * c.step[0], j = c.begin[1] + y[1] * c.step[1];
        ASSERT_EQ(op.output[offset], op.in("X", i * 9 + j)) << c.text;
      });
    }
  }
}

TEST(Slice, Mistakes) {
  const Mistake mistakes[] = {
      {"slice:shape=4x4,begin=2,size=3x1", "dimension 0 reads elements 2 to 4; there are 0 to 3"},
      {"slice:shape=4,begin=2,size=4,step=-1", "reads elements 2 to -1"},
      {"slice:shape=4,begin=4,size=1", "reads elements 4 to 4"},
      {"slice:shape=4,size=4,step=0", "the step of dimension 0 is 0"},
      {"slice:shape=4x4,size=2x2x2", "size has 3 numbers for 2 dimensions"},
      {"slice:shape=4", "slice needs parameter size"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
