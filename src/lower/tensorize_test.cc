#include "lower/tensorize.h"

#include <gtest/gtest.h>

#include "lower/pass_test.h"
#include "lower/pipeline.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::lower {
namespace {

using enum ir::Scalar;

// for l, for f: C[c] = C[c] + a * b, with indices over l and f.
class Dots : public Kernel {
 public:
  ir::BufferId a, b, c;
  const ir::Expr l = ir::var("l"), f = ir::var("f"), k = ir::var("k");

  explicit Dots(ir::Scalar a_type = U8, ir::Scalar b_type = I8, ir::Scalar sum = I32)
      : a(argument("A", {256}, {a_type, 1})),
        b(argument("B", {4096}, {b_type, 1})),
        c(argument("C", {64}, {sum, 1})),
        sum_(sum) {}

  ir::Expr factor(ir::BufferId buffer, const ir::Expr& index) const {
    return ir::cast(sum_, load(buffer, {index}));
  }

  void fold(int64_t lanes, int64_t factors, const ir::Expr& c_index, const ir::Expr& value) {
    const ir::Stmt store = ir::make_store(c, {c_index}, load(c, {c_index}) + value);
    const Name name(sum_ == F32 ? "avx512_bf16_dot" : "vnni_dot_u8i8");
    function.body =
        loop(k, 3, loop(l, lanes, loop(f, factors, store), ir::ForKind::Tensorized, name));
  }

 private:
  ir::Scalar sum_;
};

TEST(Tensorize, WholeTilesAreDotProducts) {
  Dots kernel;
  const auto& [l, f, k] = std::tie(kernel.l, kernel.f, kernel.k);
  kernel.fold(16, 4, l + 32,
              kernel.factor(kernel.a, k * 4 + f) * kernel.factor(kernel.b, k * 64 + l * 4 + f));
  EXPECT_EQ(kernel.text(), R"(for k < 3:
  tensorize vnni_dot_u8i8 for l < 16:
    for f < 4:
      C[l + 32] = C[l + 32] + i32(A[k * 4 + f]) * i32(B[k * 64 + l * 4 + f])
)");
  EXPECT_EQ(kernel.after(tensorize), R"(for k < 3:
  C[ramp(32, 1, 16)] = dot(C[ramp(32, 1, 16)], A[ramp(k * 4, 1, 4)], B[ramp(k * 64, 1, 64)])
)");
}

TEST(Tensorize, FactorsInEitherOrder) {
  Dots kernel(BF16, BF16, F32);
  const auto& [l, f, k] = std::tie(kernel.l, kernel.f, kernel.k);
  kernel.fold(16, 2, l,
              kernel.factor(kernel.b, k * 32 + l * 2 + f) * kernel.factor(kernel.a, k * 2 + f));
  EXPECT_EQ(kernel.after(tensorize), R"(for k < 3:
  C[ramp(0, 1, 16)] = dot(C[ramp(0, 1, 16)], A[ramp(k * 2, 1, 2)], B[ramp(k * 32, 1, 32)])
)");
}

// If extents, types or positions differ, lanes are vectorized.
TEST(Tensorize, UnmatchedLoopsAreVectorized) {
  struct Case {
    const char* name;
    std::function<void(Dots&)> make;
  };
  const auto product = [](const Dots& d, const ir::Expr& a, const ir::Expr& b) {
    return d.factor(d.a, a) * d.factor(d.b, b);
  };
  const std::vector<Case> cases = {
      {"fewer lanes", [&](Dots& d) { d.fold(6, 4, d.l, product(d, d.f, d.l * 4 + d.f)); }},
      {"fewer factors", [&](Dots& d) { d.fold(16, 2, d.l, product(d, d.f, d.l * 4 + d.f)); }},
      {"b by columns", [&](Dots& d) { d.fold(16, 4, d.l, product(d, d.f, d.f * 16 + d.l)); }},
      {"b wraps", [&](Dots& d) { d.fold(16, 4, d.l, product(d, d.f, (d.l * 4 + d.f) % 48)); }},
      {"a by lanes", [&](Dots& d) { d.fold(16, 4, d.l, product(d, d.f + d.l, d.l * 4 + d.f)); }},
      {"c strided", [&](Dots& d) { d.fold(16, 4, d.l * 2, product(d, d.f, d.l * 4 + d.f)); }},
      {"guarded",
       [&](Dots& d) {
         d.fold(16, 4, d.l,
                ir::select(d.f < 3, product(d, d.f, d.l * 4 + d.f), ir::int_imm(0, {I32, 1})));
       }},
  };
  for (const Case& c : cases) {
    Dots kernel;
    c.make(kernel);
    std::string expected = kernel.text();
    const std::string_view marked = "tensorize vnni_dot_u8i8";
    expected.replace(expected.find(marked), marked.size(), "vectorize");
    EXPECT_EQ(kernel.after(tensorize), expected) << c.name;
  }
}

TEST(Tensorize, OtherLoopsAreUnchanged) {
  Kernel kernel;
  const ir::BufferId c = kernel.argument("C", {16});
  const ir::Expr i = ir::var("i");
  kernel.function.body = loop(i, 16, ir::make_store(c, {i}, ir::float_imm(1, ir::kF32)));
  EXPECT_TRUE(kernel.unchanged_by(tensorize));
}

Result<ir::Function> lowered(std::string_view workload_text, std::string_view steps,
                             std::string_view target, FloatPermissions permissions = {}) {
  const Workload workload = *parse_workload(workload_text, permissions);
  const schedule::LoopTree initial = *schedule::initial_tree(workload);
  const schedule::Trace trace = *schedule::trace_from_text(steps);
  const schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));
  return lower(workload, *parse_target(target), tree, trace);
}

