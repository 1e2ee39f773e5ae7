#include "lower/loop_cut.h"

#include <gtest/gtest.h>

#include "ir/print.h"
#include "ir/visit.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;

// Tries every value of the variable and of the rest, and compares the condition with the cut.
TEST(LoopCut, IsWhereTheConditionChanges) {
  const Expr x = ir::var("x"), r = ir::var("r");
  const ir::VarId x_id = x.as<ir::Var>()->id, r_id = r.as<ir::Var>()->id;
  constexpr int64_t kExtent = 9, kRest = 4;
  const arith::Bounds bounds = {{x_id, {0, kExtent - 1}}, {r_id, {0, kRest - 1}}};
  int cuts = 0;
  for (const BinaryOp op : {BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge}) {
    for (int64_t factor = -3; factor <= 3; ++factor) {
      for (int64_t other = -1; other <= 2; ++other) {
        for (int64_t limit = -9; limit <= 26; limit += 5) {
          const Expr condition = ir::binary(op, x * factor + r * other, ir::int_imm(limit));
          const auto cut = cut_of(condition, x_id, kExtent, bounds);
          cuts += cut.has_value();
          for (int64_t at = 0; at < kExtent; ++at) {
            int holds = 0;
            for (int64_t rest = 0; rest < kRest; ++rest) {
              const Expr known =
                  ir::substitute(condition, {{x_id, ir::int_imm(at)}, {r_id, ir::int_imm(rest)}});
              holds += *ir::as_int(known) != 0;
            }
            const bool undecided = holds > 0 && holds < kRest;
            if (factor == 0) continue;
            const bool inside = cut && at >= cut->begin && at < cut->end;
            EXPECT_EQ(inside, undecided) << ir::to_string(condition) << " at " << at;
          }
        }
      }
    }
  }
  EXPECT_GT(cuts, 100);
}

TEST(LoopCut, OfAffineComparisonsOnly) {
  const Expr x = ir::var("x"), y = ir::var("y");
  const ir::VarId id = x.as<ir::Var>()->id;
  const arith::Bounds bounds = {{id, {0, 8}}};
  EXPECT_TRUE(cut_of(x < 5, id, 9, bounds));
  EXPECT_TRUE(cut_of(x + 1 < 9, id, 9, bounds));
  EXPECT_FALSE(cut_of(x < 9, id, 9, bounds));  // holds throughout
  EXPECT_FALSE(cut_of(x < y, id, 9, bounds));  // y may be anything
  EXPECT_FALSE(cut_of(y < 5, id, 9, bounds));  // not of x
  EXPECT_FALSE(cut_of(x % 4 + x < 5, id, 9, bounds));
  EXPECT_FALSE(cut_of(ir::binary(BinaryOp::Eq, x, ir::int_imm(3)), id, 9, bounds));
  EXPECT_FALSE(cut_of((x < 5) && (x >= 2), id, 9, bounds));
}

TEST(LoopCut, LongestRange) {
  const auto longest = [](std::vector<LoopCut> cuts) {
    const LoopCut core = longest_between(std::move(cuts), 14);
    return std::pair(core.begin, core.end);
  };
  EXPECT_EQ(longest({}), std::pair(0L, 14L));
  EXPECT_EQ(longest({{13, 13}, {1, 1}}), std::pair(1L, 13L));
  EXPECT_EQ(longest({{0, 1}, {13, 14}}), std::pair(1L, 13L));
  EXPECT_EQ(longest({{2, 9}, {5, 6}}), std::pair(9L, 14L));
}

}  // namespace
}  // namespace tilewright::lower
