#include "graph/op_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/rng.h"

namespace tilewright::graph {
namespace {

TEST(OpTable, IsSortedAndSearchable) {
  const auto all = all_ops();
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &OpDef::name));
  for (const OpDef& op : all) {
    EXPECT_EQ(find_op(op.name), &op);
    EXPECT_LE(op.min_operands, op.max_operands);
  }
  EXPECT_EQ(find_op("frobnicate"), nullptr);
  EXPECT_EQ(find_op("conv")->work, Work::Heavy);
  EXPECT_EQ(find_op("reshape")->work, Work::View);
  EXPECT_GE(all.size(), 95U);
}

TEST(OpTable, ResultTypesOfADag) {
  const std::vector<std::optional<TensorType>> x = {
      TensorType{.element = ir::Scalar::F32, .shape = {2, 3}}};
  const auto dag = find_op("arg_reduce")->define({}, x);
  ASSERT_TRUE(dag);
  const auto types = result_types(**dag);
  ASSERT_TRUE(types);
  ASSERT_EQ(types->size(), 1U);
  EXPECT_EQ(types->front().to_string(), "i64[3]");
}

// --- attributes and shapes as a hostile file may have them ---

constexpr int64_t kIntegers[] = {0,
                                 1,
                                 1,
                                 2,
                                 2,
                                 3,
                                 4,
                                 -1,
                                 -2,
                                 7,
                                 64,
                                 2147483647,
                                 std::numeric_limits<int64_t>::max(),
                                 std::numeric_limits<int64_t>::min()};
constexpr int64_t kExtents[] = {1, 1, 2, 2, 3, 4, 5, 8, 0, 1 << 20, int64_t{1} << 34};
constexpr std::string_view kLists[] = {
    "shape",  "perm",   "begin",    "size",    "step",     "before",         "after", "repeats",
    "kernel", "stride", "dilation", "pad_end", "ceil_pad", "output_padding", "axes",  "pad_begin"};
constexpr std::string_view kFlags[] = {"axis",
                                       "keep",
                                       "last",
                                       "upper",
                                       "k",
                                       "depth",
                                       "groups",
                                       "batch_dims",
                                       "fmod",
                                       "exclusive",
                                       "log",
                                       "reverse",
                                       "p",
                                       "positive",
                                       "negative",
                                       "antialias",
                                       "exclude_outside",
                                       "count_include_pad",
                                       "channels_last"};
constexpr std::string_view kNumbers[] = {"alpha",   "beta", "gamma", "bias",    "lambd",
                                         "epsilon", "on",   "off",   "cubic_a", "extrapolation"};
constexpr std::string_view kTexts[] = {"kind",        "mode",     "direction",  "reduction",
                                       "coordinates", "rounding", "approximate"};
constexpr std::string_view kWords[] = {
    "sum",  "mean", "max", "min",    "l2",    "log_sum_exp", "average",    "lp",
    "none", "add",  "mul", "linear", "cubic", "nearest",     "edge",       "reflect",
    "left", "tanh", "",    "floor",  "zz",    "constant",    "half_pixel", "asymmetric"};
constexpr std::string_view kTypes[] = {"f32", "i64", "u8", "bool", "f16", "i8", "string"};

template <class T, size_t N>
const T& any_of(Rng& rng, const T (&pool)[N]) {
  return pool[static_cast<size_t>(rng.between(0, static_cast<int64_t>(N) - 1))];
}

