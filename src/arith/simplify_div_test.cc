#include "arith/simplify_div.h"

#include <gtest/gtest.h>

#include "arith/linear_testing.h"

namespace tilewright::arith {
namespace {

using ir::Expr;

// Every operand is one atom without bounds.
class AtomSource : public LinearSource {
 public:
  Linear linear(const Expr& expr) override {
    requested.push_back(ir::to_string(expr));
    return form({term(expr, 1)});
  }
  std::vector<std::string> requested;
};

class SimplifyDivTest : public ::testing::Test {
 protected:
  // times * (like), whose dividend is `a`.
  std::string quotient(const Expr& like, const Linear& a, int64_t divisor, int64_t times = 1) {
    Linear out;
    add_quotient(like, a, form({}, divisor), times, source_, out);
    return text_of(out);
  }

  AtomSource source_;
  const Expr x_ = ir::var("x"), j_ = ir::var("j"), k_ = ir::var("k");
  const RangedTerm digit_j_ = term(j_, 8, {0, 7}), digit_k_ = term(k_, 1, {0, 3});
};

TEST_F(SimplifyDivTest, SplitsByCoefficients) {
  EXPECT_EQ(quotient((x_ * 4 + 3) / 4, form({term(x_, 4)}, 3), 4), "x");
  EXPECT_EQ(quotient((x_ * 4 + 7) % 4, form({term(x_, 4)}, 7), 4), "3");
  EXPECT_EQ(quotient((x_ * 4 + 3) / 4, form({term(x_, 4)}, 3), 4, 5), "x * 5");
  EXPECT_TRUE(source_.requested.empty());
}

TEST_F(SimplifyDivTest, DigitsOfMixedRadix) {
  const Expr number = x_ * 64 + j_ * 8 + k_;
  const Linear digits = form({term(x_, 64), digit_j_, digit_k_});
  EXPECT_EQ(quotient(number / 16, digits, 16), "x * 4 + j / 2");
  EXPECT_EQ(quotient(number % 16, digits, 16), "k + j % 2 * 8");
}

TEST_F(SimplifyDivTest, AtomsThatAreQuotients) {
  EXPECT_EQ(quotient((x_ / 4 + 1) / 3, form({term(x_ / 4, 1)}, 1), 3), "(x + 4) / 12");
  EXPECT_EQ(quotient((x_ % 12) % 4, form({term(x_ % 12, 1, {0, 11})}), 4), "x % 4");
  EXPECT_EQ(source_.requested, (std::vector<std::string>{"x", "x"}));
}

TEST_F(SimplifyDivTest, AnyDivisor) {
  const Expr n = ir::var("n");
  const Linear a = form({term(j_, 1, {0, 7})}), b = form({term(n, 1, {8, INT64_MAX})});
  Linear out;
  add_quotient(j_ / n, a, b, 1, source_, out);
  EXPECT_EQ(text_of(out), "0");
  add_quotient(j_ % n, a, b, 1, source_, out);
  EXPECT_EQ(text_of(out), "j");
}

TEST_F(SimplifyDivTest, NothingThatMayOverflowIsRewritten) {
  const Expr like = j_ * 4 / 4;
  Linear out;
  add_quotient(like, form({term(j_, 4, {0, INT64_MAX / 2})}), form({}, 4), 1, source_, out);
  ASSERT_EQ(out.terms.size(), 1u);
  EXPECT_TRUE(out.terms[0].atom.same_as(like));
}

TEST_F(SimplifyDivTest, MergesQuotientAndRemainder) {
  Linear whole = form({term(x_ / 4, 8), term(x_ % 4, 2)}, 1);
  EXPECT_TRUE(merge_div_and_mod(whole, source_));
  EXPECT_EQ(text_of(whole), "x * 2 + 1");
  Linear middle = form({term(x_ / 32, 4), term(x_ / 8 % 4, 1)});
  EXPECT_TRUE(merge_div_and_mod(middle, source_));
  EXPECT_EQ(text_of(middle), "x / 8");
  Linear other = form({term(x_ / 4, 3), term(x_ % 4, 1)});
  EXPECT_FALSE(merge_div_and_mod(other, source_));
}

}  // namespace
}  // namespace tilewright::arith
