#include "lower/widen_reductions.h"

#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;

class WidenReductions : public testing::Test {
 protected:
  std::string after(ir::Stmt body, FloatPermissions permissions = {}) {
    kernel.function.body = std::move(body);
    return kernel.after(widen_reductions, permissions);
  }
  // S[index] = S[index] op reduce(op, value)
  ir::Stmt fold(BinaryOp op, const Expr& index, const Expr& value) const {
    return ir::make_store(s, {index},
                          ir::binary(op, kernel.load(s, {index}), ir::vector_reduce(op, value)));
  }
  Expr row(const Expr& base) const { return kernel.load(a, {ir::ramp(base, 1, 16)}); }

  Kernel kernel;
  const ir::BufferId a = kernel.argument("A", {4096}), s = kernel.argument("S", {64});
  const Expr i = ir::var("i"), k = ir::var("k");
};

TEST_F(WidenReductions, OneReductionAfterTheLoop) {
  EXPECT_EQ(after(loop(i, 4,
                       loop(k, 8,
                            ir::make_block({fold(BinaryOp::Max, i, row(k * 32)),
                                            fold(BinaryOp::Max, i, row(k * 32 + 16))})))),
            "for i < 4:\n"
            "  allocate S.v0\n"
            "  allocate S.v1\n"
            "  S.v0[0] = x16(-inf)\n"
            "  S.v1[0] = x16(-inf)\n"
            "  for k < 8:\n"
            "    S.v0[0] = max(S.v0[0], A[ramp(k * 32, 1, 16)])\n"
            "    S.v1[0] = max(S.v1[0], A[ramp(k * 32 + 16, 1, 16)])\n"
            "  S[i] = max(S[i], reduce(max, max(S.v0[0], S.v1[0])))\n");
}

TEST_F(WidenReductions, ProductsAreContracted) {
  EXPECT_EQ(after(loop(k, 8, fold(BinaryOp::Add, ir::int_imm(0), row(k) * row(k + 1)))),
            "allocate S.v0\n"
            "S.v0[0] = x16(0.0)\n"
            "for k < 8:\n"
            "  S.v0[0] = fma(A[ramp(k, 1, 16)], A[ramp(k + 1, 1, 16)], S.v0[0])\n"
            "S[0] = S[0] + reduce(+, S.v0[0])\n");
}

TEST_F(WidenReductions, NeighborsReduceTheirLanesOnce) {
  EXPECT_EQ(after(loop(i, 4,
                       ir::make_block({fold(BinaryOp::Max, i, row(i * 48)),
                                       fold(BinaryOp::Max, i, row(i * 48 + 16)),
                                       fold(BinaryOp::Max, i, row(i * 48 + 32))}))),
            "for i < 4:\n"
            "  S[i] = max(S[i], reduce(max, max(max(A[ramp(i * 48, 1, 16)], "
            "A[ramp(i * 48 + 32, 1, 16)]), A[ramp(i * 48 + 16, 1, 16)])))\n");
  const Expr zero = ir::int_imm(0), one = ir::int_imm(1);
  EXPECT_EQ(after(ir::make_block({fold(BinaryOp::Add, zero, row(zero) * row(one)),
                                  fold(BinaryOp::Add, zero, row(one) * row(one))})),
            "S[0] = S[0] + reduce(+, fma(A[ramp(1, 1, 16)], A[ramp(1, 1, 16)], "
            "A[ramp(0, 1, 16)] * A[ramp(1, 1, 16)]))\n");
}

TEST_F(WidenReductions, LeavesNeighborsThatDiffer) {
  const Expr zero = ir::int_imm(0), one = ir::int_imm(1);
  const ir::Stmt sum = fold(BinaryOp::Add, zero, row(zero));
  const ir::Stmt cases[] = {
      ir::make_block({sum, fold(BinaryOp::Add, one, row(zero))}),
      ir::make_block({sum, fold(BinaryOp::Max, zero, row(zero))}),
      ir::make_block({sum, fold(BinaryOp::Add, zero, kernel.load(a, {ir::ramp(zero, 1, 8)}))}),
      ir::make_block({sum, fold(BinaryOp::Add, zero, kernel.load(s, {ir::ramp(zero, 1, 16)}))}),
  };
  for (const ir::Stmt& body : cases) {
    kernel.function.body = body;
    EXPECT_TRUE(kernel.unchanged_by(widen_reductions)) << kernel.text();
  }
  kernel.function.body = ir::make_block({sum, sum});
  EXPECT_TRUE(kernel.unchanged_by(widen_reductions, {.reassociate = false}));
}

TEST_F(WidenReductions, LeavesUnsafeReductions) {
  const Expr zero = ir::int_imm(0);
  const ir::Stmt sum = fold(BinaryOp::Add, zero, row(k * 16));
  const ir::Stmt read = ir::make_store(a, {k}, kernel.load(s, {zero}));
  const ir::Stmt cases[] = {
      loop(k, 8, fold(BinaryOp::Add, k, row(k * 16))),
      loop(k, 8, ir::make_block({sum, read})),
      loop(k, 8, ir::make_block({sum, fold(BinaryOp::Max, zero, row(k * 16))})),
      loop(k, 8, ir::make_block({ir::make_store(s, {zero}, ir::imm(0, ir::kF32)), sum})),
      loop(k, 8, sum, ir::ForKind::Parallel),
      loop(k, 8, ir::make_if(k < 3, sum)),  // the element may not exist
  };
  for (const ir::Stmt& body : cases) {
    kernel.function.body = body;
    EXPECT_TRUE(kernel.unchanged_by(widen_reductions)) << kernel.text();
  }
  kernel.function.body = loop(k, 8, sum);
  EXPECT_TRUE(kernel.unchanged_by(widen_reductions, {.reassociate = false}));
}

}  // namespace
}  // namespace tilewright::lower
