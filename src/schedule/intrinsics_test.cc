#include "schedule/intrinsics.h"

#include <gtest/gtest.h>

namespace tilewright::schedule {
namespace {

TEST(Intrinsics, RowsAreFoundByName) {
  const IntrinsicTable rows = all_intrinsics();
  for (size_t k = 0; k < rows.size(); ++k) EXPECT_EQ(find_intrinsic(rows[k].name), &rows[k]);
  EXPECT_EQ(find_intrinsic(Name("vnni_dot")), nullptr);
  EXPECT_EQ(find_intrinsic(Name("vnni_dot_u8i8"), rows.subspan(1)), nullptr);
}

// Rows before lanes, factors last; a spatial axis moves one operand and the result.
TEST(Intrinsics, AxesAreRowsLanesAndFactors) {
  const TensorIntrinsic tile{
      Name("tile"),
      Capability::DotU8I8Lanes16,
      dot_products(2, 16, 4, ir::Scalar::U8, ir::Scalar::I8, ir::Scalar::I32),
      {{0, Name("r")}, {TensorIntrinsic::kResult, Name("r")}}};
  std::vector<TensorIntrinsic> table(all_intrinsics().begin(), all_intrinsics().end());
  table.push_back(tile);
  for (const TensorIntrinsic& row : table) {
    bool lanes = false;
    int64_t elements = 1;
    for (size_t axis = 0; axis < row.axes(); ++axis) {
      const bool first = row.step(0, axis) != 0, second = row.step(1, axis) != 0;
      EXPECT_EQ(first && second, row.reduces(axis)) << row.name.text();
      EXPECT_EQ(row.step(TensorIntrinsic::kResult, axis) == 0, row.reduces(axis));
      EXPECT_FALSE(lanes && first && !row.reduces(axis)) << row.name.text();
      lanes |= second;
      elements *= row.extent(axis);
    }
    EXPECT_EQ(row.rows() * row.lanes() * row.factors(), elements) << row.name.text();
  }
  EXPECT_EQ(tile.rows(), 2);
  EXPECT_EQ(tile.lanes(), 16);
  EXPECT_EQ(tile.factors(), 4);
  EXPECT_TRUE(tile.is_strided(0, 0));
  EXPECT_FALSE(tile.is_strided(0, 2));
  EXPECT_EQ(tile.to_string(),
            "acc[r, l] = sum over f of i32(a[r, f]) * i32(b[l, f]); r < 2, l < 16, f < 4; a of u8, "
            "b of i8");
}

// Both operands move along an axis, and only one of them at any distance.
TEST(Intrinsics, StridesArePerOperand) {
  const TensorIntrinsic tile{
      Name("tile"),
      Capability::DotU8I8Lanes16,
      dot_products(2, 16, 4, ir::Scalar::U8, ir::Scalar::I8, ir::Scalar::I32),
      {{0, Name("r")}, {1, Name("f")}}};
  const size_t result = TensorIntrinsic::kResult;
  EXPECT_TRUE(tile.fits(0, 0, 4));
  EXPECT_TRUE(tile.fits(0, 0, 40));
  EXPECT_FALSE(tile.fits(0, 0, 0));
  EXPECT_TRUE(tile.fits(result, 0, 16));
  EXPECT_FALSE(tile.fits(result, 0, 40));
  EXPECT_TRUE(tile.fits(0, 2, 1));
  EXPECT_FALSE(tile.fits(0, 2, 2));
  EXPECT_TRUE(tile.fits(1, 2, 2));
  EXPECT_TRUE(tile.fits(0, 1, 0));
  EXPECT_FALSE(tile.fits(0, 1, 4));
}

TEST(Intrinsics, DagsMatchTheirNames) {
  EXPECT_EQ(find_intrinsic(Name("vnni_dot_u8i8"))->to_string(),
            "acc[l] = sum over f of i32(a[f]) * i32(b[l, f]); l < 16, f < 4; a of u8, b of i8");
  EXPECT_EQ(find_intrinsic(Name("avx512_bf16_dot"))->to_string(),
            "acc[l] = sum over f of f32(a[f]) * f32(b[l, f]); l < 16, f < 2; a of bf16, b of bf16");
}

TEST(Intrinsics, OperandsAreRowMajor) {
  for (const TensorIntrinsic& row : all_intrinsics()) {
    EXPECT_EQ(row.step(0, 0), 0);
    EXPECT_EQ(row.step(0, 1), 1);
    EXPECT_EQ(row.step(1, 0), row.factors());
    EXPECT_EQ(row.step(1, 1), 1);
    EXPECT_EQ(row.step(TensorIntrinsic::kResult, 0), 1);
  }
}

TEST(Intrinsics, FactorsInEitherOrder) {
  const auto load = [](ir::Scalar type, ir::BufferId id) {
    return ir::load(type, id, {ir::int_imm(0)});
  };
  const auto product = [&](ir::Scalar sum, const ir::Expr& x, const ir::Expr& y) {
    return ir::cast(sum, x) * ir::cast(sum, y);
  };
  using enum ir::Scalar;
  const TensorIntrinsic& vnni = *find_intrinsic(Name("vnni_dot_u8i8"));
  const ir::Expr unsigned_byte = load(U8, 7), signed_byte = load(I8, 9);
  for (const ir::Expr& value :
       {product(I32, unsigned_byte, signed_byte), product(I32, signed_byte, unsigned_byte)}) {
    const auto ways = match_operands(vnni, value);
    ASSERT_EQ(ways.size(), 1u);
    EXPECT_EQ(ways[0][0]->buffer, 7u);
    EXPECT_EQ(ways[0][1]->buffer, 9u);
  }
  const TensorIntrinsic& bf16 = *find_intrinsic(Name("avx512_bf16_dot"));
  const ir::Expr floats = product(F32, load(BF16, 1), load(BF16, 2));
  const auto both = match_operands(bf16, floats);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0][0]->buffer, 1u);
  EXPECT_EQ(both[1][0]->buffer, 2u);

  EXPECT_TRUE(match_operands(vnni, product(I32, unsigned_byte, unsigned_byte)).empty());
  EXPECT_TRUE(match_operands(vnni, product(I64, unsigned_byte, signed_byte)).empty());
  EXPECT_TRUE(
      match_operands(vnni, ir::cast(I32, unsigned_byte) + ir::cast(I32, signed_byte)).empty());
  EXPECT_TRUE(match_operands(vnni, product(I32, unsigned_byte, ir::int_imm(3, {I8, 1}))).empty());
  EXPECT_TRUE(match_operands(bf16, load(F32, 1) * load(F32, 2)).empty());
}

}  // namespace
}  // namespace tilewright::schedule
