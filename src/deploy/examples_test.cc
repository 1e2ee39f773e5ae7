// The example programs, built by the machine's compilers against exported models, and run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "deploy/export.h"
#include "deploy/export_c.h"
#include "deploy/plans_testing.h"

namespace tilewright::deploy {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int status = -1;
  std::string words;  // of both streams
};

Outcome run(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char piece[512];
  while (std::fgets(piece, sizeof(piece), pipe) != nullptr) outcome.words += piece;
  const int raw = pclose(pipe);
  outcome.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  return outcome;
}

bool have(const std::string& program) {
  return run(fmt::format("command -v {}", program)).status == 0;
}

const std::string kSource = TILEWRIGHT_SOURCE_DIR;
constexpr const char* kStrict = "-O1 -Wall -Wextra -Werror";

// The first number that the small model gives for ones.
double first_of_ones(const ModelPlan& plan) {
  std::vector<std::byte> bytes(size_t{14} * 14 * 16 * 4);
  for (size_t at = 0; at < bytes.size(); at += 4) {
    const float one = 1;
    std::memcpy(&bytes[at], &one, 4);
  }
  const graph::Constant x = graph::Constant::of_bytes(f32({1, 14, 14, 16}), bytes);
  return small_model_result(plan, x)[0];
}

// The number after `y[0] = ` in the output of a program.
double said_first(const std::string& words) {
  const size_t at = words.find("y[0] = ");
  return at == std::string::npos ? NAN : std::strtod(words.c_str() + at + 7, nullptr);
}

TEST(Examples, TheCProgramOpensALibrary) {
  if (!have("cc")) GTEST_SKIP() << "no C compiler";
  const TestFolder folder;
  const ModelPlan plan = small_model();
  ASSERT_TRUE(export_shared(must_compile(plan), folder / "model.so").has_value());
  const std::string program = folder / "run_model";
  const Outcome built =
      run(fmt::format("cc -std=gnu11 {} -I {}/src/runtime/abi "
                      "{}/examples/c/main.c -o {} -ldl",
                      kStrict, kSource, kSource, program));
  ASSERT_EQ(built.status, 0) << built.words;
  const Outcome ran = run(fmt::format("{} {}", program, (folder / "model.so").string()));
  EXPECT_EQ(ran.status, 0) << ran.words;
  EXPECT_THAT(ran.words, HasSubstr("input x: f32 [1,14,14,16]"));
  EXPECT_THAT(ran.words, HasSubstr("output y: f32 [196,10]"));
  EXPECT_NEAR(said_first(ran.words), first_of_ones(plan), 1e-3);

  EXPECT_EQ(run(fmt::format("{} /nowhere.so", program)).status, 1);
  EXPECT_EQ(run(program).status, 2);
  // The program is also linked with the library itself, by the system linker.
  const Outcome linked =
      run(fmt::format("cc -std=gnu11 {0} -I {1}/src/runtime/abi "
                      "{1}/examples/c/main.c -o {2} {3} -ldl",
                      kStrict, kSource, program, (folder / "model.so").string()));
  EXPECT_EQ(linked.status, 0) << linked.words;
}

void expect_cpp_runs(const TestFolder& folder, const std::string& object) {
  const std::string program = folder / "run_model";
  const Outcome built =
      run(fmt::format("c++ -std=c++17 {} -I {} {}/examples/cpp/main.cc {} -o {} -pthread -ldl",
                      kStrict, folder.path().string(), kSource, object, program));
  ASSERT_EQ(built.status, 0) << built.words;
  const Outcome ran = run(program);
  EXPECT_EQ(ran.status, 0) << ran.words;
  EXPECT_THAT(ran.words, HasSubstr("model: 3 steps"));
}

TEST(Examples, TheCppProgramIsLinkedWithAnObject) {
  if (!have("c++")) GTEST_SKIP() << "no C++ compiler";
  for (const bool external : {false, true}) {
    const TestFolder folder;
    const Status done = export_object(must_compile(small_model()), folder / "model.o",
                                      {.external_weights = external});
    ASSERT_TRUE(done.has_value()) << done.error().message;
    expect_cpp_runs(folder, (folder / "model.o").string());
  }
}