Attributes random_attributes(Rng& rng, const OpDef& op, size_t rank) {
  Attributes attributes;
  const auto list = [&] {
    const int64_t off = rng.between(0, 9) == 0 ? rng.between(-2, 2) : 0;
    std::vector<int64_t> numbers(
        static_cast<size_t>(std::max<int64_t>(static_cast<int64_t>(rank) + off, 0)));
    const bool small = rng.between(0, 2) != 0;
    for (int64_t& one : numbers) one = small ? rng.between(0, 3) : any_of(rng, kIntegers);
    return numbers;
  };
  for (const std::string_view name : kLists) {
    if (rng.between(0, 2) != 0 || name == "shape") attributes.set(std::string(name), list());
  }
  for (const std::string_view name : kFlags) {
    if (rng.between(0, 2) == 0) attributes.set(std::string(name), any_of(rng, kIntegers));
  }
  // `size` is a list of slice and an integer of lrn, `to` a list of resize and a type elsewhere.
  if (op.name == "lrn") attributes.set("size", any_of(rng, kIntegers));
  if (op.name == "resize") {
    attributes.set("to", list());
    if (rng.between(0, 1) == 0) attributes.set("scales", std::string("1,0.5,2,1"));
    if (rng.between(0, 1) == 0) attributes.set("roi", std::string("0,0,0,1,1,nan"));
  } else {
    attributes.set("to", std::string(any_of(rng, kTypes)));
  }
  constexpr double kReals[] = {0,
                               1,
                               -1,
                               1e-5,
                               1e300,
                               std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};
  for (const std::string_view name : kNumbers) {
    if (rng.between(0, 2) == 0) attributes.set(std::string(name), any_of(rng, kReals));
  }
  for (const std::string_view name : kTexts) {
    if (rng.between(0, 1) == 0) attributes.set(std::string(name), std::string(any_of(rng, kWords)));
  }
  const auto letters = [&](size_t count) {
    std::string text;
    for (size_t k = 0; k < count; ++k) text += "abcdeZ."[rng.between(0, 6)];
    return text;
  };
  for (const char* name : {"a", "b", "out", "q", "v"}) attributes.set(name, letters(rank));
  if (op.name == "attention") {
    attributes.set("k", letters(rank));
    if (rng.between(0, 2) == 0) attributes.set("scores", letters(rank));
    if (rng.between(0, 2) == 0) attributes.set("hidden", any_of(rng, kReals));
  }
  return attributes;
}

TEST(OpTable, RandomNodesNeverCrash) {
  constexpr ir::Scalar kScalars[] = {ir::Scalar::F32, ir::Scalar::F32,  ir::Scalar::F16,
                                     ir::Scalar::I64, ir::Scalar::Bool, ir::Scalar::U8,
                                     ir::Scalar::U32};
  Rng rng(11);
  size_t fits = 0, tries = 0;
  for (const OpDef& op : all_ops()) {
    size_t of_this = 0;
    for (int k = 0; k < 400; ++k) {
      const auto rank = static_cast<size_t>(rng.between(0, 5));
      const ir::Scalar element = any_of(rng, kScalars);
      std::vector<int64_t> shape(rank);
      for (int64_t& extent : shape) {
        extent = rng.between(0, 3) == 0 ? any_of(rng, kExtents) : rng.between(1, 4);
      }
      std::vector<std::optional<TensorType>> operands;
      const size_t count =
          op.min_operands +
          static_cast<size_t>(rng.between(
              0, static_cast<int64_t>(std::min<size_t>(op.max_operands - op.min_operands, 2))));
      for (size_t o = 0; o < count; ++o) {
        TensorType type{.element = element, .shape = shape};
        if (rng.between(0, 3) == 0) type.element = any_of(rng, kScalars);
        if (o > 0 && rng.between(0, 1) == 0) {
          type.shape.resize(static_cast<size_t>(rng.between(0, 4)), any_of(rng, kExtents));
        }
        operands.emplace_back(std::move(type));
        if (o >= op.min_operands && rng.between(0, 3) == 0) operands.back() = std::nullopt;
      }
      const Attributes attributes =
          random_attributes(rng, op, rng.between(0, 1) == 0 || rank < 3 ? rank : rank - 2);
      ++tries;
      try {
        const auto dag = op.define(attributes, operands);
        if (dag) {
          ++of_this;
          const auto types = result_types(**dag);
          ASSERT_TRUE(types);
          for (const TensorType& type : *types) {
            for (const int64_t extent : type.shape) EXPECT_GE(extent, 1);
          }
          EXPECT_EQ((*dag)->inputs().size(),
                    static_cast<size_t>(std::ranges::count_if(
                        operands, [](const auto& operand) { return operand.has_value(); })));
        } else {
          EXPECT_FALSE(dag.error().message.empty());
        }
      } catch (const std::exception& problem) {
        std::string types;
        for (const auto& operand : operands) types += operand ? operand->to_string() + " " : "- ";
        FAIL() << op.name << " " << types << "(" << attributes.to_string()
               << "): " << problem.what();
      }
    }
    fits += of_this;
  }
  EXPECT_GT(fits * 10, tries);  // the draw is not all nonsense
}

}  // namespace
}  // namespace tilewright::graph
