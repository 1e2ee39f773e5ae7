#include "deploy/pack_constants.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "deploy/plans_testing.h"

namespace tilewright::deploy {
namespace {

using graph::Constant;
using layout::Layout;

TEST(ConstantPacker, WritesEachConstantAtItsOffset) {
  const Constant a = random_constant({6, 70}, 1);
  const Constant b = random_constant({5}, 2);
  const std::vector<int64_t> shape = {6, 70};
  const Layout rows = Layout::row_major(shape);
  const Layout blocked = Layout::blocked(shape, 1, 32);
  ConstantPacker packer;
  const int64_t at_rows = packer.place(a, 0, shape, rows);
  const int64_t at_blocked = packer.place(a, 0, shape, blocked);
  const int64_t at_b = packer.place(b, 0, {5}, Layout::row_major(std::vector<int64_t>{5}));
  EXPECT_EQ(packer.place(a, 0, shape, rows), at_rows);
  EXPECT_EQ(packer.place(a, 0, shape, blocked), at_blocked);
  // Two rows of it, from the third on.
  const std::vector<int64_t> two = {2, 70};
  const int64_t at_part = packer.place(a, 2 * 70 * 4, two, Layout::row_major(two));

  for (const int jobs : {1, 3}) {
    const runtime::AlignedBuffer packed = packer.pack(jobs);
    const auto* bytes = packed.as<const std::byte>();
    EXPECT_EQ(std::memcmp(bytes + at_rows, a.bytes().data(), a.bytes().size()), 0);
    EXPECT_EQ(std::memcmp(bytes + at_b, b.bytes().data(), b.bytes().size()), 0);
    EXPECT_EQ(std::memcmp(bytes + at_part, a.bytes().data() + 560, 560), 0);
    const std::vector<float> numbers = floats(a);
    for (int64_t k = 0; k < 6; ++k) {
      for (int64_t n = 0; n < 70; ++n) {
        float found = 0;
        const int64_t offset = blocked.offset(std::vector<int64_t>{k, n});
        std::memcpy(&found, bytes + at_blocked + offset * 4, sizeof(found));
        ASSERT_EQ(found, numbers[static_cast<size_t>(k * 70 + n)]);
      }
    }
    for (const int64_t at : {at_rows, at_blocked, at_b, at_part}) EXPECT_EQ(at % 64, 0);
    EXPECT_EQ(packed.size() % 64, 0);
  }
}

TEST(ConstantPacker, NoConstantsNoBytes) { EXPECT_EQ(ConstantPacker().pack(2).size(), 0); }

TEST(IsFinite, OfEveryFloat) {
  EXPECT_TRUE(is_finite(random_constant({100}, 1)));
  const double infinity = std::numeric_limits<double>::infinity();
  for (const ir::Scalar element :
       {ir::Scalar::F16, ir::Scalar::BF16, ir::Scalar::F32, ir::Scalar::F64}) {
    EXPECT_TRUE(is_finite(Constant::of_number(-1.5, element)));
    EXPECT_FALSE(is_finite(Constant::of_number(infinity, element)));
    EXPECT_FALSE(is_finite(Constant::of_number(-infinity, element)));
    EXPECT_FALSE(is_finite(Constant::of_number(infinity - infinity, element)));
  }
  EXPECT_TRUE(is_finite(Constant::of_number(-1, ir::Scalar::I64)));
}

}  // namespace
}  // namespace tilewright::deploy
