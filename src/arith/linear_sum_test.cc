#include "arith/linear_sum.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace tilewright::arith {
namespace {

using ir::Expr;

using Sum = LinearSum<LinearTerm>;

std::string text_of(const Sum& sum) {
  std::vector<Summand> summands;
  for (const LinearTerm& term : sum.terms) summands.push_back({&term.atom, term.coefficient});
  summands.push_back({nullptr, sum.constant});
  return ir::to_string(write_sum(summands, ir::kIndex));
}

class LinearSumTest : public ::testing::Test {
 protected:
  const Expr i_ = ir::var("i"), j_ = ir::var("j"), k_ = ir::var("k");
};

TEST_F(LinearSumTest, TermsOfOneAtomAreMerged) {
  Sum sum;
  sum.add_constant(3);
  sum.add_term({i_, 2});
  sum.add_term({j_ / 2, 1});
  EXPECT_EQ(text_of(sum), "i * 2 + j / 2 + 3");
  Sum other;
  other.add_constant(1);
  other.add_term({i_, -1});
  other.add_term({k_, 1});
  sum.add(other, 4);
  EXPECT_EQ(text_of(sum), "i * -2 + j / 2 + k * 4 + 7");
  EXPECT_TRUE(sum.exact);
}

TEST_F(LinearSumTest, CancelingTermsAreDropped) {
  Sum sum;
  sum.add_term({i_ % 3, 5});
  sum.add_term({j_, 0});
  sum.add_term({i_ % 3, -5});  // another node of the same expression
  EXPECT_TRUE(sum.is_constant());
}

TEST_F(LinearSumTest, FindsTheCoefficientOfAnAtom) {
  Sum sum;
  sum.add_term({i_ / 4, 7});
  EXPECT_EQ(sum.coefficient_like({i_ / 4, 1}), 7);
  EXPECT_EQ(sum.coefficient_like({i_ / 5, 1}), 0);
}

TEST_F(LinearSumTest, ConstantsWrap) {
  Sum sum;
  sum.add_constant(INT64_MAX);
  sum.add_constant(1);
  EXPECT_EQ(sum.constant, INT64_MIN);
  EXPECT_FALSE(sum.exact);
  Sum other;
  other.add_term({i_, INT64_MAX});
  EXPECT_TRUE(other.exact);
  Sum twice;
  twice.add(other, 2);
  EXPECT_EQ(twice.terms[0].coefficient, -2);
  EXPECT_FALSE(twice.exact);
  Sum fourfold;
  fourfold.add(twice, 2);  // inexact terms make an inexact sum
  EXPECT_FALSE(fourfold.exact);
}

struct LastNameFirst : LinearTerm {
  bool precedes(const LastNameFirst& other) const {
    return atom.as<ir::Var>()->name.text() > other.atom.as<ir::Var>()->name.text();
  }
};

TEST_F(LinearSumTest, TermTypeDefinesTheOrder) {
  LinearSum<LastNameFirst> sum;
  sum.add_term({{i_, 1}});
  sum.add_term({{k_, 2}});
  sum.add_term({{j_, 3}});
  sum.add_term({{i_, 4}});
  ASSERT_EQ(sum.terms.size(), 3U);
  EXPECT_EQ(sum.terms[0].coefficient, 2);
  EXPECT_EQ(sum.terms[1].coefficient, 3);
  EXPECT_EQ(sum.terms[2].coefficient, 5);
}

TEST_F(LinearSumTest, PrintsDifferences) {
  const std::vector<Summand> summands = {{&i_, 2}, {&j_, -1}, {nullptr, -3}};
  const Expr sum = write_sum(summands, ir::kIndex);
  EXPECT_EQ(ir::to_string(sum), "i * 2 - j - 3");
  EXPECT_TRUE(is_written_as(summands, sum));
  EXPECT_TRUE(is_written_as(summands, i_ * 2 - j_ - 3));
  EXPECT_FALSE(is_written_as(summands, i_ * 2 - 3 - j_));
}

}  // namespace
}  // namespace tilewright::arith
