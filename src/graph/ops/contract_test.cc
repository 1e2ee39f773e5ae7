#include <cmath>

#include "graph/ops/testing.h"
#include "task/parse.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

Attributes letters(const std::string& a, const std::string& b, const std::string& out) {
  return {{"a", a}, {"b", b}, {"out", out}};
}

const Constant kA = f32({2, 3}, {1, 2, 3, 4, 5, 6});
const Constant kB = f32({3, 2}, {1, 0, 2, 1, -1, 3});

TEST(Contract, TransposedMatrixProducts) {
  const Numbers product = {2, 11, 8, 23};
  EXPECT_EQ(numbers(run("contract", letters("ik", "kj", "ij"), {kA, kB})), product);
  EXPECT_EQ(numbers(run("contract", letters("ik", "kj", "ji"), {kA, kB})), (Numbers{2, 8, 11, 23}));
  const Constant turned = run("transpose", {{"perm", Shape{1, 0}}}, {kB});
  EXPECT_EQ(numbers(run("contract", letters("ik", "jk", "ij"), {kA, turned})), product);
}

TEST(Contract, BatchesAndBroadcast) {
  const Constant a = f32({2, 1, 2}, {1, 2, 3, 4});
  const Constant b = f32({1, 2, 2}, {1, 10, 100, 1000});
  EXPECT_EQ(numbers(run("contract", letters("bik", "bkj", "bij"), {a, b})),
            (Numbers{201, 2010, 403, 4030}));
  EXPECT_EQ(
      numbers(run("contract", letters("bik", "kj", "bij"), {a, f32({2, 2}, {1, 10, 100, 1000})})),
      (Numbers{201, 2010, 403, 4030}));
}

