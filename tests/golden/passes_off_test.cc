// The programs of tests/golden with one pass left out (with `flatten` also those that need it):
// slower code, the same results. Loops that
// `vectorize` or `unroll` would have removed run as serial ones in every engine; functions that
// `expand_functions` would have removed are an error of the back ends, and of nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "codegen/c/agreement_testing.h"
#include "codegen/c/emit_c.h"
#include "codegen/llvm/compile.h"
#include "golden_program.h"
#include "ir/print.h"

namespace tilewright::testing {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> names_to_disable(const lower::Pass& without) {
  std::vector<std::string> names = {without.name};
  for (const lower::Pass& pass : lower::cpu_passes()) {
    if (names[0] == "flatten" && pass.needs_flat) names.emplace_back(pass.name);
  }
  return names;
}

// Its code without each pass that has something to do; none for passes that do not matter.
std::vector<std::pair<std::string, ir::Function>> without_each_pass(const GoldenProgram& program) {
  std::vector<std::pair<std::string, ir::Function>> variants;
  const std::string whole = ir::to_string(*program.lowered());
  for (const lower::Pass& pass : lower::cpu_passes()) {
    Result<ir::Function> function = program.lowered({.disabled = names_to_disable(pass)});
    EXPECT_TRUE(function.has_value()) << function.error().message;
    if (!function || ir::to_string(*function) == whole) continue;
    variants.emplace_back(pass.name, std::move(*function));
  }
  return variants;
}

void expect_refused(const ir::Function& function, const Target& target) {
  const auto object = codegen::compile_llvm(function, target);
  ASSERT_FALSE(object.has_value());
  EXPECT_EQ(object.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(object.error().message, HasSubstr("was not expanded by the pass expand_functions"));
  const auto source = codegen::emit_c({&function, 1}, target);
  ASSERT_FALSE(source.has_value());
  EXPECT_THAT(source.error().message, HasSubstr("was not expanded by the pass expand_functions"));
}

class PassesOff : public ::testing::TestWithParam<std::string> {};

TEST_P(PassesOff, EachAlone) {
  const Result<GoldenProgram> program = load_golden_program(GetParam());
  ASSERT_TRUE(program.has_value()) << program.error().message;
  if (const Status runs = check_runs_here(program->task.target); !runs) {
    GTEST_SKIP() << runs.error().message;
  }
  for (const auto& [pass, function] : without_each_pass(*program)) {
    SCOPED_TRACE("without " + pass);
    if (pass == "expand_functions") {
      expect_refused(function, program->task.target);
    } else {
      expect_right(*program, function);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, PassesOff, ::testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

TEST(PassesOffTogether, All) {
  lower::LowerOptions options;
  for (const lower::Pass& pass : lower::cpu_passes()) options.disabled.emplace_back(pass.name);
  std::erase(options.disabled, "expand_functions");
  for (const std::string& name : golden_names()) {
    SCOPED_TRACE(name);
    const Result<GoldenProgram> program = load_golden_program(name);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    if (const Status runs = check_runs_here(program->task.target); !runs) {
      GTEST_SKIP() << runs.error().message;
    }
    expect_right(*program, program->lowered(options).value());
  }
}

TEST(PassesOffInC, EachAlone) {
  codegen::Programs programs;
  std::set<std::string> passes;
  const Target target = *parse_target("x86-64-v4;threads=2");
  if (const Status runs = check_runs_here(target); !runs) GTEST_SKIP() << runs.error().message;
  for (const char* name : {"pack_copy", "tail_mask", "conv1d_pad_inlined", "layer_norm_stream",
                           "cast_saturate", "conv2d_winograd", "transpose_copy"}) {
    const Result<GoldenProgram> program = load_golden_program(name);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    for (auto& [pass, function] : without_each_pass(*program)) {
      if (pass == "expand_functions") continue;
      passes.insert(pass);
      programs.add(std::move(function), golden_operands(*program));
    }
  }
  for (const lower::Pass& pass : lower::cpu_passes()) {
    const std::string_view name = pass.name;
    const bool elsewhere = name == "expand_functions" || name == "tensorize";
    EXPECT_TRUE(elsewhere || passes.contains(pass.name)) << name;
  }
  programs.check({.compiler = "gcc", .flags = {"-O1"}}, target);
}

}  // namespace
}  // namespace tilewright::testing
