#include "te/ops/winograd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arith/simplify.h"
#include "te/ops/conv_testing.h"
#include "te/ops/winograd_matrices.h"

namespace tilewright::te {
namespace {

using ::testing::ElementsAre;

std::vector<double> times_vector(const Matrix& matrix, const std::vector<double>& vector) {
  std::vector<double> product;
  for (const std::vector<double>& row : matrix) {
    double sum = 0;
    for (size_t c = 0; c < row.size(); ++c) sum += row[c] * vector.at(c);
    product.push_back(sum);
  }
  return product;
}

TEST(WinogradMatrices, FilterEqualsTheDefinition) {
  for (const int64_t m : {2, 4}) {
    const WinogradMatrices& matrices = winograd_matrices(m);
    const std::vector<double> filter = {5, -3, 2};
    std::vector<double> data(static_cast<size_t>(m + 2));
    for (size_t k = 0; k < data.size(); ++k) data[k] = static_cast<double>(k * k + 1) - 3.5;
    std::vector<double> product = times_vector(matrices.g, filter);
    const std::vector<double> transformed = times_vector(matrices.b_transposed, data);
    for (size_t k = 0; k < product.size(); ++k) product[k] *= transformed[k];
    const std::vector<double> output = times_vector(matrices.a_transposed, product);
    ASSERT_EQ(output.size(), static_cast<size_t>(m));
    for (size_t i = 0; i < output.size(); ++i) {
      EXPECT_NEAR(output[i], 5 * data[i] - 3 * data[i + 1] + 2 * data[i + 2], 1e-12) << m;
    }
  }
}

TEST(WinogradMatrices, TheFilterOfATransformedOneIsTheFilter) {
  for (const int64_t m : {2, 4}) {
    const WinogradMatrices& matrices = winograd_matrices(m);
    const std::vector<double> filter = {5, -3, 2};
    const std::vector<double> back =
        times_vector(matrices.g_inverse, times_vector(matrices.g, filter));
    ASSERT_EQ(back.size(), filter.size());
    for (size_t k = 0; k < filter.size(); ++k) EXPECT_NEAR(back[k], filter[k], 1e-14) << m;
  }
}

TEST(WinogradMatrices, EntriesFoldToConstants) {
  const Matrix matrix = {{1, 0, 2}, {0, 0, 0}, {0, -3, 0.5}};
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t column = 0; column < 3; ++column) {
      const ir::Expr entry =
          arith::simplify(constant_entry(matrix, ir::int_imm(row), ir::int_imm(column), ir::kF32));
      ASSERT_NE(entry.as<ir::FloatImm>(), nullptr) << row << ' ' << column;
      EXPECT_EQ(entry.as<ir::FloatImm>()->value,
                matrix[static_cast<size_t>(row)][static_cast<size_t>(column)]);
    }
  }
}

struct Case {
  const char* text;
  int64_t n, h, w, ci, co, pad;
  double tolerance;  // relative to the largest possible sum
};

const Case kCases[] = {
    {"n=2,h=4,w=6,ci=2,co=3,m=2", 2, 4, 6, 2, 3, 0, 0},
    {"h=5,w=4,ci=1,co=2,m=2,pad=1", 1, 5, 4, 1, 2, 1, 0},
    {"h=3,w=3,ci=2,co=1,m=2", 1, 3, 3, 2, 1, 0, 0},
    {"h=1,w=5,ci=2,co=1,m=2,pad=2,dtype=f64", 1, 1, 5, 2, 1, 2, 0},
    {"n=2,h=6,w=7,ci=2,co=2,pad=1", 2, 6, 7, 2, 2, 1, 1e-5},
    {"h=6,w=10,ci=1,co=2,m=4,dtype=f64", 1, 6, 10, 1, 2, 0, 1e-13},
};

double naive(const Evaluated& conv, const Case& s, const std::vector<int64_t>& i) {
  double sum = 0;
  for_each_index({3, 3, s.ci}, [&](const std::vector<int64_t>& r, size_t) {
    sum += at(conv.inputs.at("X"), {s.n, s.h, s.w, s.ci},
              {i[0], i[1] + r[0] - s.pad, i[2] + r[1] - s.pad, r[2]}) *
           at(conv.inputs.at("W"), {3, 3, s.ci, s.co}, {r[0], r[1], r[2], i[3]});
  });
  return sum;
}

