#include "lower/flatten.h"

#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;

TEST(Flatten, RowMajorAndAffine) {
  Kernel kernel;
  const auto a = kernel.argument("A", {14, 256}), c = kernel.argument("C", {2, 7, 256});
  const Expr i0 = ir::var("i.0"), i1 = ir::var("i.1"), k = ir::var("k");
  kernel.function.body = loop(
      i0, 7,
      loop(i1, 2, loop(k, 256, ir::make_store(c, {i1, i0, k}, kernel.load(a, {i0 * 2 + i1, k})))));
  EXPECT_EQ(kernel.after(flatten),
            "for i.0 < 7:\n"
            "  for i.1 < 2:\n"
            "    for k < 256:\n"
            "      C[i.0 * 256 + i.1 * 1792 + k] = A[i.0 * 512 + i.1 * 256 + k]\n");
  EXPECT_EQ(kernel.function.buffers[a].shape, std::vector<int64_t>{14 * 256});
  EXPECT_TRUE(kernel.unchanged_by(flatten));
}

TEST(Flatten, FusedLoopsBecomeOneIndex) {
  Kernel kernel;
  const auto a = kernel.argument("A", {6, 14}), c = kernel.argument("C", {});
  const Expr f = ir::var("f");
  kernel.function.body = loop(f, 84, ir::make_store(c, {}, kernel.load(a, {f / 14, f % 14})));
  EXPECT_EQ(kernel.after(flatten),
            "for f < 84:\n"
            "  C[0] = A[f]\n");
}

TEST(Flatten, IndicesThatLoad) {
  Kernel kernel;
  const auto a = kernel.argument("A", {10, 4}), c = kernel.argument("C", {4});
  const auto rows = kernel.argument("rows", {2, 2}, ir::kIndex);
  const Expr i = ir::var("i");
  kernel.function.body =
      loop(i, 2, ir::make_store(c, {i}, kernel.load(a, {kernel.load(rows, {i, i}), i})));
  EXPECT_EQ(kernel.after(flatten),
            "for i < 2:\n"
            "  C[i] = A[i + rows[i * 3] * 4]\n");
}

}  // namespace
}  // namespace tilewright::lower
