#include "arith/simplify_minmax.h"

#include <gtest/gtest.h>

#include "arith/linear_testing.h"

namespace tilewright::arith {
namespace {

using ir::Expr;

class SimplifyMinMaxTest : public ::testing::Test {
 protected:
  static std::string min_max(const Expr& like, const Linear& a, const Linear& b,
                             int64_t times = 1) {
    Linear out;
    add_min_max(like, a, b, times, out);
    return text_of(out);
  }

  const Expr i_ = ir::var("i"), x_ = ir::var("x"), c_ = ir::var("c", ir::kBool);
  const Linear i_form_ = form({term(i_, 1, {0, 15})}), x_form_ = form({term(x_, 1)});
};

TEST_F(SimplifyMinMaxTest, TheDifferenceDecides) {
  EXPECT_EQ(min_max(ir::min(i_, ir::int_imm(20)), i_form_, form({}, 20)), "i");
  EXPECT_EQ(min_max(ir::max(i_, ir::int_imm(20)), i_form_, form({}, 20), 3), "60");
  EXPECT_EQ(min_max(ir::min(x_ + 3, x_ + 5), form({term(x_, 1)}, 3), form({term(x_, 1)}, 5)),
            "x + 3");
}

TEST_F(SimplifyMinMaxTest, Nested) {
  const Expr inner = ir::min(x_, ir::int_imm(8)), pair = ir::min(x_, i_);
  const Linear inner_form = form({term(inner, 1)}), pair_form = form({term(pair, 1)});
  EXPECT_EQ(min_max(ir::min(inner, ir::int_imm(4)), inner_form, form({}, 4)), "min(x, 4)");
  EXPECT_EQ(min_max(ir::min(ir::int_imm(4), inner), form({}, 4), inner_form), "min(x, 4)");
  EXPECT_EQ(min_max(ir::min(pair, i_), pair_form, i_form_), "min(x, i)");
}

TEST_F(SimplifyMinMaxTest, OtherNodesAreAtoms) {
  const Expr like = ir::min(i_, ir::int_imm(8));
  Linear out;
  add_min_max(like, i_form_, form({}, 8), 2, out);
  ASSERT_EQ(out.terms.size(), 1u);
  EXPECT_TRUE(out.terms[0].atom.same_as(like));
  EXPECT_EQ(out.terms[0].coefficient, 2);
  EXPECT_EQ(out.terms[0].range, (Interval{0, 8}));
}

TEST_F(SimplifyMinMaxTest, Select) {
  Linear same;
  add_select(ir::select(c_, x_ + 1, ir::int_imm(1) + x_), c_, form({term(x_, 1)}, 1),
             form({term(x_, 1)}, 1), 2, same);
  EXPECT_EQ(text_of(same), "x * 2 + 2");
  const Expr like = ir::select(c_, i_, ir::int_imm(40));
  Linear out;
  add_select(like, c_, i_form_, form({}, 40), 1, out);
  ASSERT_EQ(out.terms.size(), 1u);
  EXPECT_TRUE(out.terms[0].atom.same_as(like));
  EXPECT_EQ(out.terms[0].range, (Interval{0, 40}));
}

}  // namespace
}  // namespace tilewright::arith
