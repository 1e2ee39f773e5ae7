#include "deploy/kernel_facts.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "deploy/export.h"
#include "deploy/export_c.h"
#include "deploy/plans_testing.h"
#include "deploy/runner.h"
#include "runtime/abi/model_table.h"
#include "runtime/host/model_library.h"
#include "schedule/apply.h"
#include "schedule/program_hash.h"
#include "task/parse.h"

namespace tilewright::deploy {
namespace {

KernelFacts facts_of(std::string_view text, std::string_view trace = "") {
  const Task task{.workload = parse_workload(text).value(), .target = host_target(2)};
  const schedule::LoopTree initial = schedule::initial_tree(task.workload).value();
  const schedule::Trace steps = schedule::trace_from_text(trace).value();
  return kernel_facts(task, schedule::apply_or_explain(initial, steps).value());
}

TEST(KernelFacts, CountTheOperandsByTheirRoles) {
  const KernelFacts facts = facts_of("matmul:m=8,n=6,k=7,constant=B");
  EXPECT_EQ(facts.flop, 2.0 * 8 * 6 * 7);
  EXPECT_EQ(facts.read_bytes, 4 * 8 * 7);
  EXPECT_EQ(facts.constant_bytes, 4 * 7 * 6);
  EXPECT_EQ(facts.written_bytes, 4 * 8 * 6);
  EXPECT_FALSE(facts.elementwise);
  EXPECT_TRUE(facts_of("elementwise:shape=8,chain=relu").elementwise);
}

// Taps read an element several times: it counts once.
TEST(KernelFacts, CountNoElementTwice) {
  const KernelFacts facts = facts_of("conv2d:n=1,h=9,w=9,ci=4,co=8,kernel=3,pad=1,constant=W");
  EXPECT_EQ(facts.read_bytes, 4 * 9 * 9 * 4);
  EXPECT_EQ(facts.constant_bytes, 4 * 3 * 3 * 4 * 8);
}

// Three rows of a table of 1000, and their indices.
TEST(KernelFacts, CountThePartThatIsRead) {
  const KernelFacts facts = facts_of("gather:shape=1000x16,axis=0,indices=3");
  EXPECT_EQ(facts.read_bytes, 4 * 3 * 16 + 8 * 3);
  EXPECT_EQ(facts.written_bytes, 4 * 3 * 16);
}

TEST(KernelFacts, NameTheirTaskAndProgram) {
  const std::string text = "matmul:m=8,n=6,k=7";
  const KernelFacts plain = facts_of(text), split = facts_of(text, "split C i [4]\n");
  const Task task{.workload = parse_workload(text).value(), .target = host_target(2)};
  const schedule::LoopTree initial = schedule::initial_tree(task.workload).value();
  const schedule::LoopTree tree = schedule::apply_or_explain(initial, {}).value();
  EXPECT_EQ(plain.task, task.key());
  EXPECT_EQ(plain.program, schedule::program_hash(tree, task.target));
  EXPECT_EQ(split.task, plain.task);
  EXPECT_NE(split.program, plain.program);
}

void expect_facts(const TilewrightModelTable& table, const Program& program) {
  ASSERT_EQ(table.version, TILEWRIGHT_TABLE_VERSION);
  ASSERT_EQ(table.kernel_count, 3);
  EXPECT_EQ(table.facts[0].elementwise, 0);
  EXPECT_EQ(table.facts[1].elementwise, 1);
  const TilewrightTableFacts& product = table.facts[2];
  EXPECT_EQ(product.flop, 2.0 * 196 * 10 * 32);
  EXPECT_EQ(product.constant_bytes, 4 * 32 * 10);
  EXPECT_EQ(product.read_bytes, 4 * 196 * 32);
  EXPECT_EQ(product.written_bytes, 4 * 196 * 10);
  const KernelFacts& facts = program.kernels[2].facts;
  EXPECT_EQ((Hash128{product.task[0], product.task[1]}), facts.task);
  EXPECT_EQ((Hash128{product.program[0], product.program[1]}), facts.program);
}

TEST(KernelFacts, AreInTheTableOfEveryForm) {
  const TestFolder folder;
  const Program program = must_compile(small_model(), {.c_source = true});
  const Runner runner = Runner::load(program).value();
  expect_facts(*runner.api().table, program);

  ASSERT_TRUE(export_shared(program, folder / "m.so"));
  const auto library = runtime::ModelLibrary::open(folder / "m.so");
  ASSERT_TRUE(library.has_value()) << library.error().message;
  expect_facts(*library->api().table, program);

  if (std::system("gcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no gcc";
  ASSERT_TRUE(export_c(program, folder / "c.c"));
  const std::string command = fmt::format("gcc -std=gnu11 -O0 -march=native -shared -fPIC {} -o {}",
                                          (folder / "c.c").string(), (folder / "c.so").string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  void* handle = dlopen((folder / "c.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const auto* api = static_cast<const TilewrightModelApi*>(dlsym(handle, "model_model"));
  ASSERT_NE(api, nullptr);
  expect_facts(*api->table, program);
  dlclose(handle);
}

}  // namespace
}  // namespace tilewright::deploy
