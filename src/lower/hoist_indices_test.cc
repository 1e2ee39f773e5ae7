#include "lower/hoist_indices.h"

#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;

class HoistIndices : public testing::Test {
 protected:
  std::string after(ir::Stmt body) {
    kernel.function.body = std::move(body);
    return kernel.after(hoist_indices);
  }
  Expr at(ir::BufferId buffer, Expr index) const { return kernel.load(buffer, {std::move(index)}); }

  Kernel kernel;
  const ir::BufferId a = kernel.argument("A", {1 << 16}), b = kernel.argument("B", {1 << 16});
  const ir::BufferId c = kernel.argument("C", {1 << 16});
  const Expr i = ir::var("i"), j = ir::var("j"), k = ir::var("k");
};

TEST_F(HoistIndices, BaseAndStepAndConstant) {
  const Expr step = ir::ramp(k * 32 + 16, 1, 16);
  const ir::Stmt body = ir::make_block(
      {ir::make_store(c, {ir::ramp(i * 3584, 1, 16)}, at(b, step)),
       ir::make_store(c, {i * 3584 + 5}, at(a, i * 3584 + k + 775) * at(a, i * 3584 + k + 7))});
  EXPECT_EQ(after(loop(i, 4, loop(k, 256, body))),
            "for i < 4:\n"
            "  let i.p = i * 3584\n"
            "  for k < 256:\n"
            "    let k.p = k * 32\n"
            "    C[ramp(i.p, 1, 16)] = B[ramp(k.p + 16, 1, 16)]\n"
            "    C[i.p + 5] = A[i.p + k + 775] * A[i.p + k + 7]\n");
}

TEST_F(HoistIndices, LevelByLevel) {
  const ir::Stmt body = ir::make_store(c, {i * 100 + j}, at(a, i * 1000 + j * 100 + k * 10 + 3));
  EXPECT_EQ(after(loop(i, 4, loop(j, 4, loop(k, 4, body)))),
            "for i < 4:\n"
            "  let i.p = i * 100\n"
            "  let i.p1 = i * 1000\n"
            "  for j < 4:\n"
            "    let j.p = i.p + j\n"
            "    let j.p1 = i.p1 + j * 100\n"
            "    for k < 4:\n"
            "      let k.p = k * 10\n"
            "      C[j.p] = A[j.p1 + k.p + 3]\n");
}

TEST_F(HoistIndices, QuotientsAtTheLoopOfTheirVariables) {
  const ir::Stmt body = ir::make_store(c, {k}, at(a, (i / 14) * 64 + i % 14 + k));
  EXPECT_EQ(after(loop(i, 28, loop(k, 4, body))),
            "for i < 28:\n"
            "  let i.p = i / 14 * 64 + i % 14\n"
            "  for k < 4:\n"
            "    C[k] = A[i.p + k]\n");
}

TEST_F(HoistIndices, DoesNotCrossLetsAndLoads) {
  const auto rows = kernel.argument("rows", {16}, ir::kIndex);
  const Expr row = ir::var("row");
  const ir::Stmt use = ir::make_store(c, {row * 8 + k}, at(a, at(rows, k * 2) * 8 + k));
  EXPECT_EQ(after(loop(i, 4, ir::make_let(row, at(rows, i * 4), loop(k, 4, use)))),
            "for i < 4:\n"
            "  let i.p = i * 4\n"
            "  let row = rows[i.p]\n"
            "  let row.p = row * 8\n"
            "  for k < 4:\n"
            "    C[row.p + k] = A[rows[k * 2] * 8 + k]\n");
}

}  // namespace
}  // namespace tilewright::lower
