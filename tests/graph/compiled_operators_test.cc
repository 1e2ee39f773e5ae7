// Every operator of a Graph as a kernel of the default schedule, against its evaluation.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "deploy/compile_model.h"
#include "graph/op_table.h"
#include "ir/element.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;
using Shape = std::vector<int64_t>;

// One operand: its type, and the range of its numbers (multiples of `step`).
struct Operand {
  Shape shape;
  Scalar element = Scalar::F32;
  double low = -2, high = 2, step = 0.125;
  bool given = true;
};
struct Case {
  std::string op;
  std::vector<Operand> operands;
  Attributes attributes = {};
};

const Operand kNone = {.shape = {}, .given = false};

Operand integers(Shape shape, double low = -9, double high = 9, Scalar element = Scalar::I64) {
  return {.shape = std::move(shape), .element = element, .low = low, .high = high, .step = 1};
}
Operand bools(Shape shape) { return integers(std::move(shape), 0, 1, Scalar::Bool); }
Operand positive(Shape shape) { return {.shape = std::move(shape), .low = 0.125, .high = 4}; }
Operand of_type(Shape shape, Scalar element) {
  return {.shape = std::move(shape), .element = element};
}
std::string text(const char* value) { return value; }

const Shape kOdd = {3, 5, 7};

std::vector<Case> map_cases() {
  std::vector<Case> cases;
  for (const char* op : {"add", "sub", "mul", "div", "max", "min", "less", "less_equal", "greater",
                         "greater_equal", "equal"}) {
    cases.push_back({op, {{kOdd}, {{5, 1}}}});
    cases.push_back({op, {integers(kOdd), integers({7}, -3, 3)}});
    cases.push_back({op, {{{}}, {{}}}});
  }
  cases.push_back({"add", {{kOdd}, {kOdd}, {{7}}, {{}}}});
  cases.push_back({"add", {of_type(kOdd, Scalar::F16), of_type(kOdd, Scalar::F16)}});
  cases.push_back({"mul", {of_type(kOdd, Scalar::BF16), of_type({1}, Scalar::BF16)}});
  for (const int64_t fmod : {0, 1}) {
    cases.push_back({"mod", {{kOdd}, positive(kOdd)}, {{"fmod", fmod}}});
    cases.push_back({"mod", {integers(kOdd), integers(kOdd, -3, 3)}, {{"fmod", fmod}}});
    cases.push_back({"mod",
                     {integers(kOdd, 0, 200, Scalar::U8), integers(kOdd, 0, 9, Scalar::U8)},
                     {{"fmod", fmod}}});
  }
  cases.push_back({"div", {integers(kOdd, 0, 200, Scalar::U8), integers(kOdd, 0, 9, Scalar::U8)}});
  cases.push_back(
      {"div", {integers(kOdd, -99, 99, Scalar::I32), integers(kOdd, -9, 9, Scalar::I32)}});
  cases.push_back({"pow", {positive(kOdd), {kOdd}}});
  cases.push_back({"pow", {{kOdd}, integers({}, 3, 3)}});
  cases.push_back({"pow", {integers(kOdd), integers({}, 2, 2)}});
  for (const char* op : {"and", "or", "xor", "equal"}) {
    cases.push_back({op, {bools(kOdd), bools({7})}});
  }
  cases.push_back({"not", {bools(kOdd)}});
  for (const char* op : {"bit_and", "bit_or", "bit_xor"}) {
    cases.push_back({op, {integers(kOdd), integers(kOdd)}});
  }
  cases.push_back({"bit_not", {integers(kOdd, 0, 255, Scalar::U8)}});
  for (const Scalar element : {Scalar::U16, Scalar::U32}) {
    const Operand large = integers(kOdd, 0, element == Scalar::U16 ? 65535 : 4294967295, element);
    const Operand small = integers(kOdd, 0, 9, element);
    for (const char* op : {"add", "sub", "mul", "div", "mod", "max", "less", "pow", "bit_xor"}) {
      cases.push_back({op, {large, small}});
    }
    cases.push_back({"shift", {large, small}, {{"direction", text("right")}}});
    cases.push_back({"bit_not", {large}});
    cases.push_back({"dequantize_linear", {large, positive({}), integers({}, 128, 128, element)}});
  }
  for (const char* direction : {"left", "right"}) {
    cases.push_back({"shift",
                     {integers(kOdd, 0, 255, Scalar::U8), integers(kOdd, 0, 12, Scalar::U8)},
                     {{"direction", text(direction)}}});
  }
  cases.push_back({"where", {bools({5, 1}), {kOdd}, {{}}}});
  cases.push_back({"where", {bools(kOdd), integers(kOdd), integers({7})}});
  cases.push_back({"prelu", {{kOdd}, {{5, 1}}}});
  cases.push_back(
      {"clip", {{kOdd}, {.shape = {}, .low = -1, .high = -1}, {.shape = {}, .low = 1, .high = 1}}});
  cases.push_back({"clip", {{kOdd}, kNone, {.shape = {1}, .low = 1, .high = 1}}});
  cases.push_back({"quantize_linear", {{kOdd}, positive({5}), integers({5}, 0, 100, Scalar::U8)}});
  cases.push_back({"quantize_linear", {{{4, 6}}, positive({4, 2})}, {{"to", text("i8")}}});
  cases.push_back(
      {"dequantize_linear",
       {integers(kOdd, 0, 255, Scalar::U8), positive({}), integers({}, 128, 128, Scalar::U8)}});
  cases.push_back({"batch_norm", {{kOdd}, {{5}}, {{5}}, {{5}}, positive({5})}});
  return cases;
}

