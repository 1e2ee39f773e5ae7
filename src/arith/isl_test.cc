// isl as the oracle of the affine part: over a box of integer points it decides exactly
// the comparisons that the simplifier decides by intervals of linear forms.
#include <gtest/gtest.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>

#include "arith/random_expr_testing.h"
#include "arith/simplify.h"
#include "ir/print.h"

namespace tilewright::arith {
namespace {

using ir::BinaryOp;
using ir::Expr;

class IslTest : public ::testing::Test {
 protected:
  IslTest() : context_(isl_ctx_alloc()) {}
  ~IslTest() override { isl_ctx_free(context_); }

  static ir::VarId id(const Expr& v) { return v.as<ir::Var>()->id; }

  void new_box(Rng& rng) {
    bounds_.clear();
    for (const Expr& variable : variables_) {
      const int64_t low = rng.chance(0.5) ? 0 : rng.between(-20, 20);
      bounds_[id(variable)] = {low, low + rng.between(0, 15)};
    }
  }
  std::string box() const {
    std::string text;
    for (const Expr& variable : variables_) {
      const Interval& range = bounds_.at(id(variable));
      const std::string name = ir::to_string(variable);
      text +=
          fmt::format("{}{} <= {} <= {}", text.empty() ? "" : " and ", range.low, name, range.high);
    }
    return text;
  }

  // The expression in isl's notation.
  static std::string to_isl(const Expr& expr) {
    const auto* n = expr.as<ir::Binary>();
    if (n == nullptr) return ir::to_string(expr);
    const std::string a = to_isl(n->a), b = to_isl(n->b);
    switch (n->op) {
      case BinaryOp::Div:
        return fmt::format("floor({} / {})", a, b);
      case BinaryOp::Mod:
        return fmt::format("({} mod {})", a, b);
      case BinaryOp::Min:
        return fmt::format("min({}, {})", a, b);
      case BinaryOp::Max:
        return fmt::format("max({}, {})", a, b);
      case BinaryOp::Eq:
        return fmt::format("({} = {})", a, b);
      default:
        return fmt::format("({} {} {})", a, ir::name_of(n->op), b);
    }
  }

  bool is_never(const std::string& condition) {
    const std::string text = fmt::format("{{ [i, j, k] : {} and ({}) }}", box(), condition);
    isl_set* set = isl_set_read_from_str(context_, text.c_str());
    CHECK(set != nullptr, "isl cannot read {}", text);
    const bool empty = isl_set_is_empty(set) == isl_bool_true;
    isl_set_free(set);
    return empty;
  }
  bool same_function(const Expr& a, const Expr& b) {
    const auto read = [&](const Expr& expr) {
      const std::string text = fmt::format("{{ [i, j, k] -> [{}] : {} }}", to_isl(expr), box());
      isl_map* map = isl_map_read_from_str(context_, text.c_str());
      CHECK(map != nullptr, "isl cannot read {}", text);
      return map;
    };
    isl_map *first = read(a), *second = read(b);
    const bool same = isl_map_is_equal(first, second) == isl_bool_true;
    isl_map_free(first);
    isl_map_free(second);
    return same;
  }

  isl_ctx* context_;
  const std::vector<Expr> variables_ = {ir::var("i"), ir::var("j"), ir::var("k")};
  Bounds bounds_;
};

TEST_F(IslTest, OrderOfAffineFormsIsDecidedExactly) {
  Rng rng(seed(11));
  constexpr BinaryOp kOrder[] = {BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge};
  int decided = 0;
  for (int round = 0; round < rounds(400); ++round) {
    new_box(rng);
    const auto form = [&] {
      Expr sum = ir::int_imm(rng.between(-30, 30));
      for (const Expr& variable : variables_) sum = sum + variable * rng.between(-3, 3);
      return sum;
    };
    const Expr a = form(), b = form() + rng.between(-60, 60);
    const Expr comparison = ir::binary(kOrder[rng.below(std::size(kOrder))], a, b);
    const std::string text = to_isl(comparison);
    const Expr simple = simplify(comparison, bounds_);
    const int64_t* ours = ir::as_int(simple);
    const bool always = is_never(fmt::format("not {}", text)), never = is_never(text);
    ASSERT_EQ(ours != nullptr, always || never) << text << " for " << box();
    if (ours != nullptr) {
      ++decided;
      EXPECT_EQ(*ours != 0, always) << text << " for " << box();
    }
  }
  EXPECT_GT(decided, 50);
}

TEST_F(IslTest, ImplicationsBetweenConstraintsAreSound) {
  Rng rng(seed(12));
  int decided = 0;
  for (int round = 0; round < rounds(400); ++round) {
    new_box(rng);
    RandomExpr random(rng, variables_, {.affine_only = true, .vectors = false});
    const Expr a = random.integer(2), b = random.integer(2);
    constexpr BinaryOp kOps[] = {BinaryOp::Eq, BinaryOp::Lt, BinaryOp::Ge};
    const Expr comparison = ir::binary(kOps[rng.below(std::size(kOps))], a, b);
    const Expr simple = simplify(comparison, bounds_);
    const std::string text = to_isl(comparison);
    if (const int64_t* ours = ir::as_int(simple)) {
      ++decided;
      EXPECT_TRUE(is_never(*ours != 0 ? fmt::format("not {}", text) : text)) << text << box();
      continue;
    }
    // Otherwise each form implies the other.
    const std::string other = to_isl(simple);
    EXPECT_TRUE(
        is_never(fmt::format("({} and not {}) or ({} and not {})", text, other, other, text)))
        << text << " is not " << other << " for " << box();
  }
  EXPECT_GT(decided, 50);
}

TEST_F(IslTest, QuotientsAreTheSameQuasiAffineFunctions) {
  Rng rng(seed(13));
  int changed = 0;
  for (int round = 0; round < rounds(400); ++round) {
    new_box(rng);
    RandomExpr random(rng, variables_, {.affine_only = true, .vectors = false});
    const Expr before = random.integer(static_cast<int>(rng.between(2, 4)));
    const Expr after = simplify(before, bounds_);
    changed += after.same_as(before) ? 0 : 1;
    EXPECT_TRUE(same_function(before, after))
        << ir::to_string(before) << " is not " << ir::to_string(after) << " for " << box();
  }
  EXPECT_GT(changed, 100);
}

// Splitting an index by radices and recombining it gives the index.
TEST_F(IslTest, MixedRadixRoundTripsVanish) {
  Rng rng(seed(14));
  const Expr &i = variables_[0], &j = variables_[1], &k = variables_[2];
  for (int round = 0; round < rounds(100); ++round) {
    const int64_t inner = rng.between(2, 9), middle = rng.between(2, 9), outer = rng.between(2, 9);
    bounds_ = {{id(i), {0, outer - 1}}, {id(j), {0, middle - 1}}, {id(k), {0, inner - 1}}};
    const Expr flat = (i * middle + j) * inner + k;
    for (const auto& [split, part] :
         {std::pair(flat / (inner * middle), i), std::pair(flat / inner % middle, j),
          std::pair(flat % inner, k)}) {
      EXPECT_TRUE(simplify(split, bounds_).same_as(part)) << ir::to_string(split);
      EXPECT_TRUE(same_function(split, part));
    }
  }
}

}  // namespace
}  // namespace tilewright::arith
