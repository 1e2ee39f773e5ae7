// Every operator of the table: inputs are drawn, the output of the default schedule is
// accepted, that of another schedule agrees, and one wrong element is detected.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "ir/element.h"
#include "measure/workbench_testing.h"
#include "oracle/difference.h"
#include "oracle/element.h"
#include "oracle/expectation.h"
#include "oracle/input_values.h"
#include "task/parse.h"
#include "te/ops/table.h"

namespace tilewright::measure {
namespace {

struct Case {
  const char* text;
  bool exact;
};

constexpr Case kCases[] = {
    {"matmul:m=7,n=19,k=33", true},
    {"matmul:m=7,n=19,k=33,dtype=f16", true},
    {"matmul:m=7,n=19,k=33,dtype=bf16", true},
    {"matmul:m=7,n=19,k=33,dtype=f64", true},
    {"matmul:m=7,n=19,k=33,dtype=i8", true},
    {"matmul:m=7,n=19,k=33,dtype=u8,dtype_b=i8,transpose_b=1", true},
    {"matmul:m=3,n=5,k=300,dtype=i32", true},
    {"batch_matmul:b=2,m=7,n=9,k=5", true},
    {"conv2d:n=1,h=5,w=5,ci=4,co=6,kernel=3,pad=1,groups=2", true},
    {"conv1d:l=9,ci=4,co=6,kernel=3,pad=1,dtype=f16", true},
    {"conv3d:d=3,h=4,w=5,ci=2,co=3,kernel=2", true},
    {"conv2d_bias_bn_relu:n=1,h=5,w=5,ci=4,co=6,kernel=3,pad=1", true},
    {"depthwise_conv2d:n=1,h=5,w=5,ci=4,kernel=3,pad=1,dtype=u8", true},
    {"conv2d_transpose:h=4,w=4,ci=3,co=5,kernel=4,stride=2,pad=1", true},
    {"conv2d_capsule:h=4,w=4,ci=3,co=5,kernel=2,capsule=3", true},
    {"conv2d_winograd:h=6,w=6,ci=5,co=7,pad=1,m=4", false},
    {"conv2d_winograd:h=6,w=6,ci=5,co=7,pad=1,m=2", true},
    {"softmax:m=4,n=9", false},
    {"softmax:m=4,n=9,dtype=f16", false},
    {"log_softmax:m=4,n=9", false},
    {"norm:b=2,m=4,n=9", false},
    {"layer_norm:m=4,n=9", false},
    {"layer_norm:m=4,n=9,dtype=bf16", false},
    {"rms_norm:m=4,n=9", false},
    {"transpose_batch_matmul:b=1,heads=2,seq=5,dim=4", true},
    {"transpose_batch_matmul_softmax:b=1,heads=2,seq=5,dim=4", false},
    {"attention:b=1,heads=2,seq=5,dim=4", false},
    {"attention_online:b=1,heads=2,seq=5,dim=4,block=2", false},
    {"elementwise:shape=37,chain=relu+scale(0.5)+square", true},
    {"elementwise:shape=37,chain=exp", false},
    {"elementwise:shape=37,chain=log+sqrt", false},
    {"elementwise:shape=37,chain=log+log", false},
    {"elementwise:shape=37,chain=rsqrt+gelu,dtype=bf16", false},
    {"elementwise:shape=37,chain=exp+shift(-1)+leaky", false},
    {"elementwise:shape=37,chain=div+tanh+floor", false},
    {"elementwise:shape=37,chain=pow(3)", false},
    {"elementwise:shape=37,chain=scale(0.1)", true},
    {"binary:op=add,a=5x7,b=7,dtype=i8", true},
    {"binary:op=max,a=5x7,b=7", true},
    {"binary:op=div,a=5x7,b=5x1", false},
    {"broadcast:shape=3x1,to=3x7", true},
    {"cast:shape=37,from=f32,to=i8", true},
    {"cast:shape=37,from=i32,to=f16", true},
    {"reduce:op=sum,shape=5x200,axes=1", true},
    {"reduce:op=prod,shape=5x9,axes=1", true},
    {"reduce:op=max,shape=5x9,axes=1,dtype=u8", true},
    {"reduce:op=argmax,shape=5x90,axes=1", true},
    {"reduce:op=mean,shape=5x9,axes=1", false},
    {"reduce:op=mean,shape=5x8,axes=1", true},
    {"cumulative_sum:shape=3x19,axis=1", true},
    {"pool:op=max,n=1,spatial=7x7,c=5,kernel=3,stride=2,pad=1,dtype=f16", true},
    {"pool:op=average,n=1,spatial=7x7,c=5,kernel=3,stride=2,pad=1", false},
    {"global_pool:op=average,n=1,spatial=4x4,c=5", true},
    {"adaptive_pool:op=max,n=1,spatial=7x7,c=5,to=3", true},
    {"resize:shape=5x7,to=10x9,mode=linear", false},
    {"resize:shape=5x7,to=10x9,mode=nearest,dtype=i8", true},
    {"pad:shape=5x4,before=1x2,after=0x3,mode=reflect", true},
    {"concat:shape=5x9,axis=1,parts=4x5", true},
    {"slice:shape=9x9,begin=1x2,size=3x4", true},
    {"transpose:shape=5x4x3,perm=2x0x1", true},
    {"reshape:shape=6x4,to=8x3", true},
    {"gather:shape=50x4,axis=0,indices=9", true},
    {"one_hot:shape=9,depth=6,axis=1", true},
};

// Changes one element of an output by a quarter of its magnitude at least.
void corrupt(std::span<std::byte> bytes, const te::Tensor& tensor, int64_t offset) {
  const double value = ir::read_element(bytes.data(), tensor.element, offset);
  const double moved =
      ir::is_float(tensor.element) ? value + 0.25 + std::abs(value) / 4 : value + 2;
  ir::write_element(bytes.data(), tensor.element, offset,
                    tensor.element == ir::Scalar::Bool ? 1 - value : moved);
}

void expect_noticed(TestBench& test) {
  for (size_t k = 0; k < test.task.workload.operands.size(); ++k) {
    if (test.task.workload.operands[k].role != Role::Output) continue;
    const te::Tensor& tensor =
        test.task.workload.dag->tensor(test.task.workload.operands[k].tensor);
    const std::span<const std::byte> expected = test.operands.operand(k);
    const int64_t last = oracle::elements_of(tensor) - 1;
    for (const int64_t offset : {int64_t{0}, last / 2, last}) {
      std::vector<std::byte> actual(expected.begin(), expected.end());
      EXPECT_EQ(oracle::find_difference(test.task.workload, k, test.tolerance, expected, actual),
                "");
      corrupt(actual, tensor, offset);
      EXPECT_NE(oracle::find_difference(test.task.workload, k, test.tolerance, expected, actual),
                "")
          << "allowed: " << test.tolerance.absolute[k] << ", " << test.tolerance.relative[k];
    }
  }
}

// A reference that is wrong as a whole is not believed, and no tolerance is a guess.
void expect_judged(TestBench& test) {
  const Workload& workload = test.task.workload;
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    if (workload.operands[k].role != Role::Output) continue;
    const te::Tensor& tensor = workload.dag->tensor(workload.operands[k].tensor);
    if (ir::is_float(tensor.element) && ir::bytes_of(tensor.element) > 2) {
      EXPECT_LT(test.tolerance.relative[k], 5e-4);
    }
    const std::span<std::byte> output = test.operands.operand(k);
    const std::vector<std::byte> saved(output.begin(), output.end());
    for (int64_t e = 0; e < oracle::elements_of(tensor); ++e) corrupt(output, tensor, e);
    EXPECT_FALSE(oracle::judge_reference(workload, test.operands.sections()));
    std::ranges::copy(saved, output.begin());
  }
}

TEST(Operators, ChecksHoldForEveryOperator) {
  std::set<std::string_view> seen;
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.text);
    const std::string_view text = one.text;
    seen.insert(text.substr(0, text.find(':')));
    TestBench test(task_of_text(one.text));
    EXPECT_EQ(oracle::plan_inputs(test.task.workload).value().exact, one.exact);
    EXPECT_EQ(test.error, "");
    EXPECT_FALSE(record::is_failure(test.reference.verdict.kind)) << test.reference.verdict.text;
    const RunOutcome other = test.bench->check(build_default(test.task, 1), 1e9);
    EXPECT_EQ(other.verdict.text, "");
    expect_noticed(test);
    expect_judged(test);
  }
  for (const te::Operator& op : te::all_operators()) EXPECT_TRUE(seen.contains(op.name)) << op.name;
}