std::vector<Case> unary_cases() {
  std::vector<Case> cases;
  for (const char* op : {"neg",
                         "abs",
                         "sign",
                         "relu",
                         "exp",
                         "erf",
                         "tanh",
                         "sigmoid",
                         "floor",
                         "ceil",
                         "round",
                         "sin",
                         "cos",
                         "tan",
                         "atan",
                         "sinh",
                         "cosh",
                         "asinh",
                         "softplus",
                         "softsign",
                         "mish",
                         "silu",
                         "hard_swish",
                         "leaky_relu",
                         "elu",
                         "celu",
                         "selu",
                         "hard_sigmoid",
                         "thresholded_relu",
                         "shrink",
                         "gelu",
                         "is_nan",
                         "is_inf"}) {
    cases.push_back({op, {{kOdd}}});
    cases.push_back({op, {of_type({9}, Scalar::F64)}});
  }
  for (const char* op : {"log", "sqrt", "rsqrt", "reciprocal"})
    cases.push_back({op, {positive(kOdd)}});
  for (const char* op : {"asin", "acos", "atanh"}) {
    cases.push_back({op, {{.shape = kOdd, .low = -0.875, .high = 0.875}}});
  }
  cases.push_back({"acosh", {{.shape = kOdd, .low = 1, .high = 4}}});
  cases.push_back({"gelu", {{kOdd}}, {{"approximate", text("tanh")}}});
  for (const char* op : {"neg", "abs", "sign", "relu"}) cases.push_back({op, {integers(kOdd)}});
  for (const char* to : {"i32", "i64", "u8", "bool", "f16", "bf16", "f64"}) {
    cases.push_back({"cast", {{kOdd}}, {{"to", text(to)}}});
    cases.push_back({"cast", {integers(kOdd)}, {{"to", text(to)}}});
  }
  cases.push_back({"exp", {{{}}}});
  return cases;
}

