#include "te/iterations.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "te/dag_builder.h"

namespace tilewright::te {
namespace {

TEST(Iterations, AreCountedOverAllAxes) {
  EXPECT_EQ(trip_count(std::vector<Axis>{}), 1);
  DagBuilder builder;
  const TensorId a = builder.placeholder("A", {4, 3}, ir::Scalar::F32);
  const Axis i = builder.axis("i", 4), k = builder.axis("k", 3);
  builder.reduce("C", {i}, {k}, ir::BinaryOp::Add, builder.read(a, {i.var, k.var}),
                 ir::Scalar::F32);
  const auto dag = std::move(builder).build();
  EXPECT_EQ(trip_count(dag->ops().back()), 12);
  EXPECT_EQ(trip_count(dag->ops().back().axes), 4);
}

TEST(Iterations, AreInRowMajorOrder) {
  DagBuilder builder;
  const std::vector<Axis> axes = {builder.axis("i", 2), builder.axis("j", 2)};
  using Changes = std::vector<std::pair<size_t, int64_t>>;
  std::vector<int64_t> at(2);
  const auto next = [&] {
    Changes changes;
    const bool more = next_iteration(
        at, axes, [&](size_t axis, int64_t value) { changes.emplace_back(axis, value); });
    return std::pair(more, changes);
  };
  EXPECT_EQ(next(), std::pair(true, Changes{{1, 1}}));
  EXPECT_EQ(next(), std::pair(true, Changes{{1, 0}, {0, 1}}));
  EXPECT_EQ(next(), std::pair(true, Changes{{1, 1}}));
  EXPECT_EQ(next(), std::pair(false, Changes{{1, 0}, {0, 0}}));
  std::vector<int64_t> none;
  EXPECT_FALSE(next_iteration(none, std::vector<Axis>{}, [](size_t, int64_t) {}));
}

}  // namespace
}  // namespace tilewright::te
