// Tables of tensor intrinsics other than the built-in one: rows that compute several rows of a
// matrix at once, and rows that compute the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "codegen/back_ends/build_kernel.h"
#include "ir/print.h"
#include "ir/visit.h"
#include "lower/pipeline.h"
#include "program_check.h"
#include "schedule/apply.h"
#include "schedule/intrinsics_testing.h"
#include "task/parse.h"
#include "te/dag_builder.h"

namespace tilewright::testing {
namespace {

using enum ir::Scalar;
using schedule::IntrinsicTable;
using schedule::TensorIntrinsic;

constexpr size_t kResult = TensorIntrinsic::kResult;

std::span<const TensorIntrinsic> toy_table() {
  static const std::array table = {
      schedule::testing::toy_tile(),
      TensorIntrinsic{Name("first_dot"), Capability::DotU8I8Lanes16,
                      schedule::dot_products(1, 16, 4, U8, I8, I32)},
      TensorIntrinsic{Name("second_dot"), Capability::DotU8I8Lanes16,
                      schedule::dot_products(1, 16, 4, U8, I8, I32)},
      TensorIntrinsic{Name("toy_i8i8"), Capability::DotU8I8Lanes16,
                      schedule::dot_products(1, 8, 4, I8, I8, I32)},
      TensorIntrinsic{Name("toy_u8u8"), Capability::DotU8I8Lanes16,
                      schedule::dot_products(1, 8, 4, U8, U8, I32)},
      TensorIntrinsic{Name("toy_f16"), Capability::DotU8I8Lanes16,
                      schedule::dot_products(1, 8, 4, F16, F16, F32)},
      // The shape of mma.m16n8k16: rows of all operands, those of b by columns.
      TensorIntrinsic{Name("toy_f16_tile"),
                      Capability::DotU8I8Lanes16,
                      schedule::dot_products(16, 8, 16, F16, F16, F32),
                      {{0, Name("r")}, {1, Name("l")}, {kResult, Name("r")}}},
      TensorIntrinsic{Name("toy_bf16"), Capability::DotU8I8Lanes16,
                      schedule::dot_products(1, 8, 4, BF16, BF16, F32)},
      TensorIntrinsic{Name("toy_f64"), Capability::DotU8I8Lanes16,
                      schedule::dot_products(1, 8, 4, F64, F64, F64)},
      schedule::testing::amx_tile(),
  };
  return table;
}

Task task_of(std::string_view text) {
  return {.workload = parse_workload(text).value(),
          .target = parse_target("x86-64-v4:avx512vnni;threads=1").value()};
}

struct Program {
  schedule::LoopTree tree;
  schedule::Trace trace;
};

Result<Program> program_of(const Task& task, std::string_view steps) {
  const schedule::LoopTree initial = TRY(schedule::initial_tree(task.workload, toy_table()));
  schedule::Trace trace = TRY(schedule::trace_from_text(steps));
  schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));
  return Program{std::move(tree), std::move(trace)};
}

// The intrinsics of the dot products of a function, and how many rows each has.
std::vector<std::pair<std::string, unsigned>> dots_of(const ir::Function& function) {
  class Dots : public ir::Visitor {
   public:
    using ir::Visitor::visit;
    std::vector<std::pair<std::string, unsigned>> found;
    void visit(const ir::Expr& expr) override {
      if (const auto* dot = expr.as<ir::Dot>()) {
        found.emplace_back(dot->intrinsic.text(), dot->rows);
      }
      ir::Visitor::visit(expr);
    }
  };
  Dots dots;
  dots.visit(function.body);
  return dots.found;
}

constexpr std::string_view kLines =
    "split C j [16]\nsplit C k [4]\nreorder C [i, j.0, k.0, j.1, k.1]\npack B C\n";
constexpr std::string_view kTiles =
    "split C i [2]\nsplit C j [16]\nsplit C k [4]\nreorder C [i.0, j.0, k.0, i.1, j.1, k.1]\n"
    "pack B C\ntensorize C i.1 toy_tile\n";

TEST(IntrinsicRows, NameSelectsBetweenEqualIntrinsics) {
  const Task task = task_of("matmul:m=3,n=32,k=8,dtype=u8,dtype_b=i8,constant=B");
  for (const std::string name : {"first_dot", "second_dot"}) {
    const Result<Program> program =
        program_of(task, std::string(kLines) + "tensorize C j.1 " + name);
    ASSERT_TRUE(program) << program.error().message;
    const Result<ir::Function> function =
        lower::lower(task.workload, task.target, program->tree, program->trace);
    ASSERT_TRUE(function) << function.error().message;
    const auto dots = dots_of(*function);
    ASSERT_FALSE(dots.empty());
    for (const auto& dot : dots) EXPECT_EQ(dot, (std::pair<std::string, unsigned>{name, 1}));
    ProgramChecker checker(task, 1);
    const auto failure = checker.check(program->tree, program->trace, {.compiled = false});
    EXPECT_FALSE(failure.has_value()) << failure->text;
  }
}

