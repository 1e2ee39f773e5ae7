// Tables of tensor intrinsics other than the built-in one: rows that compute several rows of a
// matrix at once, and rows that compute the same.
#include <gtest/gtest.h>

#include <array>

#include "codegen/back_ends/build_kernel.h"
#include "ir/print.h"
#include "ir/visit.h"
#include "lower/pipeline.h"
#include "program_check.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::testing {
namespace {

using enum ir::Scalar;
using schedule::IntrinsicTable;
using schedule::TensorIntrinsic;

std::span<const TensorIntrinsic> toy_table() {
  static const std::array table = {
      TensorIntrinsic{Name("toy_tile"),
                      Capability::DotU8I8Lanes16,
                      schedule::dot_products(2, 16, 4, U8, I8, I32),
                      {Name("r")}},
      TensorIntrinsic{Name("first_dot"), Capability::DotU8I8Lanes16,
                      schedule::dot_products(1, 16, 4, U8, I8, I32)},
      TensorIntrinsic{Name("second_dot"), Capability::DotU8I8Lanes16,
                      schedule::dot_products(1, 16, 4, U8, I8, I32)},
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

TEST(IntrinsicRows, TheNamedOneOfTwoThatComputeTheSame) {
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

// Whole tiles, and what tails of rows, lanes and factors leave of them.
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

TEST(IntrinsicRows, LoopsAndLayoutsAreThoseOfTheTable) {
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
       "there is no intrinsic vnni_dot_u8i8; intrinsics are toy_tile, first_dot, second_dot"},
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

TEST(IntrinsicRows, BackEndsSayWhichTheyHaveNot) {
  const Task task = task_of("matmul:m=4,n=32,k=8,dtype=u8,dtype_b=i8,constant=B");
  const Result<Program> program = program_of(task, kTiles);
  ASSERT_TRUE(program) << program.error().message;
  const auto object = codegen::build_artifact(task, program->tree, program->trace);
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().kind, ErrorKind::Unsupported) << object.error().message;
  EXPECT_NE(object.error().message.find("the target has no dot product of"), std::string::npos)
      << object.error().message;
}

}  // namespace
}  // namespace tilewright::testing