TEST(Examples, TheCppProgramIsLinkedWithACSource) {
  for (const std::string compiler : {"gcc", "clang-19"}) {
    if (!have(compiler) || !have("c++")) continue;
    for (const bool external : {false, true}) {
      const TestFolder folder;
      const Status done = export_c(must_compile(small_model(), {.c_source = true}),
                                   folder / "model.c", {.external_weights = external});
      ASSERT_TRUE(done.has_value()) << done.error().message;
      const std::string object = folder / "model.o";
      const Outcome built = run(fmt::format("{} -std=gnu11 {} -march=native -c {} -o {}", compiler,
                                            kStrict, (folder / "model.c").string(), object));
      ASSERT_EQ(built.status, 0) << built.words;
      expect_cpp_runs(folder, object);
    }
  }
}

TEST(Examples, CSourceWithoutInputsHasNoUnusedParameters) {
  for (const std::string compiler : {"gcc", "clang-19"}) {
    if (!have(compiler)) continue;
    const TestFolder folder;
    Program program = must_compile(small_model(), {.c_source = true});
    program.inputs.clear();  // what is compiled is not run
    ASSERT_TRUE(export_c(program, folder / "model.c"));
    const Outcome built = run(
        fmt::format("{} -std=gnu11 {} -Wunused-const-variable -march=native -c {} -o {}", compiler,
                    kStrict, (folder / "model.c").string(), (folder / "model.o").string()));
    EXPECT_EQ(built.status, 0) << built.words;
  }
}

// Two models in one program share the run time and nothing else.
TEST(Examples, TwoModelsInOneProgram) {
  if (!have("cc")) GTEST_SKIP() << "no C compiler";
  const TestFolder folder;
  const ModelPlan plan = small_model();
  ASSERT_TRUE(export_object(must_compile(plan, {.name = "one"}), folder / "one.o").has_value());
  ASSERT_TRUE(export_object(must_compile(plan, {.name = "two"}), folder / "two.o").has_value());
  ASSERT_TRUE(export_c(must_compile(plan, {.name = "three", .c_source = true}), folder / "three.c")
                  .has_value());
  FILE* source = std::fopen((folder / "main.c").c_str(), "w");
  ASSERT_NE(source, nullptr);
  std::fputs(
      "#include <stdio.h>\n#include \"one.h\"\n#include \"two.h\"\n#include \"three.h\"\n"
      "static float x[14 * 14 * 16], y[ONE_OUTPUT_COUNT + 2][196 * 10];\n"
      "static int use(const TilewrightModelApi* api, float* to) {\n"
      "  TilewrightModel* model;\n"
      "  const void* in[] = {x};\n"
      "  void* out[] = {to};\n"
      "  if (api->create(api, 0, &model) != 0) return 1;\n"
      "  int code = api->run(model, in, out);\n"
      "  api->destroy(model);\n"
      "  return code;\n"
      "}\n"
      "int main(void) {\n"
      "  for (int k = 0; k < 14 * 14 * 16; ++k) x[k] = 1;\n"
      "  int bad = use(&one_model, y[0]) + use(&two_model, y[1]) + use(&three_model, y[2]);\n"
      "  printf(\"y[0] = %.6g equal %d\\n\", y[0][0], y[0][0] == y[1][0] && y[1][5] == y[2][5]);\n"
      "  return bad;\n"
      "}\n",
      source);
  std::fclose(source);
  const Outcome built =
      run(fmt::format("cd {} && cc -std=gnu11 {} -march=native main.c one.o two.o three.c -o main "
                      "-pthread -ldl",
                      folder.path().string(), kStrict));
  ASSERT_EQ(built.status, 0) << built.words;
  const Outcome ran = run((folder / "main").string());
  EXPECT_EQ(ran.status, 0) << ran.words;
  EXPECT_NEAR(said_first(ran.words), first_of_ones(plan), 1e-3);
  EXPECT_THAT(ran.words, HasSubstr(" equal 1"));
}

}  // namespace
}  // namespace tilewright::deploy
