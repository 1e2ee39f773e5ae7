// Each program of tests/golden has the same loops, loop IR and LLVM IR as when its file was
// accepted, and computes its definition. TILEWRIGHT_GOLDEN=update accepts the current code.
//
// Stored verdicts hold for one version of the code generator: where code differs and
// kCodeGeneratorVersion does not, it has to be raised.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "base/hash.h"
#include "codegen/llvm/compile.h"
#include "codegen/version.h"
#include "golden_program.h"
#include "ir/print.h"

namespace tilewright::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kRaise =
    "code differs: raise kCodeGeneratorVersion in src/codegen/version.h";
constexpr std::string_view kAccept =
    "accept it with TILEWRIGHT_GOLDEN=update build/release/tests/golden/tilewright_golden_test";

bool is_update() {
  const char* text = std::getenv("TILEWRIGHT_GOLDEN");  // NOLINT(concurrency-mt-unsafe)
  return text != nullptr && std::string_view(text) == "update";
}

Result<GoldenFile> generated(const GoldenProgram& program) {
  const ir::Function function = TRY(program.lowered());
  std::string llvm_ir;
  TRY(codegen::compile_llvm(function, program.task.target, {.llvm_ir = &llvm_ir}));
  GoldenFile file = program.file;
  file.version = codegen::kCodeGeneratorVersion;
  file.tree = program.tree.to_string();
  file.loop_ir = ir::to_string(function);
  file.llvm_ir = Hasher().add_text(llvm_ir).finish().hex() + "\n";
  return file;
}

bool code_differs(const GoldenFile& accepted, const GoldenFile& now) {
  return accepted.version != 0 &&
         (accepted.loop_ir != now.loop_ir || accepted.llvm_ir != now.llvm_ir);
}

// The message if a file differs from the generated code; otherwise empty.
std::string complaint(const GoldenFile& accepted, const GoldenFile& now) {
  if (accepted == now) return "";
  const bool raise = code_differs(accepted, now) && accepted.version == now.version;
  return fmt::format("{}{}{}\n", text_difference(to_text(accepted), to_text(now)),
                     raise ? fmt::format("{}, then ", kRaise) : "", kAccept);
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, CodeIsUnchanged) {
  const Result<GoldenProgram> program = load_golden_program(GetParam());
  ASSERT_TRUE(program.has_value()) << program.error().message;
  const Result<GoldenFile> now = generated(*program);
  ASSERT_TRUE(now.has_value()) << now.error().message;
  if (!is_update()) {
    const std::string text = complaint(program->file, *now);
    EXPECT_TRUE(text.empty()) << golden_path(GetParam()).string() << " " << text;
    return;
  }
  const bool raise = code_differs(program->file, *now) && program->file.version == now->version;
  if (raise) fmt::print("{}: {}\n", GetParam(), kRaise);
  const Status written = write_file_atomically(golden_path(GetParam()), to_text(*now));
  ASSERT_TRUE(written.has_value()) << written.error().message;
}

