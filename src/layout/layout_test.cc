#include "layout/layout.h"

#include <gtest/gtest.h>

#include <set>

#include "base/check.h"
#include "te/dag_builder.h"
#include "te/eval.h"

namespace tilewright::layout {
namespace {

using Shape = std::vector<int64_t>;

struct Case {
  const char* what;
  Shape shape;
  Layout layout;
  int64_t elements;
  const char* text;
};

std::vector<Case> cases() {
  const Shape matrix = {6, 70};
  return {
      {"row-major", matrix, Layout::row_major(matrix), 420, "[d0:6, d1:70]"},
      {"transposed", matrix, {.digits = {{1, 1, 70}, {0, 1, 6}}}, 420, "[d1:70, d0:6]"},
      {"blocked", matrix, Layout::blocked(matrix, 1, 32), 576, "[d1/32:3, d0:6, d1%32:32]"},
      {"blocks of one", matrix, Layout::blocked(matrix, 1, 1), 420, "[d1:70, d0:6, d1%1:1]"},
      {"one block", matrix, Layout::blocked(matrix, 0, 8), 560, "[d0/8:1, d1:70, d0%8:8]"},
      {"twice blocked",
       matrix,
       {.digits = {{1, 32, 3}, {0, 2, 3}, {1, 8, 4}, {0, 1, 2}, {1, 1, 8}}},
       576,
       "[d1/32:3, d0/2:3, d1/8%4:4, d0%2:2, d1%8:8]"},
      {"padded row", matrix, {.digits = {{0, 1, 6}, {1, 1, 72}}}, 432, "[d0:6, d1:72]"},
      {"vector", {5}, Layout::row_major(Shape{5}), 5, "[d0:5]"},
      {"scalar", {}, Layout::row_major(Shape{}), 1, "[]"},
  };
}

// Calls visit for each index tuple of the shape.
template <class Visit>
void for_each_index(const Shape& shape, Visit visit) {
  Shape indices(shape.size());
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  for (int64_t k = 0; k < count; ++k) {
    visit(indices);
    for (size_t d = shape.size(); d > 0 && ++indices[d - 1] == shape[d - 1]; --d) {
      indices[d - 1] = 0;
    }
  }
}

TEST(Layout, OffsetsAreDistinctAndInBounds) {
  for (const Case& c : cases()) {
    EXPECT_TRUE(c.layout.holds(c.shape)) << c.what;
    EXPECT_EQ(c.layout.elements(), c.elements) << c.what;
    EXPECT_EQ(c.layout.to_string(), c.text) << c.what;
    std::set<int64_t> seen;
    for_each_index(c.shape, [&](const Shape& indices) {
      const int64_t offset = c.layout.offset(indices);
      EXPECT_TRUE(0 <= offset && offset < c.elements) << c.what;
      EXPECT_TRUE(seen.insert(offset).second) << c.what;
    });
  }
}

TEST(Layout, TheExampleOfTheHeader) {
  const Layout layout = Layout::blocked(Shape{6, 70}, 1, 32);
  EXPECT_EQ(layout.offset(Shape{5, 69}), 2 * 6 * 32 + 5 * 32 + 5);
}

// The value of an expression over one-element index tensors, through the evaluator.
TEST(Layout, OffsetExpressionEqualsOffsets) {
  for (const Case& c : cases()) {
    if (c.shape.empty()) continue;
    te::DagBuilder builder;
    std::vector<te::Axis> axes;
    std::vector<ir::Expr> indices;
    for (size_t d = 0; d < c.shape.size(); ++d) {
      axes.push_back(builder.axis("i" + std::to_string(d), c.shape[d]));
      indices.push_back(axes.back().var);
    }
    const te::TensorId offsets = builder.compute("O", axes, c.layout.offset(indices));
    const auto dag = std::move(builder).build();
    te::Evaluator evaluator(*dag, {});
    for_each_index(c.shape, [&](const Shape& at) {
      ASSERT_EQ(evaluator.element(offsets, at), static_cast<double>(c.layout.offset(at))) << c.what;
    });
  }
  EXPECT_EQ(*ir::as_int(Layout::row_major(Shape{}).offset(std::span<const ir::Expr>{})), 0);
}

TEST(Layout, RejectsShapesThatDoNotFit) {
  const Shape shape = {6, 70};
  EXPECT_FALSE(Layout::undecided().holds(shape));
  EXPECT_FALSE(Layout::row_major(Shape{6, 69}).holds(shape));     // too small
  EXPECT_FALSE(Layout::row_major(Shape{6}).holds(shape));         // a dimension missing
  EXPECT_FALSE(Layout::row_major(Shape{6, 70, 1}).holds(shape));  // one too many
  EXPECT_FALSE((Layout{.digits = {{0, 1, 6}, {1, 1, 8}, {1, 16, 9}}}).holds(shape));  // a gap
  EXPECT_FALSE((Layout{.digits = {{0, 1, 6}, {0, 1, 6}, {1, 1, 70}}}).holds(shape));  // twice
}

TEST(Layout, UndecidedLayoutHasNoOffsets) {
  EXPECT_EQ(Layout::undecided().to_string(), "free");
  EXPECT_THROW(Layout::undecided().elements(), InternalError);
  EXPECT_THROW(Layout::undecided().offset(Shape{0}), InternalError);
  EXPECT_FALSE(Layout::undecided().is_row_major(Shape{}));
}

TEST(Layout, DistinctLayoutsHaveDistinctHashes) {
  std::set<Hash128> seen;
  const auto hash = [](const Layout& layout) {
    Hasher hasher;
    layout.hash_into(hasher);
    return hasher.finish();
  };
  for (const Case& c : cases()) EXPECT_TRUE(seen.insert(hash(c.layout)).second) << c.what;
  EXPECT_TRUE(seen.insert(hash(Layout::undecided())).second);
  EXPECT_EQ(hash(Layout::row_major(Shape{3, 4})), hash(Layout::row_major(Shape{3, 4})));
}

}  // namespace
}  // namespace tilewright::layout
