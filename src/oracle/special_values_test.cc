// The inputs that get special values, and the accepted results. The outputs come from te/eval;
// measure/operators_test.cc does the same with compiled schedules of every operator.
#include "oracle/special_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ir/element.h"
#include "oracle/draw_inputs.h"
#include "oracle/element.h"
#include "task/parse.h"
#include "te/eval.h"

namespace tilewright::oracle {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDenormal = 0x1p-130;

// The operands of a workload with usual inputs and their outputs, and the outputs of special ones.
struct Case {
  explicit Case(const char* text, FloatPermissions permissions = {})
      : workload(parse_workload(text, permissions).value()) {
    for (const Operand& operand : workload.operands) {
      usual.emplace_back(bytes_of(workload.dag->tensor(operand.tensor)));
    }
    for (std::vector<std::byte>& one : usual) usual_spans.emplace_back(one);
    EXPECT_TRUE(draw_inputs(workload, 1, usual_spans));
    compute(usual, usual);
    special = usual;
    for (std::vector<std::byte>& one : special) special_spans.emplace_back(one);
    std::vector<std::vector<std::byte>> inputs = usual;
    for (const SpecialValue& one : special_values(workload)) {
      ir::write_element(inputs[one.operand].data(), element(one.operand), one.offset, one.value);
    }
    compute(inputs, special);
  }

  ir::Scalar element(size_t k) const {
    return workload.dag->tensor(workload.operands[k].tensor).element;
  }
  double read(const std::vector<std::vector<std::byte>>& from, size_t k, int64_t offset) const {
    return ir::read_element(from[k].data(), element(k), offset);
  }
  void compute(const std::vector<std::vector<std::byte>>& inputs,
               std::vector<std::vector<std::byte>>& outputs) const {
    te::Evaluator evaluator(
        *workload.dag,
        [&](te::TensorId id, int64_t offset) {
          size_t k = 0;
          while (workload.operands[k].tensor != id) ++k;
          return read(inputs, k, offset);
        },
        workload.permissions.denormals);
    for (size_t k = 0; k < workload.operands.size(); ++k) {
      if (workload.operands[k].role != Role::Output) continue;
      const te::Tensor& tensor = workload.dag->tensor(workload.operands[k].tensor);
      for (int64_t e = 0; e < elements_of(tensor); ++e) {
        ir::write_element(outputs[k].data(), tensor.element, e,
                          evaluator.element(workload.operands[k].tensor, indices_of(tensor, e)));
      }
    }
  }
  Status judge() const { return judge_special(workload, usual_spans, special_spans); }

  Workload workload;
  std::vector<std::vector<std::byte>> usual, special;
  std::vector<std::span<std::byte>> usual_spans, special_spans;
};

TEST(SpecialValues, EveryLargeInputHasEveryKind) {
  const Workload workload = parse_workload("matmul:m=5,n=6,k=7,constant=none").value();
  const std::vector<SpecialValue> values = special_values(workload);
  const std::vector<SpecialValue> again = special_values(workload);
  EXPECT_TRUE(std::ranges::equal(values, again, {}, &SpecialValue::offset, &SpecialValue::offset));
  for (const size_t operand : {0, 1}) {
    std::set<int64_t> places;
    int nans = 0, infinities = 0, denormals = 0;
    for (const SpecialValue& one : values) {
      if (one.operand != operand) continue;
      EXPECT_TRUE(places.insert(one.offset).second);
      nans += std::isnan(one.value) ? 1 : 0;
      infinities += std::isinf(one.value) ? 1 : 0;
      denormals += one.value != 0 && ir::flush_denormal(one.value, ir::Scalar::F32) == 0 ? 1 : 0;
    }
    EXPECT_EQ(nans, 1);
    EXPECT_EQ(infinities, 2);
    EXPECT_GE(denormals, 1);
    EXPECT_TRUE(places.contains(0));
  }
}

TEST(SpecialValues, OnlyWhereResultsAreUnambiguous) {
  const auto operands_of = [](const char* text) {
    std::set<size_t> operands;
    for (const SpecialValue& one : special_values(parse_workload(text).value())) {
      operands.insert(one.operand);
    }
    return operands;
  };
  EXPECT_EQ(operands_of("matmul:m=5,n=6,k=7,constant=B"), std::set<size_t>{0});
  EXPECT_EQ(operands_of("matmul:m=1,n=6,k=7,constant=none"), std::set<size_t>{1});  // 7 elements
  EXPECT_TRUE(operands_of("matmul:m=5,n=6,k=7,dtype=i8,constant=none").empty());
  for (const SpecialValue& one :
       special_values(parse_workload("elementwise:shape=64,chain=relu,dtype=f16").value())) {
    EXPECT_FALSE(std::isfinite(one.value));  // denormals of f16 are usual numbers
  }
}

TEST(SpecialValues, DefinitionIsAccepted) {
  for (const char* text :
       {"matmul:m=5,n=6,k=7,constant=none", "softmax:m=4,n=9", "elementwise:shape=40,chain=exp",
        "reduce:op=max,shape=6x7,axes=1", "conv2d:h=6,w=6,ci=3,co=4,kernel=3,pad=1"}) {
    for (const bool denormals : {false, true}) {
      const Case one(text, {.denormals = denormals});
      const Status right = one.judge();
      EXPECT_TRUE(right.has_value()) << right.error().message;
      EXPECT_NE(one.usual, one.special) << text;
    }
  }
}

TEST(SpecialValues, OtherValuesAreErrors) {
  Case one("matmul:m=5,n=6,k=7,constant=none");
  bool nan = false;
  for (int64_t e = 0; e < 30; ++e) {
    const double right = one.read(one.special, 2, e);
    if (!std::isnan(right)) continue;
    nan = true;
    ir::write_element(one.special[2].data(), ir::Scalar::F32, e, kInfinity);
    const Status wrong = one.judge();
    ASSERT_FALSE(wrong.has_value()) << e;
    EXPECT_THAT(wrong.error().message, HasSubstr("= inf, its definition says nan"));
    ir::write_element(one.special[2].data(), ir::Scalar::F32, e, kNan);
  }
  EXPECT_TRUE(nan);
  EXPECT_TRUE(one.judge().has_value());
}

TEST(SpecialValues, DenormalsAreZeroOnBothSidesUnlessKept) {
  const std::vector<float> zeros(64, 0.0F);
  const std::vector<float> denormals(64, static_cast<float>(kDenormal));
  const std::vector<float> smallest_normal(64, std::numeric_limits<float>::min());
  const auto compare = [](bool kept, const std::vector<float>& a, const std::vector<float>& b) {
    const Workload workload =
        parse_workload("elementwise:shape=64,chain=relu", {.denormals = kept}).value();
    const Tolerance exact{.absolute = {0, 0}, .relative = {0, 0}};
    return find_difference(workload, 1, exact, std::as_bytes(std::span(a)),
                           std::as_bytes(std::span(b)));
  };
  EXPECT_EQ(compare(false, zeros, denormals), "");
  EXPECT_EQ(compare(false, denormals, zeros), "");
  EXPECT_THAT(compare(true, zeros, denormals), HasSubstr("64 of 64 elements are wrong"));
  EXPECT_THAT(compare(false, denormals, smallest_normal), HasSubstr("64 of 64 elements are wrong"));
}

}  // namespace
}  // namespace tilewright::oracle