constexpr std::string_view kVnni = "x86-64-v4:avx512vnni;threads=1";
constexpr std::string_view kBytes = "matmul:m=2,n=40,k=10,dtype=u8,dtype_b=i8,constant=B";
constexpr std::string_view kTile =
    "cache_write C\nsplit C j [16]\nreorder C [j.0, i, j.1]\ncompute_at C.write C j.0\n"
    "split C.write k [4]\nreorder C.write [k.0, i, j, k.1]\nannotate C.write i unroll\n"
    "annotate C i unroll\nannotate C j.1 vectorize\npack B C.write\n"
    "tensorize C.write j vnni_dot_u8i8\n";

// Sums stay in registers over the reduction, also where its last factors are folded one by one.
TEST(Tensorize, AccumulatorsAreRegisters) {
  const Result<ir::Function> function = lowered(kBytes, kTile, kVnni);
  ASSERT_TRUE(function) << function.error().message;
  const std::string text = ir::to_string(*function);
  EXPECT_NE(text.find("C.write.0[0] = dot(C.write.0[0], A[ramp("), std::string::npos) << text;
  EXPECT_NE(text.find("C.write.1[0] = dot(C.write.1[0], A[ramp("), std::string::npos) << text;
  EXPECT_EQ(text.find("tensorize"), std::string::npos) << text;
}

// Tiles that lie inside of the tiles of a layout, or in several without gaps between them.
TEST(Tensorize, LegalTilesAreDotProducts) {
  for (const char* layout : {"split C j [16]\nreorder C [j.0, i, j.1]\n",
                             "split C j [48]\nreorder C [j.0, i, j.1]\n", "split C j [24]\n"}) {
    const Result<ir::Function> function =
        lowered("matmul:m=8,n=96,k=32,dtype=u8,dtype_b=i8,constant=B",
                "cache_write C\n" + std::string(layout) +
                    "pack C.write C\nsplit C.write j [16]\nsplit C.write k [4]\n"
                    "reorder C.write [i, j.0, k.0, j.1, k.1]\npack B C.write\n"
                    "tensorize C.write j.1 vnni_dot_u8i8\n",
                kVnni);
    ASSERT_TRUE(function) << function.error().message;
    const std::string text = ir::to_string(*function);
    EXPECT_NE(text.find("= dot("), std::string::npos) << text;
    EXPECT_EQ(text.find("i32(A["), std::string::npos) << text;  // no product by itself
  }
}

TEST(Tensorize, TheTargetMustHaveTheInstruction) {
  const Result<ir::Function> function = lowered(kBytes, kTile, "x86-64-v4;threads=1");
  ASSERT_FALSE(function);
  EXPECT_EQ(function.error().kind, ErrorKind::Unsupported);
  EXPECT_TRUE(function.error().message.starts_with(
      "C.write is tensorized by vnni_dot_u8i8, which needs the CPU feature avx512vnni; the target "
      "x86-64:"))
      << function.error().message;
}

TEST(Tensorize, FloatsAreContracted) {
  const std::string steps =
      "split C j [16]\nsplit C k [2]\nreorder C [i, j.0, k.0, j.1, k.1]\npack B C\n"
      "tensorize C j.1 avx512_bf16_dot";
  const std::string_view floats = "matmul:m=2,n=32,k=8,dtype=bf16,constant=B";
  const std::string_view target = "x86-64-v4:avx512bf16;threads=1";
  EXPECT_TRUE(lowered(floats, steps, target));
  const Result<ir::Function> function = lowered(floats, steps, target, {.contract = false});
  ASSERT_FALSE(function);
  EXPECT_EQ(function.error().message,
            "C is tensorized by avx512_bf16_dot, which rounds a product and its addition once; "
            "this workload does not allow that (permission contract)");
}

}  // namespace
}  // namespace tilewright::lower