std::vector<Case> move_cases() {
  return {
      {"reshape", {{kOdd}}, {{"shape", Shape{15, 7}}}},
      {"reshape", {{{4, 6}}}, {{"shape", Shape{3, 8}}}},
      {"reshape", {{{1}}}, {{"shape", Shape{}}}},
      {"transpose", {{kOdd}}, {{"perm", Shape{2, 0, 1}}}},
      {"transpose",
       {of_type({2, 3, 2, 3, 2, 3, 2}, Scalar::I16)},
       {{"perm", Shape{6, 4, 2, 0, 1, 3, 5}}}},
      {"broadcast", {{{5, 1}}}, {{"shape", kOdd}}},
      {"broadcast", {integers({})}, {{"shape", kOdd}}},
      {"slice",
       {{kOdd}},
       {{"begin", Shape{2, 0, 6}}, {"size", Shape{2, 2, 4}}, {"step", Shape{-1, 3, -2}}}},
      {"concat", {{{3, 2}}, {{3, 4}}, {{3, 1}}}, {{"axis", int64_t{1}}}},
      {"concat", {integers({2, 3}), integers({4, 3})}, {{"axis", int64_t{0}}}},
      {"pad", {{{4, 6}}}, {{"before", Shape{1, 2}}, {"after", Shape{2, 0}}}},
      {"pad", {{{4, 6}}, {{}}}, {{"before", Shape{1, -2}}, {"after", Shape{-1, 3}}}},
      {"pad", {{{4, 6}}, {{}}}, {}},
      {"pad",
       {{{4, 6}}},
       {{"before", Shape{3, 0}}, {"after", Shape{2, 5}}, {"mode", text("reflect")}}},
      {"pad",
       {{{4, 6}}},
       {{"before", Shape{1, 1}}, {"after", Shape{2, 7}}, {"mode", text("edge")}}},
      {"pad",
       {{{4, 6}}},
       {{"before", Shape{1, 1}}, {"after", Shape{2, 7}}, {"mode", text("wrap")}}},
      {"tile", {{{2, 3}}}, {{"repeats", Shape{3, 2}}}},
      {"trilu", {{kOdd}}, {{"k", int64_t{1}}}},
      {"trilu", {{kOdd}}, {{"upper", int64_t{0}}}},
      {"gather", {{kOdd}, integers({2, 3})}, {{"axis", int64_t{1}}}},
      {"gather", {{{9}}, integers({}, 2, 2, Scalar::I32)}},
      {"gather_elements", {{kOdd}, integers({3, 2, 7})}, {{"axis", int64_t{1}}}},
      {"gather_nd", {{kOdd}, integers({4, 2})}},
      {"gather_nd", {{kOdd}, integers({3, 2, 1})}, {{"batch_dims", int64_t{1}}}},
      {"scatter_elements",
       {{kOdd}, integers({3, 2, 7}, 0, 4), {{3, 2, 7}}},
       {{"axis", int64_t{1}}}},
      {"scatter_elements",
       {{kOdd}, integers({2, 3, 5}, -7, 6), {{2, 3, 5}}},
       {{"axis", int64_t{2}}, {"reduction", text("add")}}},
      {"scatter_nd", {{kOdd}, integers({4, 2}, 0, 2), {{4, 7}}}},
      {"scatter_nd",
       {integers(kOdd), integers({2, 4, 1}, 0, 2), integers({2, 4, 5, 7})},
       {{"reduction", text("max")}}},
      {"scatter_nd", {{kOdd}, integers({3}, 0, 2), {{}}}},
      {"one_hot",
       {integers({3, 4}, -1, 6)},
       {{"depth", int64_t{5}}, {"axis", int64_t{1}}, {"to", text("f32")}}},
      {"resize",
       {{{1, 4, 5, 3}}},
       {{"to", Shape{1, 8, 10, 3}},
        {"mode", text("nearest")},
        {"coordinates", text("asymmetric")}}},
      // places that are elements, by numbers that are not exact
      {"resize", {{{3, 64}}}, {{"to", Shape{3, 192}}, {"mode", text("cubic")}}},
      {"resize", {{{9, 7}}}, {{"to", Shape{63, 21}}, {"mode", text("cubic")}}},
      {"resize",
       {{{6, 6}}},
       {{"to", Shape{18, 18}}, {"mode", text("linear")}, {"antialias", int64_t{1}}}},
      {"resize", {{{1, 4, 5, 3}}}, {{"to", Shape{1, 8, 7, 3}}, {"mode", text("linear")}}},
      {"resize",
       {{{4, 5}}},
       {{"to", Shape{9, 3}}, {"mode", text("cubic")}, {"exclude_outside", int64_t{1}}}},
      {"resize",
       {{{4, 5}}},
       {{"to", Shape{2, 3}}, {"mode", text("linear")}, {"scales", text("0.6,0.7")}}},
      {"resize",
       {{{4, 5}}},
       {{"to", Shape{2, 3}}, {"mode", text("nearest")}, {"scales", text("0.6,0.7")}}},
      {"resize",
       {{{8, 9}}},
       {{"to", Shape{3, 4}}, {"mode", text("linear")}, {"antialias", int64_t{1}}}},
      {"resize",
       {{{4, 5}}},
       {{"to", Shape{3, 3}},
        {"mode", text("linear")},
        {"coordinates", text("tf_crop_and_resize")},
        {"roi", text("0.25,0,1.5,1")}}},
  };
}

