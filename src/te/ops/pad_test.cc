#include "te/ops/pad.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

using ::testing::ElementsAre;

// The position from which element q of a dimension is read, found step by step; -1: none.
int64_t walk(const std::string& mode, int64_t q, int64_t extent) {
  if (mode == "constant") return q >= 0 && q < extent ? q : -1;
  if (mode == "edge") return std::clamp<int64_t>(q, 0, extent - 1);
  int64_t at = 0, step = 1;
  for (int64_t k = 0; k < std::abs(q); ++k) {
    if (mode == "wrap") {
      at = q > 0 ? (at + 1) % extent : (at + extent - 1) % extent;
    } else if (extent > 1) {
      if (at + step == extent || at + step < 0) step = -step;
      at += step;
    }
  }
  return at;
}

TEST(Pad, EqualsItsDefinition) {
  struct Case {
    std::vector<int64_t> shape, before, after;
  };
  const Case cases[] = {{{4, 5}, {1, 0}, {2, 3}},
                        {{3, 2}, {7, 4}, {5, 9}},
                        {{1, 3}, {2, 2}, {1, 0}},
                        {{2, 3}, {0, 0}, {0, 0}}};
  for (const Case& c : cases) {
    for (const std::string mode : {"constant", "edge", "reflect", "wrap"}) {
      const Evaluated op(fmt::format("pad:shape={}x{},before={}x{},after={}x{},mode={},value=9",
                                     c.shape[0], c.shape[1], c.before[0], c.before[1], c.after[0],
                                     c.after[1], mode));
      ASSERT_THAT(op.shape, ElementsAre(c.shape[0] + c.before[0] + c.after[0],
                                        c.shape[1] + c.before[1] + c.after[1]));
      for_each_index(op.shape, [&](const std::vector<int64_t>& at, size_t offset) {
        const int64_t i = walk(mode, at[0] - c.before[0], c.shape[0]);
        const int64_t j = walk(mode, at[1] - c.before[1], c.shape[1]);
        ASSERT_EQ(op.output[offset], i < 0 || j < 0 ? 9 : op.in("X", i * c.shape[1] + j))
            << mode << " at " << offset;
      });
    }
  }
}

TEST(Pad, ScalarPadsApplyToAllAxesAndTypesAreKept) {
  for (const char* dtype : {"f16", "bf16", "i8", "i64", "f64"}) {
    const Evaluated op(fmt::format("pad:shape=2x2x2,before=1,value=-3,dtype={}", dtype));
    ASSERT_THAT(op.shape, ElementsAre(3, 3, 3));
    EXPECT_EQ(op.output[0], -3);
    EXPECT_EQ(op.output[26], op.in("X", 7));
    EXPECT_EQ(ir::name_of(op.dag->tensor(1).element), dtype);
  }
}

TEST(Pad, Mistakes) {
  const Mistake mistakes[] = {
      {"pad:shape=4,mode=mirror", "mode has the unknown value 'mirror' (values: constant, edge"},
      {"pad:shape=4x4,before=1x2x3", "before has 3 numbers for 2 dimensions"},
      {"pad:shape=4x4,after=1x2x3", "after has 3 numbers for 2 dimensions"},
      {"pad:shape=4,before=-1", "-1 is out of range; legal are 0 to"},
      {"pad:shape=4,value=0.5,dtype=i8", "0.5 is not a value of i8"},
      {"pad:shape=4,value=300,dtype=u8", "300 is not a value of u8"},
      {"pad:shape=1x1x1x1x1x1x1x1x1x1x1", "a shape of 11 dimensions"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