// Whole tiles, and tails of rows, lanes and factors.
TEST(IntrinsicRows, TilesOfTwoRows) {
  for (const char* text : {"matmul:m=4,n=32,k=8,dtype=u8,dtype_b=i8,constant=B",
                           "matmul:m=5,n=38,k=10,dtype=u8,dtype_b=i8,constant=B",
                           "matmul:m=3,n=17,k=5,dtype=u8,dtype_b=i8,constant=B"}) {
    const Task task = task_of(text);
    const Result<Program> program = program_of(task, kTiles);
    ASSERT_TRUE(program) << text << ": " << program.error().message;
    const Result<ir::Function> function =
        lower::lower(task.workload, task.target, program->tree, program->trace);
    ASSERT_TRUE(function) << text << ": " << function.error().message;
    const auto dots = dots_of(*function);
    ASSERT_FALSE(dots.empty()) << text << '\n' << ir::to_string(*function);
    for (const auto& dot : dots) EXPECT_EQ(dot, (std::pair<std::string, unsigned>{"toy_tile", 2}));
    ProgramChecker checker(task, 1);
    const auto failure = checker.check(program->tree, program->trace, {.compiled = false});
    EXPECT_FALSE(failure.has_value()) << text << ": " << failure->text;
  }
}

TEST(IntrinsicRows, LoopsAndLayoutsFollowTheTable) {
  struct Case {
    std::string steps;
    const char* says;
  };
  const Task task = task_of("matmul:m=4,n=32,k=8,dtype=u8,dtype_b=i8,constant=B");
  const std::string tiles(kTiles);
  const std::vector<Case> cases = {
      {std::string(kLines) + "tensorize C j.1 toy_tile",
       "toy_tile takes the place of the 3 innermost loops, 2 spatial and inside them 1 of the "
       "reduction, and j.1 is not the first of such 3"},
      {std::string(kLines) + "tensorize C j.1 vnni_dot_u8i8",
       "there is no intrinsic vnni_dot_u8i8; intrinsics are toy_tile, first_dot, second_dot, "
       "toy_i8i8, toy_u8u8, toy_f16, toy_f16_tile, toy_bf16, toy_f64, amx_tile"},
      {"split C i [4]\n" + tiles.substr(tiles.find('\n') + 1),
       "loop i.1 of C takes 4 values, and toy_tile has 2 in its place"},
      {"split C i [2]\nsplit C j [16]\nsplit C k [4]\nreorder C [i.0, j.0, k.0, i.1, j.1, k.1]\n"
       "tensorize C i.1 toy_tile",
       "but toy_tile needs 4; pack B"},
  };
  for (const Case& c : cases) {
    const Result<Program> program = program_of(task, c.steps);
    ASSERT_FALSE(program) << c.steps;
    EXPECT_NE(program.error().message.find(c.says), std::string::npos) << program.error().message;
  }
}

// Rows of every type that the loop IR has dot products of.
struct TypedRow {
  const char* name;
  std::string workload;
  std::string steps;
  unsigned rows = 1;
};

std::vector<TypedRow> typed_rows() {
  const auto lines = [](const char* name) {
    return fmt::format(
        "cache_write C\nsplit C.write j [8]\nsplit C.write k [4]\n"
        "reorder C.write [i, j.0, k.0, j.1, k.1]\npack B C.write\ntensorize C.write j.1 {}\n",
        name);
  };
  const auto matmul = [](const char* a, const char* b) {
    return fmt::format("matmul:m=3,n=19,k=10,dtype={},dtype_b={},constant=B", a, b);
  };
  const std::string loops =
      "cache_write C\nsplit C.write i [16]\nsplit C.write j [8]\nsplit C.write k [16]\n"
      "reorder C.write [i.0, j.0, k.0, i.1, j.1, k.1]\n";
  const std::string tiles = "tensorize C.write i.1 toy_f16_tile\n";
  return {
      {"toy_i8i8", matmul("i8", "i8"), lines("toy_i8i8")},
      {"toy_u8u8", matmul("u8", "u8"), lines("toy_u8u8")},
      {"toy_f16", matmul("f16", "f16"), lines("toy_f16")},
      {"toy_bf16", matmul("bf16", "bf16"), lines("toy_bf16")},
      {"toy_f64", matmul("f64", "f64"), lines("toy_f64")},
      {"toy_f16_tile", "matmul:m=18,n=17,k=34,dtype=f16,dtype_b=f16,constant=B",
       loops + "pack B C.write\n" + tiles, 16},
      {"toy_f16_tile", "matmul:m=18,n=17,k=34,dtype=f16,dtype_b=f16,transpose_b=1", loops + tiles,
       16},
  };
}

