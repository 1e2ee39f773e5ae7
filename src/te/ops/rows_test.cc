#include "te/ops/rows.h"

#include <gtest/gtest.h>

#include "te/eval.h"

namespace tilewright::te {
namespace {

constexpr ir::Scalar kElement = ir::Scalar::F32;

std::vector<std::string> names_of(const std::vector<Axis>& axes) {
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.name.text());
  return names;
}

// X -> S, the sums of its rows, -> Y = X - S.
std::shared_ptr<const Dag> centered(DagBuilder builder, TensorId x, const auto& make_rows) {
  const Rows rows = make_rows(builder);
  const TensorId sums = rows.reduce("S", ir::BinaryOp::Add, [&](const Indices&, const Indices& at) {
    return builder.read(x, at);
  });
  rows.each("Y", [&](const Indices& row, const Indices& at) {
    return builder.read(x, at) - builder.read(sums, row);
  });
  return std::move(builder).build();
}

// Element e of X is e.
double element(const Dag& dag, const std::vector<int64_t>& indices) {
  Evaluator evaluator(dag, [](TensorId, int64_t offset) { return static_cast<double>(offset); });
  return evaluator.element(dag.outputs()[0], indices);
}

TEST(Rows, AnyDimensionsMayBeColumns) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {2, 3, 4}, kElement);
  const auto dag = centered(std::move(builder), x, [](DagBuilder& b) {
    const int64_t shape[] = {2, 3, 4};
    const size_t columns[] = {0, 2};
    return rows_of(b, shape, columns);
  });
  const Op& sums = dag->op(*dag->find_op(Name("S")));
  EXPECT_EQ(names_of(sums.axes), std::vector<std::string>{"j"});
  EXPECT_EQ(names_of(sums.reduce_axes), (std::vector<std::string>{"ri", "rk"}));
  const double row = 4 + 5 + 6 + 7 + 16 + 17 + 18 + 19;  // j = 1
  EXPECT_EQ(element(*dag, {1, 1, 2}), 18 - row);
}

TEST(Rows, TheLastDimensionAsColumns) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {2, 3}, kElement);
  const auto dag = centered(std::move(builder), x, [](DagBuilder& b) {
    return rows_with_columns(b, {{.name = "i", .extent = 2}}, 3);
  });
  EXPECT_EQ(names_of(dag->op(*dag->find_op(Name("S"))).reduce_axes), std::vector<std::string>{"k"});
  EXPECT_EQ(names_of(dag->op(*dag->find_op(Name("Y"))).axes), (std::vector<std::string>{"i", "j"}));
  EXPECT_EQ(element(*dag, {1, 0}), 3 - (3 + 4 + 5));
}

TEST(Rows, WorkPerRowIsOptional) {
  const auto flop = [](bool counted) {
    DagBuilder builder;
    const TensorId x = builder.placeholder("X", {2, 3}, kElement);
    const Rows rows = rows_with_columns(builder, {{.name = "i", .extent = 2}}, 3);
    EXPECT_EQ(rows.columns(), 3);
    EXPECT_EQ(rows.elements(), 6);
    rows.each_row(
        "R",
        [&](const Indices& row) {
          const ir::Expr first = builder.read(x, {row[0], ir::int_imm(0)});
          return first * first;
        },
        counted);
    return std::move(builder).build()->flop();
  };
  EXPECT_EQ(flop(false), 0);
  EXPECT_EQ(flop(true), 2);
}

}  // namespace
}  // namespace tilewright::te
