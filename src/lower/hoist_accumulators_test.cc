#include "lower/hoist_accumulators.h"

#include "lower/lane_mask.h"
#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::ForKind;

class HoistAccumulators : public testing::Test {
 protected:
  std::string after(ir::Stmt body) {
    kernel.function.body = std::move(body);
    return kernel.after(hoist_accumulators);
  }
  ir::Stmt update(const Expr& index, const Expr& with) {
    return ir::make_store(c, {index}, kernel.load(c, {index}) + kernel.load(a, {with}));
  }

  Kernel kernel;
  const ir::BufferId a = kernel.argument("A", {4096}), c = kernel.argument("C", {4096});
  const Expr i = ir::var("i"), j = ir::var("j"), k = ir::var("k");
};

TEST_F(HoistAccumulators, OutOfAllReductionLoopsAtOnce) {
  const Expr index = ir::ramp(i * 16, 1, 16);
  EXPECT_EQ(after(loop(i, 4, loop(j, 3, loop(k, 8, update(index, ir::ramp(j * 8 + k, 1, 16)))))),
            "for i < 4:\n"
            "  allocate C.0\n"
            "  C.0[0] = C[ramp(i * 16, 1, 16)]\n"
            "  for j < 3:\n"
            "    for k < 8:\n"
            "      C.0[0] = C.0[0] + A[ramp(j * 8 + k, 1, 16)]\n"
            "  C[ramp(i * 16, 1, 16)] = C.0[0]\n");
  EXPECT_EQ(ir::to_string(kernel.function.buffers.back().element), "f32x16");
}

TEST_F(HoistAccumulators, DisjointElementsOfOneBuffer) {
  EXPECT_EQ(
      after(loop(
          i, 4,
          loop(k, 8,
               ir::make_block({update(i * 2, k), update(i * 2 + 1, k), update(i * 2, k + 1)})))),
      "for i < 4:\n"
      "  allocate C.0\n"
      "  allocate C.1\n"
      "  C.0[0] = C[i * 2]\n"
      "  C.1[0] = C[i * 2 + 1]\n"
      "  for k < 8:\n"
      "    C.0[0] = C.0[0] + A[k]\n"
      "    C.1[0] = C.1[0] + A[k]\n"
      "    C.0[0] = C.0[0] + A[k + 1]\n"
      "  C[i * 2] = C.0[0]\n"
      "  C[i * 2 + 1] = C.1[0]\n");
}

// Rows of 19 elements: 16 and 3 lanes of 4. The lane behind the third is the next row.
TEST_F(HoistAccumulators, MasksAreHoisted) {
  const auto masked = [&](const Expr& mask, int64_t start) {
    const Expr index = ir::ramp(ir::int_imm(start), 1, 4);
    const Expr zero = ir::imm(0, ir::kF32.with_lanes(4));
    const Expr old = ir::select(mask, kernel.load(c, {index}), zero);
    return ir::make_store(c, {index}, old + kernel.load(a, {ir::ramp(k, 1, 4)}), mask);
  };
  const auto first = [](unsigned active) { return prefix_mask(active, 4); };
  EXPECT_EQ(after(loop(k, 8, ir::make_block({masked(first(3), 16), masked(first(3), 19)}))),
            "allocate C.0\n"
            "allocate C.1\n"
            "C.0[0] = select(ramp(0, 1, 4) < x4(3), C[ramp(16, 1, 4)], x4(0.0))\n"
            "C.1[0] = select(ramp(0, 1, 4) < x4(3), C[ramp(19, 1, 4)], x4(0.0))\n"
            "for k < 8:\n"
            "  C.0[0] = C.0[0] + A[ramp(k, 1, 4)]\n"
            "  C.1[0] = C.1[0] + A[ramp(k, 1, 4)]\n"
            "C[ramp(16, 1, 4)] = C.0[0] where ramp(0, 1, 4) < x4(3)\n"
            "C[ramp(19, 1, 4)] = C.1[0] where ramp(0, 1, 4) < x4(3)\n");
  // Not with two masks, nor if active lanes overlap.
  for (const ir::Stmt& other : {masked(first(2), 16), masked(first(3), 18)}) {
    kernel.function.body = loop(k, 8, ir::make_block({masked(first(3), 16), other}));
    EXPECT_TRUE(kernel.unchanged_by(hoist_accumulators));
  }
}

TEST_F(HoistAccumulators, NoLoadIfStoredFirst) {
  const ir::Stmt first = ir::make_store(c, {ir::int_imm(5)}, kernel.load(a, {k}));
  EXPECT_EQ(after(loop(k, 8, ir::make_block({first, update(ir::int_imm(5), k)}))),
            "allocate C.0\n"
            "for k < 8:\n"
            "  C.0[0] = A[k]\n"
            "  C.0[0] = C.0[0] + A[k]\n"
            "C[5] = C.0[0]\n");
}

TEST_F(HoistAccumulators, LeavesUnsafeLoops) {
  const Expr zero = ir::int_imm(0);
  const ir::BufferId t = kernel.local("t", {16});
  const ir::Stmt local =
      ir::make_block({ir::make_store(t, {zero}, kernel.load(a, {k})),
                      loop(j, 2, ir::make_store(c, {j}, kernel.load(t, {zero})))});
  std::vector<ir::Stmt> many;
  for (int64_t n = 0; n < 33; ++n) many.push_back(update(ir::int_imm(n), k));
  const ir::Stmt cases[] = {
      loop(k, 8, update(k, k)),                                     // moves with the loop
      loop(k, 8, ir::make_block({update(zero, k), update(k, k)})),  // may meet
      loop(k, 8,
           ir::make_block({update(ir::ramp(zero, 1, 4), ir::ramp(k, 1, 4)),
                           update(ir::int_imm(3), k)})),              // overlap
      loop(k, 8, ir::make_if(k < 3, update(zero, k))),                // sometimes
      loop(k, 8, ir::make_for(j, k, ForKind::Serial, update(k, j))),  // perhaps never
      loop(k, 8, update(zero, k), ForKind::Parallel),
      loop(k, 1, update(zero, k)),
      loop(k, 8, ir::make_allocate(t, local)),  // gone outside
      loop(k, 8, ir::make_block(many)),
  };
  for (const ir::Stmt& body : cases) {
    kernel.function.body = body;
    EXPECT_TRUE(kernel.unchanged_by(hoist_accumulators)) << kernel.text();
  }
}

}  // namespace
}  // namespace tilewright::lower