TEST(IntrinsicRows, AnySignednessAndEitherHalfFloat) {
  for (const TypedRow& row : typed_rows()) {
    const Task task = task_of(row.workload);
    const Result<Program> program = program_of(task, row.steps);
    ASSERT_TRUE(program) << row.name << ": " << program.error().message;
    const Result<ir::Function> function =
        lower::lower(task.workload, task.target, program->tree, program->trace);
    ASSERT_TRUE(function) << row.name << ": " << function.error().message;
    const auto dots = dots_of(*function);
    ASSERT_FALSE(dots.empty()) << row.name << '\n' << ir::to_string(*function);
    for (const auto& dot : dots) {
      EXPECT_EQ(dot, (std::pair<std::string, unsigned>{row.name, row.rows}));
    }
    ProgramChecker checker(task, 1);
    const auto failure = checker.check(program->tree, program->trace, {.compiled = false});
    EXPECT_FALSE(failure.has_value()) << row.name << ": " << failure->text;
  }
}

// A product whose second operand is stored like the tiles of AMX: groups of 4 factors, column after
// column. Rows of both are longer than those of a tile.
constexpr std::string_view kAmxTiles =
    "split acc r [16]\nsplit acc l [16]\nsplit acc g [16]\n"
    "reorder acc [r.0, l.0, g.0, r.1, l.1, g.1, f]\ntensorize acc r.1 amx_tile\n";

Task amx_task(const std::shared_ptr<const te::Dag>& dag) {
  return {.workload = make_workload(dag, {}, "a product in the layout of AMX"),
          .target = *parse_target("x86-64-v4:avx512vnni;threads=1")};
}

TEST(IntrinsicRows, AmxTiles) {
  for (const auto& [rows, lanes, groups] : {std::array<int64_t, 3>{32, 48, 32}, {20, 35, 19}}) {
    const Task task = amx_task(schedule::testing::amx_dag(rows, lanes, groups, 4 * groups));
    const Result<Program> program = program_of(task, kAmxTiles);
    ASSERT_TRUE(program) << program.error().message;
    const Result<ir::Function> function =
        lower::lower(task.workload, task.target, program->tree, program->trace);
    ASSERT_TRUE(function) << function.error().message;
    const auto dots = dots_of(*function);
    ASSERT_FALSE(dots.empty()) << ir::to_string(*function);
    for (const auto& dot : dots) EXPECT_EQ(dot, (std::pair<std::string, unsigned>{"amx_tile", 16}));
    ProgramChecker checker(task, 1);
    const auto failure = checker.check(program->tree, program->trace, {.compiled = false});
    EXPECT_FALSE(failure.has_value()) << failure->text;
  }
}

// Groups of b may have any stride. Those of a may not, though they are along the same axis.
TEST(IntrinsicRows, AnAxisIsStridedForOneOperandOnly) {
  te::DagBuilder builder;
  const te::TensorId a = builder.placeholder("a", {32, 16, 8}, U8);  // 4 of 8 factors are used
  const te::TensorId b = builder.placeholder("b", {16, 16, 4}, I8);
  const te::Axis r = builder.axis("r", 32), l = builder.axis("l", 16);
  const te::Axis g = builder.axis("g", 16), f = builder.axis("f", 4);
  builder.reduce("acc", {r, l}, {g, f}, ir::BinaryOp::Add,
                 ir::cast(I32, builder.read(a, {r.var, g.var, f.var})) *
                     ir::cast(I32, builder.read(b, {g.var, l.var, f.var})),
                 I32);
  const Task task = amx_task(std::move(builder).build());
  const Result<Program> program = program_of(task, kAmxTiles);
  ASSERT_FALSE(program);
  EXPECT_NE(
      program.error().message.find("values of loop g.1 are 8 elements apart in a, but amx_tile "
                                   "needs 4"),
      std::string::npos)
      << program.error().message;
}

TEST(IntrinsicRows, BackEndsReportUnsupportedIntrinsics) {
  std::vector<TypedRow> rows = typed_rows();
  const char* bytes = "matmul:m=4,n=32,k=8,dtype=u8,dtype_b=i8,constant=B";
  rows.push_back({"toy_tile", bytes, std::string(kTiles)});
  // The same types and lanes as a supported instruction, which does not replace it.
  rows.push_back({"first_dot", bytes, std::string(kLines) + "tensorize C j.1 first_dot"});
  for (const TypedRow& row : rows) {
    const Task task = task_of(row.workload);
    const Result<Program> program = program_of(task, row.steps);
    ASSERT_TRUE(program) << row.name << ": " << program.error().message;
    for (const codegen::BackEnd& back_end : codegen::all_back_ends()) {
      if (!back_end.makes_artifacts()) continue;
      const auto object =
          codegen::build_artifact(task, program->tree, program->trace, {.back_end = &back_end});
      ASSERT_FALSE(object) << back_end.name << ", " << row.name;
      EXPECT_EQ(object.error().kind, ErrorKind::Unsupported) << object.error().message;
      const std::string says = fmt::format("no instruction for the intrinsic {},", row.name);
      EXPECT_NE(object.error().message.find(says), std::string::npos) << object.error().message;
    }
  }
}

}  // namespace
}  // namespace tilewright::testing
