#include "lower/transpose_copies.h"

#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;

class TransposeCopies : public testing::Test {
 protected:
  // to[ramp] = from[ramp], 16 lanes.
  ir::Stmt copy(Expr to, int64_t to_lane, Expr from, int64_t from_lane) const {
    return ir::make_store(b, {ir::ramp(std::move(to), to_lane, 16)},
                          kernel.load(a, {ir::ramp(std::move(from), from_lane, 16)}));
  }
  std::string after(ir::Stmt body, int vector_bits = 512) {
    kernel.function.body = std::move(body);
    return kernel.after(transpose_copies, {}, vector_bits);
  }
  bool left_alone(ir::Stmt body) {
    kernel.function.body = std::move(body);
    return kernel.unchanged_by(transpose_copies);
  }

  Kernel kernel;
  const ir::BufferId a = kernel.argument("A", {1 << 16}), b = kernel.argument("B", {1 << 16});
  const Expr i = ir::var("i"), j = ir::var("j");
};

TEST_F(TransposeCopies, Scatters) {
  EXPECT_EQ(after(loop(j, 3, loop(i, 32, copy(j * 32 + i, 64, i * 100 + 7, 1)))),
            "for j < 3:\n"
            "  for i < 2:\n"
            "    transpose 16 x 16: B[j * 32 + i * 16] by 64 = A[i * 1600 + 7] by 100\n");
}

TEST_F(TransposeCopies, Gathers) {
  EXPECT_EQ(after(loop(i, 16, copy(i * 64, 1, i, 100))),
            "transpose 16 x 16: B[0] by 64 = A[0] by 100\n");
}

TEST_F(TransposeCopies, SeveralInOneLoop) {
  const ir::Stmt both =
      ir::make_block({copy(i, 64, i * 100, 1), copy(i + 1024, 64, i * 100 + 16, 1)});
  EXPECT_EQ(after(loop(i, 32, both)),
            "for i < 2:\n"
            "  transpose 16 x 16: B[i * 16] by 64 = A[i * 1600] by 100\n"
            "  transpose 16 x 16: B[i * 16 + 1024] by 64 = A[i * 1600 + 16] by 100\n");
}

TEST_F(TransposeCopies, NotIfExtentOrLanesMismatch) {
  EXPECT_TRUE(left_alone(loop(i, 24, copy(i, 64, i * 100, 1))));
  EXPECT_TRUE(left_alone(loop(i, 16, copy(i, 64, i * 100, 1), ir::ForKind::Parallel)));
  const ir::Stmt wide = loop(i, 16, copy(i, 64, i * 100, 1));
  after(wide, 256);  // vectors have 8 lanes there
  EXPECT_TRUE(kernel.function.body.same_as(wide));
}

TEST_F(TransposeCopies, NotIfStridesMismatch) {
  EXPECT_TRUE(left_alone(loop(i, 16, copy(i * 64, 1, i * 100, 1))));    // no scatter
  EXPECT_TRUE(left_alone(loop(i, 16, copy(i * 2, 64, i * 100, 1))));    // every second column
  EXPECT_TRUE(left_alone(loop(i, 16, copy(i, 64, i * 100, 2))));        // contiguous nowhere
  EXPECT_TRUE(left_alone(loop(i, 16, copy(i, 8, i * 100, 1))));         // elements written twice
  EXPECT_TRUE(left_alone(loop(i, 16, copy(i, 64, (i / 2) * 100, 1))));  // not affine
}

TEST_F(TransposeCopies, NotIfOrderOrOtherValuesMatter) {
  const ir::Stmt overlapping =
      ir::make_block({copy(i, 64, i * 100, 1), copy(i + 8, 64, i * 100 + 16, 1)});
  EXPECT_TRUE(left_alone(loop(i, 16, overlapping)));
  const Expr at_b = ir::ramp(i, 64, 16), at_a = ir::ramp(i * 100, 1, 16);
  EXPECT_TRUE(
      left_alone(loop(i, 16, ir::make_store(a, {at_b}, kernel.load(a, {at_a})))));  // in place
  EXPECT_TRUE(left_alone(
      loop(i, 16, ir::make_store(b, {at_b}, kernel.load(a, {at_a}) + kernel.load(a, {at_a})))));
  const Expr mask = ir::binary(ir::BinaryOp::Lt, at_b, ir::broadcast(j, 16));
  EXPECT_TRUE(
      left_alone(loop(j, 3, loop(i, 16, ir::make_store(b, {at_b}, kernel.load(a, {at_a}), mask)))));
}

}  // namespace
}  // namespace tilewright::lower