TEST_P(Golden, ComputesTheDefinition) {
  const Result<GoldenProgram> program = load_golden_program(GetParam());
  ASSERT_TRUE(program.has_value()) << program.error().message;
  if (const Status runs = check_runs_here(program->task.target); !runs) {
    GTEST_SKIP() << runs.error().message;
  }
  const Result<ir::Function> function = program->lowered();
  ASSERT_TRUE(function.has_value()) << function.error().message;
  expect_right(*program, *function);
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, ::testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

TEST(GoldenSet, CoversEveryStepAndEveryPass) {
  std::string traces;
  std::vector<lower::PassReport> reports;
  for (const std::string& name : golden_names()) {
    const Result<GoldenProgram> program = load_golden_program(name);
    ASSERT_TRUE(program.has_value()) << name << ": " << program.error().message;
    traces += "\n" + to_text(program->trace);
    ASSERT_TRUE(program->lowered({.disabled = {}, .report = &reports}).has_value());
  }
  for (const std::string_view word :
       {"split", "fuse", "reorder", "compute_at", "compute_inline", "compute_root", "cache_read",
        "cache_write", "pack", "rfactor", "follow_split", "follow_fused_split", "prefetch",
        "prefetch_next", "tensorize"}) {
    EXPECT_THAT(traces, HasSubstr(fmt::format("\n{} ", word)));
  }
  for (const std::string_view word : {" parallel\n", " vectorize\n", " unroll\n", " stream\n",
                                      "tail=mask", "tail=overlap", "tail=pad"}) {
    EXPECT_THAT(traces, HasSubstr(std::string(word)));
  }
  for (const lower::Pass& pass : lower::cpu_passes()) {
    EXPECT_TRUE(std::ranges::any_of(reports, [&](const lower::PassReport& report) {
      return report.pass == pass.name && report.changed;
    })) << pass.name;
  }
}

TEST(GoldenFile, RoundTrips) {
  const GoldenFile file{.version = 3,
                        .target = "x86-64-v3\n",
                        .operator_text = "matmul:m=1,n=1,k=1\n",
                        .trace = "# A line.\nreorder C [j, i]\n",
                        .tree = "C\n",
                        .loop_ir = "kernel():\n  C[0] = 1.0\n",
                        .llvm_ir = "00ff\n"};
  EXPECT_EQ(parse_golden_file(to_text(file)).value(), file);
  const GoldenFile by_hand =
      parse_golden_file("== target\nx86-64-v3\n== operator\nsoftmax:m=1,n=1\n").value();
  EXPECT_EQ(by_hand.version, 0);
  EXPECT_EQ(by_hand.operator_text, "softmax:m=1,n=1\n");
}

TEST(GoldenFile, MistakesAreReported) {
  const std::pair<std::string_view, std::string_view> mistakes[] = {
      {"", "there is no target"},
      {"== target\nx86-64-v3\n== trace\nreorder C [j, i]\n", "there is no operator"},
      {"split C i [2]\n", "'split C i [2]' stands before any section"},
      {"== steps\n",
       "there is no section 'steps'; sections are target, operator, trace, tree, loop ir"},
      {"== code generator one\n", "'== code generator one' names no version"}};
  for (const auto& [text, message] : mistakes) {
    const Result<GoldenFile> file = parse_golden_file(text);
    ASSERT_FALSE(file.has_value()) << text;
    EXPECT_THAT(file.error().message, HasSubstr(std::string(message)));
  }
}

TEST(GoldenFile, ErrorsNameTheNextStep) {
  const GoldenFile accepted{.version = 3,
                            .target = "x86-64-v3\n",
                            .operator_text = "matmul:m=1,n=1,k=1\n",
                            .trace = "",
                            .tree = "for i\n  C\n",
                            .loop_ir = "a\nb\nc\n",
                            .llvm_ir = "00\n"};
  EXPECT_EQ(complaint(accepted, accepted), "");

  GoldenFile now = accepted;
  now.loop_ir = "a\nx\ny\nc\n";
  EXPECT_EQ(complaint(accepted, now),
            fmt::format("line 12:\n- b\n+ x\n+ y\n{}, then {}\n", kRaise, kAccept));
  now.version = 4;
  EXPECT_THAT(complaint(accepted, now), Not(HasSubstr("raise")));

  now = accepted;
  now.llvm_ir = "01\n";
  EXPECT_THAT(complaint(accepted, now), HasSubstr(std::string(kRaise)));

  now = accepted;
  now.tree = "for i:\n  C\n";
  EXPECT_EQ(complaint(accepted, now), fmt::format("line 8:\n- for i\n+ for i:\n{}\n", kAccept));

  GoldenFile fresh = accepted;
  fresh.version = 0;
  fresh.loop_ir = "";
  EXPECT_THAT(complaint(fresh, accepted), Not(HasSubstr("raise")));
}

TEST(GoldenFile, LongDifferencesAreTruncated) {
  std::string many;
  for (int k = 0; k < 12; ++k) many += fmt::format("{}\n", k);
  EXPECT_EQ(text_difference("z\n", "z\n"), "");
  EXPECT_THAT(text_difference("z\n", many + "z\n"), HasSubstr("+ 7\n+ (4 more)\n"));
  EXPECT_EQ(text_difference("z\nz\n", "z\n"), "line 2:\n- z\n");
}

}  // namespace
}  // namespace tilewright::testing
