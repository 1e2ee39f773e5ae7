// Random expressions: the simplifier agrees with evaluation, is idempotent, and returns the same
// node if nothing changes; intervals contain every value.
#include <gtest/gtest.h>

#include "arith/affine.h"
#include "arith/random_expr_testing.h"
#include "arith/simplify.h"
#include "ir/print.h"

namespace tilewright::arith {
namespace {

using ir::Expr;

ir::VarId id(const Expr& v) { return v.as<ir::Var>()->id; }

// Variables with random bounds; some have none.
struct World {
  std::vector<Expr> variables = {ir::var("i"), ir::var("j"), ir::var("k"), ir::var("n")};
  Bounds bounds;

  World(Rng& rng, bool all_bounded) {
    for (const Expr& variable : variables) {
      if (!all_bounded && rng.chance(0.2)) continue;
      const int64_t low = rng.chance(0.6) ? 0 : rng.between(-40, 40);
      bounds[id(variable)] = {low, low + (1 << rng.below(7)) - 1};
    }
  }
  std::string text() const {
    std::string result;
    for (const Expr& variable : variables) {
      const auto found = bounds.find(id(variable));
      if (found == bounds.end()) continue;
      result += fmt::format(" {} in [{}, {}]", ir::to_string(variable), found->second.low,
                            found->second.high);
    }
    return result;
  }
};

void check_agreement(Rng& rng, const World& world, const Expr& before, bool skip_overflow) {
  const Expr after = simplify(before, world.bounds);
  const std::string what =
      fmt::format("{}\n-> {}\nwith{}", ir::to_string(before), ir::to_string(after), world.text());
  ASSERT_EQ(before.type(), after.type()) << what;
  const Expr again = simplify(after, world.bounds);
  ASSERT_TRUE(again.same_as(after)) << what << "\nagain " << ir::to_string(again);
  const auto interval = interval_of(before, world.bounds);
  for (int sample = 0; sample < 12; ++sample) {
    const Values values = random_values(rng, world.variables, world.bounds);
    for (unsigned lane = 0; lane < before.type().lanes; ++lane) {
      bool overflowed = false, ignored = false;
      const int64_t expected = evaluate(before, values, lane, overflowed);
      if (overflowed && skip_overflow) continue;
      ASSERT_EQ(evaluate(after, values, lane, ignored), expected)
          << what << "\nlane " << lane << ", values" << [&] {
               std::string text;
               for (const Expr& v : world.variables) text += fmt::format(" {}", values.at(id(v)));
               return text;
             }();
      if (interval) {
        ASSERT_LE(interval->low, expected) << what;
        ASSERT_GE(interval->high, expected) << what;
      }
    }
  }
}

TEST(SimplifyPropertyTest, IntegersAgreeWithEvaluation) {
  Rng rng(seed(1));
  for (int round = 0; round < rounds(6000) && !HasFatalFailure(); ++round) {
    const World world(rng, false);
    RandomExpr random(rng, world.variables);
    const unsigned lanes = rng.chance(0.3) ? 4 : 1;
    check_agreement(rng, world, random.integer(static_cast<int>(rng.between(1, 5)), lanes), true);
  }
}

TEST(SimplifyPropertyTest, BooleansAgreeWithEvaluation) {
  Rng rng(seed(2));
  for (int round = 0; round < rounds(4000) && !HasFatalFailure(); ++round) {
    const World world(rng, false);
    RandomExpr random(rng, world.variables);
    const unsigned lanes = rng.chance(0.3) ? 4 : 1;
    check_agreement(rng, world, random.boolean(static_cast<int>(rng.between(1, 5)), lanes), true);
  }
}

TEST(SimplifyPropertyTest, IndexArithmeticAgreesWithEvaluation) {
  Rng rng(seed(3));
  for (int round = 0; round < rounds(6000) && !HasFatalFailure(); ++round) {
    const World world(rng, true);
    RandomExpr random(rng, world.variables, {.affine_only = true});
    const unsigned lanes = rng.chance(0.3) ? 8 : 1;
    check_agreement(rng, world, random.integer(static_cast<int>(rng.between(2, 6)), lanes), true);
  }
}

// Where all bounds are known, results hold even for values that wrap: one operator over sums of
// huge variables.
TEST(SimplifyPropertyTest, BoundedArithmeticIsRightWhenItWraps) {
  Rng rng(seed(4));
  constexpr ir::BinaryOp kOps[] = {ir::BinaryOp::Add, ir::BinaryOp::Mul, ir::BinaryOp::Div,
                                   ir::BinaryOp::Mod, ir::BinaryOp::Min, ir::BinaryOp::Max,
                                   ir::BinaryOp::Lt,  ir::BinaryOp::Le,  ir::BinaryOp::Gt,
                                   ir::BinaryOp::Ge,  ir::BinaryOp::Eq,  ir::BinaryOp::Ne};
  for (int round = 0; round < rounds(6000) && !HasFatalFailure(); ++round) {
    World world(rng, true);
    for (auto& [unused, range] : world.bounds) {
      const auto shift = static_cast<int>(rng.below(62));
      range = {rng.chance(0.5) ? 0 : -(int64_t{1} << shift), int64_t{1} << shift};
    }
    const auto sum = [&] {
      Expr total = ir::int_imm(rng.between(-100, 100));
      for (const Expr& variable : world.variables) {
        if (rng.chance(0.5)) total = total + variable * rng.between(-9, 9);
      }
      return total;
    };
    const ir::BinaryOp op = kOps[rng.below(std::size(kOps))];
    const bool divides = op == ir::BinaryOp::Div || op == ir::BinaryOp::Mod;
    const Expr right = divides ? ir::int_imm(rng.between(1, 20)) : sum();
    check_agreement(rng, world, ir::binary(op, sum(), right), false);
  }
}

TEST(AffinePropertyTest, FormsAgreeWithEvaluation) {
  Rng rng(seed(5));
  int found = 0;
  for (int round = 0; round < rounds(4000); ++round) {
    const World world(rng, true);
    const Expr expr = RandomExpr(rng, world.variables, {.affine_only = true}).integer(3);
    const auto form = affine_of(expr);
    if (!form) continue;
    ++found;
    for (int sample = 0; sample < 5; ++sample) {
      const Values values = random_values(rng, world.variables, world.bounds);
      int64_t value = form->constant;
      for (const Term& term : form->terms) value += term.coefficient * values.at(term.var);
      bool overflowed = false;
      ASSERT_EQ(value, evaluate(expr, values, 0, overflowed)) << ir::to_string(expr);
    }
  }
  EXPECT_GT(found, 400);
}

}  // namespace
}  // namespace tilewright::arith