TEST(Contract, SumsDiagonalsAndOuterProducts) {
  EXPECT_EQ(numbers(run("contract", letters("i", "j", "ij"), {f32({1, 2}), f32({3, 4})})),
            (Numbers{3, 4, 6, 8}));
  EXPECT_EQ(numbers(run("contract", letters("i", "i", ""), {f32({1, 2}), f32({3, 4})})),
            (Numbers{11}));
  EXPECT_EQ(numbers(run("contract", letters("ij", "", "j"), {kA, f32({}, {2})})),
            (Numbers{10, 14, 18}));
  const Constant square = f32({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(numbers(run("contract", letters("ii", "i", "i"), {square, f32({1, 10})})),
            (Numbers{1, 40}));
  EXPECT_EQ(numbers(run("contract", letters("iA", "Aa", "ia"), {kA, kB})), (Numbers{2, 11, 8, 23}));
}

TEST(Contract, NarrowIntegersHaveWideAccumulators) {
  const Constant a = constant(Scalar::U8, {1, 2}, {200, 200}),
                 b = constant(Scalar::I8, {2, 1}, {100, -50});
  const Constant y = run("contract", letters("ik", "kj", "ij"), {a, b});
  EXPECT_EQ(y.type().element, Scalar::I32);
  EXPECT_EQ(numbers(y), (Numbers{10000}));
}

TEST(Contract, HasTheKeyOfTheOperator) {
  const auto check = [](const Attributes& attributes, Shape a, Shape b, const std::string& text) {
    const auto dag = define("contract", attributes, {type_of(std::move(a)), type_of(std::move(b))});
    const auto known = parse_workload(text);
    ASSERT_TRUE(dag && known);
    EXPECT_EQ(make_workload(*dag, {}, "").key(), known->key()) << text;
  };
  check(letters("ik", "kj", "ij"), {16, 32}, {32, 8}, "matmul:m=16,n=8,k=32");
  check(letters("ik", "jk", "ij"), {16, 32}, {8, 32}, "matmul:m=16,n=8,k=32,transpose_b=1");
  check(letters("bik", "bkj", "bij"), {4, 16, 32}, {4, 32, 8}, "batch_matmul:b=4,m=16,n=8,k=32");
}

TEST(Contract, Mistakes) {
  const TensorType a = type_of({2, 3}), b = type_of({3, 2});
  EXPECT_EQ(error_of("contract", letters("i", "kj", "ij"), {a, b}),
            "contract: 'i' names 1 dimensions of f32[2,3]");
  EXPECT_EQ(error_of("contract", letters("ik", "jk", "ij"), {a, b}),
            "contract: k is 3 and 2 elements long");
  EXPECT_EQ(error_of("contract", letters("ik", "kj", "iz"), {a, b}),
            "contract: 'iz' should have letters of the operands, each once");
  EXPECT_NE(error_of("contract", letters("ik", "kj", "ii"), {a, b}), "");
  EXPECT_NE(error_of("contract", letters("i.", ".j", "ij"), {a, b}), "");
  EXPECT_NE(error_of("contract", letters("ik", "kj", "ij"), {a, type_of({3, 2}, Scalar::I32)}), "");
  EXPECT_NE(error_of("contract", letters("ik", "kj", "ij"),
                     {type_of({2, 3}, Scalar::Bool), type_of({3, 2}, Scalar::Bool)}),
            "");
  const int64_t huge = int64_t{1} << 30;
  EXPECT_NE(error_of("contract", letters("i", "j", "ij"), {type_of({huge}), type_of({huge})}), "");
}

TEST(Attention, IsSoftmaxOfProductsByValues) {
  const Constant q = random_numbers({1, 2, 3, 4}, 1), k = random_numbers({1, 2, 5, 4}, 2);
  const Constant v = random_numbers({1, 2, 5, 6}, 3), mask = random_numbers({1, 1, 3, 5}, 4);
  Constant scores = run("contract", letters("bhid", "bhjd", "bhij"), {q, k});
  scores = run("add", {}, {run("mul", {}, {scores, f32({}, {0.5})}), mask});
  const Constant expected =
      run("contract", letters("bhij", "bhje", "bihe"), {run("softmax", {}, {scores}), v});
  const Attributes attributes = {{"q", std::string("bhid")},
                                 {"k", std::string("bhjd")},
                                 {"v", std::string("bhje")},
                                 {"out", std::string("bihe")},
                                 {"scale", 0.5}};
  const Constant y = run("attention", attributes, {q, k, v, mask});
  EXPECT_EQ(y.type().shape, (Shape{1, 3, 2, 6}));
  expect_near(numbers(y), numbers(expected), 1e-5);
  Attributes wrong = attributes;
  wrong.set("out", std::string("bijh"));
  EXPECT_NE(error_of("attention", wrong, {q.type(), k.type(), v.type()}), "");
  wrong = attributes;
  wrong.set("scores", std::string("bhji"));  // the key is last
  EXPECT_NE(error_of("attention", wrong, {q.type(), k.type(), v.type()}), "");
  EXPECT_NE(error_of("attention", attributes, {q.type(), k.type(), v.type(), type_of({4, 5})}), "");
}

// Three heads for each of two keys and values; one mask hides, the other is added.
TEST(Attention, GroupedHeadsAndTwoMasks) {
  const Constant q = random_numbers({3, 2, 3, 4}, 1), k = random_numbers({5, 2, 4}, 2);
  const Constant v = random_numbers({5, 2, 6}, 3), added = random_numbers({1, 5}, 4);
  const Constant seen =
      constant(Scalar::Bool, {3, 5}, {1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1});
  Constant scores = run("contract", letters("igrd", "jgd", "grij"), {q, k});
  scores = run("where", {}, {seen, scores, f32({}, {-1e30})});
  scores = run("add", {}, {scores, added});
  const Constant expected =
      run("contract", letters("grij", "jge", "igre"), {run("softmax", {}, {scores}), v});
  Attributes attributes = {{"q", std::string("igrd")},      {"k", std::string("jgd")},
                           {"v", std::string("jge")},       {"out", std::string("igre")},
                           {"scores", std::string("grij")}, {"hidden", -1e30}};
  expect_near(numbers(run("attention", attributes, {q, k, v, seen, added})), numbers(expected),
              1e-5);
  attributes.set("visible", int64_t{0});
  const Constant unseen = run("not", {}, {seen});
  expect_near(numbers(run("attention", attributes, {q, k, v, unseen, added})), numbers(expected),
              1e-5);
}

}  // namespace
}  // namespace tilewright::graph
