#include "te/ops/einsum.h"

#include <gtest/gtest.h>

#include "te/eval.h"

namespace tilewright::te {
namespace {

constexpr ir::Scalar kElement = ir::Scalar::F32;

// Element e of an input is e + 1.
double element(const std::shared_ptr<const Dag>& dag, const std::vector<int64_t>& indices) {
  Evaluator evaluator(*dag,
                      [](TensorId, int64_t offset) { return static_cast<double>(offset + 1); });
  return evaluator.element(dag->outputs()[0], indices);
}

struct Made {
  std::shared_ptr<const Dag> dag;
  const Op& stage() const { return dag->ops().back(); }
};

Made make(std::string_view a, std::string_view b, std::string_view out,
          const std::vector<Extent>& shape_a, const std::vector<Extent>& shape_b,
          const LetterExtents& extents) {
  DagBuilder builder;
  const Factor left{builder.placeholder("A", shape_a, kElement), a};
  const Factor right{builder.placeholder("B", shape_b, kElement), b};
  add_products(builder, "C", out, summed_letters(left, right, out), left, right, extents, kElement);
  return {std::move(builder).build()};
}

TEST(Einsum, AxesHaveTheNamesOfTheirLetters) {
  const Made made = make("iK", "Kj", "ij", {2, 3}, {3, 4}, {{'i', 2}, {'j', 4}, {'K', 3}});
  ASSERT_EQ(made.stage().axes.size(), 2U);
  EXPECT_EQ(made.stage().axes[0].name.text(), "i");
  EXPECT_EQ(made.stage().axes[1].name.text(), "j");
  ASSERT_EQ(made.stage().reduce_axes.size(), 1U);
  EXPECT_EQ(made.stage().reduce_axes[0].name.text(), "uk");
}

TEST(Einsum, MatrixProduct) {
  const Made made = make("ik", "kj", "ij", {2, 2}, {2, 2}, {{'i', 2}, {'j', 2}, {'k', 2}});
  EXPECT_EQ(element(made.dag, {0, 0}), 1 * 1 + 2 * 3);
  EXPECT_EQ(element(made.dag, {1, 0}), 3 * 1 + 4 * 3);
}

TEST(Einsum, AnExtentOfOneBroadcasts) {
  const Made made = make("ik", "kj", "ij", {2, 1}, {3, 2}, {{'i', 2}, {'j', 2}, {'k', 3}});
  EXPECT_EQ(element(made.dag, {1, 0}), 2 * (1 + 3 + 5));
}

TEST(Einsum, ARepeatedLetterIsTheDiagonal) {
  const Made made = make("ii", "j", "ij", {2, 2}, {3}, {{'i', 2}, {'j', 3}});
  EXPECT_FALSE(made.stage().has_reduction());
  EXPECT_EQ(element(made.dag, {1, 2}), 4 * 3);
}

TEST(Einsum, LettersMissingInTheResultAreSummed) {
  EXPECT_EQ(summed_letters({0, "bhik"}, {0, "bhjk"}, "bhij"), "k");
  EXPECT_EQ(summed_letters({0, "ab"}, {0, "bc"}, ""), "abc");
  EXPECT_EQ(summed_letters({0, "i"}, {0, "j"}, "ij"), "");
}

}  // namespace
}  // namespace tilewright::te