TEST(Winograd, EqualsTheDirectConvolution) {
  for (const Case& s : kCases) {
    const Evaluated conv(std::string("conv2d_winograd:") + s.text);
    ASSERT_THAT(conv.shape, ElementsAre(s.n, s.h + 2 * s.pad - 2, s.w + 2 * s.pad - 2, s.co))
        << s.text;
    const double bound = s.tolerance * static_cast<double>(9 * s.ci * 16);
    for_each_index(conv.shape, [&](const std::vector<int64_t>& indices, size_t offset) {
      ASSERT_NEAR(conv.output[offset], naive(conv, s, indices), bound)
          << s.text << " at " << offset;
    });
  }
}

// U by its definition, G g G^T, given as the operand.
TEST(Winograd, TransformedWeightReplacesU) {
  const Evaluated raw("conv2d_winograd:h=4,w=4,ci=2,co=2,m=2,pad=1");
  Evaluated conv("conv2d_winograd:h=4,w=4,ci=2,co=2,m=2,pad=1,weight=transformed");
  EXPECT_FALSE(conv.dag->find_op(Name("U")).has_value());
  ASSERT_EQ(conv.inputs.at("W").size(), 4u * 4 * 2 * 2);
  const Matrix& g = winograd_matrices(2).g;
  for_each_index({4, 4, 2, 2}, [&](const std::vector<int64_t>& i, size_t offset) {
    double sum = 0;
    for_each_index({3, 3}, [&](const std::vector<int64_t>& r, size_t) {
      sum += g[static_cast<size_t>(i[0])][static_cast<size_t>(r[0])] *
             g[static_cast<size_t>(i[1])][static_cast<size_t>(r[1])] *
             at(raw.inputs.at("W"), {3, 3, 2, 2}, {r[0], r[1], i[2], i[3]});
    });
    conv.inputs.at("W")[offset] = sum;
  });
  conv.inputs.at("X") = raw.inputs.at("X");
  Evaluator evaluator(*conv.dag, [&](TensorId tensor, int64_t offset) {
    return conv.in(conv.dag->tensor(tensor).name.text(), offset);
  });
  for_each_index(conv.shape, [&](const std::vector<int64_t>& indices, size_t offset) {
    EXPECT_EQ(evaluator.element(conv.dag->outputs().front(), indices), raw.output[offset]);
  });
}

TEST(Winograd, StagesHintsAndFlop) {
  const auto dag = parse_operator("conv2d_winograd:n=2,h=6,w=7,ci=3,co=5,pad=1")->dag;
  std::vector<std::string> stages;
  for (const Op& op : dag->ops()) stages.push_back(op.name.text());
  EXPECT_THAT(stages, ElementsAre("X", "W", "P", "T", "V", "U", "M", "I", "Y"));
  EXPECT_EQ(dag->flop(), 2.0 * 2 * 6 * 7 * 3 * 5 * 9);
  for (const char* stage : {"V", "U", "I"}) {
    const Op& op = dag->op(dag->find_op(Name(stage)).value());
    for (const Axis* axis : {&op.axes[0], &op.axes[1], &op.reduce_axes[0], &op.reduce_axes[1]}) {
      EXPECT_TRUE(axis->hints.simplify_const_index) << stage << ' ' << axis->name.text();
    }
    EXPECT_FALSE(op.axes.back().hints.simplify_const_index);
  }
  const auto whole = parse_operator("conv2d_winograd:h=6,w=10,ci=3,co=5")->dag;
  EXPECT_FALSE(whole->find_op(Name("P")).has_value());
}

TEST(Winograd, RejectsInvalidParameters) {
  const Mistake mistakes[] = {
      {"conv2d_winograd:h=4,w=4,ci=4,co=8,m=3", "m=3 must be 2 or 4"},
      {"conv2d_winograd:h=2,w=4,ci=4,co=8", "a 3x3 kernel with dilation=1 does not fit into 2x4"},
      {"conv2d_winograd:h=4,w=4,ci=4,co=8,stride=2", "has no parameter 'stride'"},
      {"conv2d_winograd:h=4,w=4,ci=4,co=8,weight=row", "weight has the unknown value 'row'"},
      {"conv2d_winograd:h=4,w=4,ci=4,co=8,dtype=f16",
       "dtype f16 is not supported; types are f32, f64"},
      {"conv2d_winograd:h=4,w=4,ci=4,co=8,dtype=i8", "dtype i8 is not supported"},
      {"conv2d_winograd:h=2147483647,w=2147483647,pad=2147483647,ci=1,co=1",
       "an output of 6442450939x6442450939 is too large"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
