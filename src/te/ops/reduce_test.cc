#include "te/ops/reduce.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

// All elements that fold into one of Y, in row-major order, by the place of that one in keep=1.
std::map<std::vector<int64_t>, std::vector<double>> groups_of(const Evaluated& op,
                                                              const std::vector<int64_t>& shape,
                                                              const std::vector<size_t>& axes) {
  std::map<std::vector<int64_t>, std::vector<double>> groups;
  for_each_index(shape, [&](std::vector<int64_t> at, size_t offset) {
    for (const size_t axis : axes) at[axis] = 0;
    groups[at].push_back(op.in("X", static_cast<int64_t>(offset)));
  });
  return groups;
}

double fold(const std::string& op, const std::vector<double>& values) {
  const double count = static_cast<double>(values.size());
  if (op == "sum") return std::accumulate(values.begin(), values.end(), 0.0);
  if (op == "mean") return std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (op == "prod") return std::accumulate(values.begin(), values.end(), 1.0, std::multiplies<>());
  if (op == "max") return *std::ranges::max_element(values);
  if (op == "min") return *std::ranges::min_element(values);
  if (op == "any") return std::ranges::any_of(values, [](double v) { return v != 0; });
  if (op == "all") return std::ranges::all_of(values, [](double v) { return v != 0; });
  const auto best =
      op == "argmax" ? std::ranges::max_element(values) : std::ranges::min_element(values);
  return static_cast<double>(best - values.begin());  // the first of equal ones
}

struct Case {
  const char* axes;
  std::vector<size_t> numbers;
  std::vector<int64_t> shape;  // of Y without keep
};

TEST(Reduce, EveryKindEqualsItsDefinition) {
  const Case cases[] = {
      {"0", {0}, {4, 3}},   {"1", {1}, {3, 3}},    {"-1", {2}, {3, 4}},
      {"0x2", {0, 2}, {4}}, {"1x-1", {1, 2}, {3}}, {"2x0x1", {0, 1, 2}, {}},
  };
  for (const char* op : {"sum", "mean", "max", "min", "prod", "argmax", "argmin", "any", "all"}) {
    for (const Case& c : cases) {
      for (const bool keep : {false, true}) {
        const std::string text =
            fmt::format("reduce:op={},shape=3x4x3,axes={},keep={:d},dtype=f64", op, c.axes, keep);
        const Evaluated reduced(text, -1, 2);
        std::vector<int64_t> kept = {3, 4, 3};
        for (const size_t axis : c.numbers) kept[axis] = 1;
        ASSERT_EQ(reduced.shape, keep ? kept : c.shape) << text;
        size_t at = 0;
        for (const auto& [place, values] : groups_of(reduced, {3, 4, 3}, c.numbers)) {
          ASSERT_DOUBLE_EQ(reduced.output[at++], fold(op, values)) << text;
        }
      }
    }
  }
}

TEST(Reduce, Types) {
  struct Types {
    const char* op;
    const char* dtype;
    ir::Scalar result;
  };
  using enum ir::Scalar;
  const Types cases[] = {{"sum", "i8", I32},    {"sum", "f16", F16},     {"sum", "i64", I64},
                         {"prod", "u8", I32},   {"mean", "bf16", BF16},  {"max", "i8", I8},
                         {"min", "f16", F16},   {"any", "f32", Bool},    {"all", "bool", Bool},
                         {"argmax", "u8", I64}, {"argmin", "bf16", I64}, {"sum", "u16", U32},
                         {"max", "u32", U32}};
  for (const Types& c : cases) {
    const Evaluated op(fmt::format("reduce:op={},shape=2x9,axes=1,dtype={}", c.op, c.dtype), 0, 1);
    ASSERT_EQ(op.dag->outputs().size(), 1u);
    EXPECT_EQ(op.dag->tensor(op.dag->outputs()[0]).element, c.result) << c.op << c.dtype;
    for (size_t row = 0; row < 2; ++row) {
      const auto begin = op.inputs.at("X").begin() + static_cast<int64_t>(row) * 9;
      const double exact = fold(c.op, std::vector(begin, begin + 9));
      EXPECT_EQ(op.output[row], ir::convert(exact, c.result)) << c.op << c.dtype;
    }
  }
}

// 300 ones in a type that cannot count to 300.
TEST(Reduce, AccumulatorsAreWide) {
  EXPECT_EQ(Evaluated("reduce:op=sum,shape=300,axes=0,dtype=i8", 1, 1).output[0], 300);
  EXPECT_EQ(Evaluated("reduce:op=mean,shape=4096,axes=0,dtype=f16", 100, 100).output[0], 100);
}

double index_of(const char* op, const std::vector<double>& row) {
  const auto instance = parse_operator(fmt::format("reduce:op={},shape={},axes=0", op, row.size()));
  Evaluator evaluator(*instance->dag,
                      [&](TensorId, int64_t offset) { return row[static_cast<size_t>(offset)]; });
  return evaluator.element(instance->dag->outputs()[0], {});
}

TEST(Reduce, ArgMaxOfTiesAndNans) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  EXPECT_EQ(index_of("argmax", {1, 3, 3}), 1);
  EXPECT_EQ(index_of("argmin", {2, 1, 1}), 1);
  EXPECT_EQ(index_of("argmax", {-inf, -inf}), 0);
  EXPECT_EQ(index_of("argmin", {inf, inf}), 0);
  EXPECT_EQ(index_of("argmax", {1, nan, inf, nan}), 1);
  EXPECT_EQ(index_of("argmin", {1, nan, -inf, nan}), 1);
  EXPECT_EQ(index_of("argmax", {nan, 1}), 0);
}

TEST(Reduce, AxesAreNamedByDimension) {
  const auto dag = parse_operator("reduce:op=mean,shape=3x4x3,axes=1")->dag;
  const Op& sum = dag->op(dag->find_op(Name("S")).value());
  EXPECT_EQ(sum.axes[0].name.text(), "i");
  EXPECT_EQ(sum.axes[1].name.text(), "k");
  EXPECT_EQ(sum.reduce_axes[0].name.text(), "rj");
}

TEST(Reduce, Mistakes) {
  const Mistake mistakes[] = {
      {"reduce:op=summ,shape=4,axes=0", "op has the unknown value 'summ'; did you mean sum?"},
      {"reduce:op=sum,shape=4x4,axes=2",
       "reduce: there is no axis 2; with 2 dimensions legal are "
       "-2 to 1"},
      {"reduce:op=sum,shape=4x4,axes=0x-2", "reduce: axis 0 is repeated"},
      {"reduce:op=sum,shape=4x4,axes=10", "10 is out of range; legal are -10 to 9"},
      {"reduce:op=sum,shape=4x4", "reduce needs parameter axes"},
      {"reduce:op=mean,shape=4,axes=0,dtype=i32", "reduce:op=mean: dtype i32 is not supported"},
      {"reduce:op=sum,shape=4,axes=0,dtype=bool", "reduce:op=sum: dtype bool is not supported"},
      {"reduce:op=sum,shape=1x1x1x1x1x1x1x1x1x1x1,axes=0", "a shape of 11 dimensions"},
      {"reduce:op=sum,shape=4,axes=0,keep=2", "2 is out of range; legal are 0 to 1"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