// The output of a reduction that omits its last elements, from inputs x of shape rows x columns.
struct Omission {
  const char* text;
  int64_t rows, columns;
  int64_t left_out;  // of each row, from its end
  double (*fold)(double folded, double x);
  double (*element)(double folded_all, double folded_part, double y);
};

double add_square(double folded, double x) { return folded + x * x; }
double add_exp(double folded, double x) { return folded + std::exp(x); }
double maximum(double folded, double x) { return std::max(folded, x); }
double root(double, double part, double) { return std::sqrt(part); }
double rescaled(double all, double part, double y) { return y * all / part; }
double itself(double, double part, double) { return part; }

TEST(Operators, MissingTailsAreDetected) {
  const Omission cases[] = {
      {"norm:b=1,m=256,n=1024", 1, 262144, 8, add_square, root},
      {"softmax:m=16,n=8192", 16, 8192, 1, add_exp, rescaled},
      {"softmax:m=16,n=32000", 16, 32000, 1, add_exp, rescaled},
      {"reduce:op=max,shape=64x1024,axes=1", 64, 1024, 1, maximum, itself},
      {"reduce:op=max,shape=64x1024,axes=1,dtype=i32", 64, 1024, 1, maximum, itself},
      {"reduce:op=max,shape=64x1024,axes=1,dtype=bf16", 64, 1024, 1, maximum, itself},
      {"reduce:op=max,shape=16x56x56,axes=1x2", 16, 56 * 56, 56, maximum, itself},
      {"reduce:op=max,shape=16x56x56,axes=1x2", 16, 56 * 56, 28 * 56, maximum, itself},
  };
  for (const Omission& one : cases) {
    SCOPED_TRACE(one.text);
    TestBench test(task_of_text(one.text));
    ASSERT_EQ(test.error, "");
    const Workload& workload = test.task.workload;
    const te::Tensor& input = workload.dag->tensor(workload.operands[0].tensor);
    const te::Tensor& output = workload.dag->tensor(workload.operands[1].tensor);
    const std::span<const std::byte> expected = test.operands.operand(1);
    std::vector<std::byte> actual(expected.begin(), expected.end());
    const int64_t row_outputs = oracle::elements_of(output) / one.rows;
    for (int64_t row = 0; row < one.rows; ++row) {
      double all = -1e30, part = -1e30;
      if (one.fold != maximum) all = part = 0;
      for (int64_t column = 0; column < one.columns; ++column) {
        const double x = ir::read_element(test.operands.operand(0).data(), input.element,
                                          row * one.columns + column);
        all = one.fold(all, x);
        if (column < one.columns - one.left_out) part = one.fold(part, x);
      }
      for (int64_t k = row * row_outputs; k < (row + 1) * row_outputs; ++k) {
        const double y = ir::read_element(expected.data(), output.element, k);
        ir::write_element(actual.data(), output.element, k, one.element(all, part, y));
      }
    }
    EXPECT_NE(oracle::find_difference(workload, 1, test.tolerance, expected, actual), "");
  }
}

}  // namespace
}  // namespace tilewright::measure