std::vector<Case> row_cases() {
  std::vector<Case> cases;
  for (const char* kind :
       {"sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "log_sum", "log_sum_exp"}) {
    const bool log = std::string(kind) == "log_sum";
    cases.push_back({"reduce",
                     {log ? positive(kOdd) : Operand{kOdd}},
                     {{"kind", text(kind)}, {"axes", Shape{0, 2}}}});
    cases.push_back({"reduce",
                     {log ? positive(kOdd) : Operand{kOdd}},
                     {{"kind", text(kind)}, {"axes", Shape{0, 1, 2}}}});
    cases.push_back({"reduce",
                     {log ? positive(kOdd) : Operand{kOdd}},
                     {{"kind", text(kind)}, {"axes", Shape{-1}}, {"keep", int64_t{1}}}});
    cases.push_back({"reduce",
                     {log ? positive({}) : Operand{Shape{}}},
                     {{"kind", text(kind)}, {"axes", Shape{}}}});
  }
  cases.push_back({"reduce", {integers(kOdd)}, {{"kind", text("mean")}, {"axes", Shape{1}}}});
  for (const char* kind : {"any", "all"}) {
    cases.push_back({"reduce", {bools(kOdd)}, {{"kind", text(kind)}, {"axes", Shape{1}}}});
  }
  for (const int64_t last : {0, 1}) {
    cases.push_back(
        {"arg_reduce", {{.shape = kOdd, .step = 1}}, {{"axis", int64_t{1}}, {"last", last}}});
    cases.push_back({"arg_reduce",
                     {{.shape = kOdd, .step = 1}},
                     {{"axis", int64_t{-1}}, {"kind", text("min")}, {"keep", last}}});
    cases.push_back({"cum_sum", {{kOdd}}, {{"axis", int64_t{1}}, {"exclusive", last}}});
    cases.push_back({"cum_sum", {integers(kOdd)}, {{"axis", int64_t{2}}, {"reverse", last}}});
    cases.push_back({"softmax", {{kOdd}}, {{"log", last}}});
    cases.push_back({"softmax", {{kOdd}}, {{"log", last}, {"axis", int64_t{0}}}});
  }
  cases.push_back({"softmax", {of_type(kOdd, Scalar::F16)}});
  cases.push_back({"layer_norm", {{kOdd}, {{7}}, {{7}}}});
  cases.push_back({"layer_norm", {{kOdd}, {{5, 7}}}, {{"axis", int64_t{1}}}});
  cases.push_back({"rms_norm", {{kOdd}, {{7}}}});
  cases.push_back({"rms_norm", {{kOdd}}});
  for (const int64_t groups : {1, 2, 4}) {
    cases.push_back({"group_norm", {{{2, 4, 3, 5}}, {{4}}, {{4}}}, {{"groups", groups}}});
    cases.push_back({"group_norm", {{{2, 3, 5, 4}}}, {{"groups", groups}, {"axis", int64_t{-1}}}});
  }
  cases.push_back({"group_norm", {{{2, 4}}}, {{"groups", int64_t{4}}}});
  cases.push_back({"lrn", {{{2, 5, 3}}}, {{"size", int64_t{3}}}});
  cases.push_back({"lp_norm", {{kOdd}}, {{"axis", int64_t{1}}}});
  cases.push_back({"lp_norm", {{kOdd}}, {{"p", int64_t{1}}}});
  for (const int64_t last : {0, 1}) {
    for (const char* kind : {"max", "average", "lp"}) {
      const Shape shape = last != 0 ? Shape{2, 7, 6, 3} : Shape{2, 3, 7, 6};
      cases.push_back({"pool",
                       {{shape}},
                       {{"kind", text(kind)},
                        {"kernel", Shape{3, 2}},
                        {"stride", Shape{2, 1}},
                        {"pad_begin", Shape{1, 0}},
                        {"pad_end", Shape{1, 1}},
                        {"channels_last", last}}});
      cases.push_back({"pool",
                       {{shape}},
                       {{"kind", text(kind)},
                        {"kernel", Shape{2, 2}},
                        {"dilation", Shape{2, 1}},
                        {"pad_begin", Shape{1, 0}},
                        {"pad_end", Shape{1, 1}},
                        {"ceil_pad", Shape{1, 0}},
                        {"count_include_pad", int64_t{1}},
                        {"channels_last", last}}});
    }
  }
  return cases;
}

std::vector<Case> heavy_cases() {
  const auto letters = [](const char* a, const char* b, const char* out) {
    return Attributes{{"a", text(a)}, {"b", text(b)}, {"out", text(out)}};
  };
  std::vector<Case> cases = {
      {"contract", {{{9, 17}}, {{17, 19}}}, letters("ik", "kj", "ij")},
      {"contract", {{{2, 9, 17}}, {{17, 19}}}, letters("bik", "kj", "bij")},
      {"contract", {{{2, 9, 3, 17}}, {{2, 5, 3, 17}}}, letters("bihd", "bjhd", "bhij")},
      {"contract", {{{1, 9, 17}}, {{2, 17, 5}}}, letters("bik", "bkj", "bij")},
      {"contract", {{{17}}, {{17}}}, letters("k", "k", "")},
      {"contract", {{{5}}, {{7}}}, letters("i", "j", "ij")},
      {"contract", {{{5, 5}}, {{5}}}, letters("ii", "i", "i")},
      {"contract",
       {integers({9, 17}, 0, 255, Scalar::U8), integers({17, 5}, -128, 127, Scalar::I8)},
       letters("ik", "kj", "ij")},
      {"attention",
       {{{2, 3, 5, 8}}, {{2, 3, 6, 8}}, {{2, 3, 6, 4}}, {{5, 6}}},
       {{"q", text("bhid")},
        {"k", text("bhjd")},
        {"v", text("bhje")},
        {"out", text("bihe")},
        {"scale", 0.5}}},
      {"attention",
       {{{5, 2, 3, 8}}, {{6, 2, 8}}, {{6, 2, 4}}, bools({5, 6}), {{2, 1, 1, 6}}},
       {{"q", text("igrd")},
        {"k", text("jgd")},
        {"v", text("jge")},
        {"scores", text("grij")},
        {"out", text("igre")},
        {"hidden", -1e4}}},
      {"conv", {{{2, 3, 9}}, {{4, 3, 3}}}, {{"pad_begin", Shape{1}}}},
      {"conv",
       {{{1, 2, 5, 5, 4}}, {{3, 2, 3, 2, 1}}},
       {{"stride", Shape{2, 1, 1}}, {"pad_end", Shape{1, 0, 0}}}},
  };
  for (const int64_t last : {0, 1}) {
    const auto x = [&](int64_t c) {
      return Operand{last != 0 ? Shape{2, 7, 6, c} : Shape{2, c, 7, 6}};
    };
    const auto w = [&](int64_t a, int64_t b, int64_t k) {
      return Operand{last != 0 ? Shape{k, k, a, b} : Shape{b, a, k, k}};
    };
    const auto t = [&](int64_t a, int64_t b, int64_t k) {
      return Operand{last != 0 ? Shape{k, k, a, b} : Shape{a, b, k, k}};
    };
    const auto with = [&](Attributes attributes) {
      attributes.set("channels_last", last);
      return attributes;
    };
    cases.push_back(
        {"conv", {x(3), w(3, 4, 3)}, with({{"pad_begin", Shape{1, 1}}, {"pad_end", Shape{1, 1}}})});
    cases.push_back({"conv",
                     {x(4), w(2, 6, 3)},
                     with({{"groups", int64_t{2}},
                           {"stride", Shape{2, 1}},
                           {"dilation", Shape{1, 2}},
                           {"pad_end", Shape{2, 0}}})});
    cases.push_back(
        {"conv",
         {x(4), w(1, 4, 3)},
         with({{"groups", int64_t{4}}, {"pad_begin", Shape{1, 1}}, {"pad_end", Shape{1, 1}}})});
    cases.push_back(
        {"conv_transpose",
         {x(3), t(3, 4, 4)},
         with({{"stride", Shape{2, 2}}, {"pad_begin", Shape{1, 1}}, {"pad_end", Shape{1, 1}}})});
    cases.push_back(
        {"conv_transpose",
         {x(4), t(4, 3, 3)},
         with({{"groups", int64_t{2}}, {"stride", Shape{2, 1}}, {"output_padding", Shape{1, 0}}})});
    cases.push_back({"conv_transpose",
                     {x(2), t(2, 2, 3)},
                     with({{"stride", Shape{2, 1}}, {"dilation", Shape{2, 2}}})});
  }
  cases.push_back({"conv_winograd", {{{2, 7, 6, 4}}, {{6, 6, 4, 5}}}, {{"pad", int64_t{1}}}});
  cases.push_back({"conv_winograd", {{{1, 7, 9, 3}}, {{4, 4, 3, 8}}}});
  cases.push_back({"conv",
                   {{{1, 7, 6, 4}}, {{3, 3, 4}}},
                   {{"groups", int64_t{4}}, {"channels_last", int64_t{1}}}});
  return cases;
}

Constant draw(const Operand& operand, Rng& rng) {
  const TensorType type{.element = operand.element, .shape = operand.shape};
  std::vector<std::byte> bytes(static_cast<size_t>(type.bytes()));
  const auto steps = static_cast<int64_t>((operand.high - operand.low) / operand.step);
  for (int64_t k = 0; k < type.elements(); ++k) {
    const double value = operand.low + operand.step * static_cast<double>(rng.between(0, steps));
    ir::write_element(bytes.data(), type.element, k, ir::convert(value, type.element));
  }
  return Constant::of_bytes(type, std::move(bytes));
}

// The tolerance of a kernel: rounding of sums, and of the functions that it approximates.
double allowed(Scalar element, double expected) {
  const double unit = std::max(std::fabs(expected), 1.0);
  switch (element) {
    case Scalar::F16:
      return unit / 500;
    case Scalar::BF16:
      return unit / 60;
    case Scalar::F32:
      return unit * 2e-5;
    case Scalar::F64:
      return unit * 1e-11;
    default:
      return 0;
  }
}

class CompiledOperators : public testing::Test {
 protected:
  void check(const std::vector<Case>& cases) {
    for (size_t k = 0; k < cases.size(); ++k) {
      SCOPED_TRACE(cases[k].op + "(" + cases[k].attributes.to_string() + "), case " +
                   std::to_string(k));
      check(cases[k]);
    }
  }

 private:
  void check(const Case& one) {
    Rng rng(5);
    std::vector<std::optional<TensorType>> types;
    std::vector<Constant> operands;
    for (const Operand& operand : one.operands) {
      types.emplace_back();
      if (!operand.given) continue;
      operands.push_back(draw(operand, rng));
      types.back() = operands.back().type();
    }
    const auto dag = find_op(one.op)->define(one.attributes, types);
    ASSERT_TRUE(dag) << dag.error().message;
    const auto expected = evaluate(**dag, operands);
    ASSERT_TRUE(expected);
    const auto actual = execute_(**dag, operands);
    ASSERT_TRUE(actual) << actual.error().message;
    ASSERT_EQ(actual->size(), 1U);
    const TensorType& type = expected->front().type();
    ASSERT_EQ(actual->front().type(), type);
    for (int64_t k = 0; k < type.elements(); ++k) {
      const double wanted = expected->front().number(k), got = actual->front().number(k);
      if (std::isnan(wanted) && std::isnan(got)) continue;
      ASSERT_NEAR(got, wanted, allowed(type.element, wanted)) << "element " << k;
    }
  }

  Execute execute_ = deploy::execute_on(host_target(2));
};

TEST_F(CompiledOperators, Map) { check(map_cases()); }
TEST_F(CompiledOperators, Unary) { check(unary_cases()); }
TEST_F(CompiledOperators, Move) { check(move_cases()); }
TEST_F(CompiledOperators, Rows) { check(row_cases()); }
TEST_F(CompiledOperators, Heavy) { check(heavy_cases()); }

TEST_F(CompiledOperators, AllAreCovered) {
  std::set<std::string> named;
  for (const auto& cases : {map_cases(), unary_cases(), move_cases(), row_cases(), heavy_cases()}) {
    for (const Case& one : cases) named.insert(one.op);
  }
  for (const OpDef& op : all_ops()) EXPECT_TRUE(named.contains(std::string(op.name))) << op.name;
}

}  // namespace
}  // namespace tilewright::graph
