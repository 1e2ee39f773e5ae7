// Denormals in compiled models, by value: a product of one is 0, or the denormal where the model
// keeps them, in every form that a model is exported in, on every thread, also on threads of the
// host program. The float control of the caller is the same before and after.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>

#include "base/file.h"
#include "deploy/export.h"
#include "deploy/export_c.h"
#include "deploy/plans_testing.h"
#include "deploy/runner.h"
#include "runtime/abi/float_control.h"
#include "runtime/abi/model_table.h"
#include "runtime/host/model_library.h"

namespace tilewright::deploy {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kRows = 512, kColumns = 128;
constexpr size_t kElements = kRows * kColumns;
constexpr float kDenormal = std::numeric_limits<float>::min() / 4;

// y = x / 2 in parallel, then z = y * 2: of a denormal 0, or the denormal. With schedules of
// `threads` threads.
Program halves(bool denormals, const CompileOptions& options = {}, int threads = 2) {
  PlanMaker maker({.denormals = denormals});
  maker.input("x", f32({kRows, kColumns}));
  const auto chain = [](const char* steps) {
    return fmt::format("elementwise:shape={}x{},chain={}", kRows, kColumns, steps);
  };
  maker.kernel(chain("scale(0.5)"), {"x", "y"});
  maker.kernel(chain("scale(2)+relu"), {"y", "z"});
  return must_compile(maker.finish({"z"}), options, threads);
}

uint32_t bits_of(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// The number of wrong elements in the result of denormals.
size_t wrong_of(const TilewrightModelApi& api, TilewrightModel* model, bool denormals) {
  const std::vector<float> in(kElements, kDenormal);
  std::vector<float> out(kElements, -1);
  const void* inputs[] = {in.data()};
  void* outputs[] = {out.data()};
  EXPECT_EQ(api.run(model, inputs, outputs), 0) << api.error(model);
  const uint32_t expected = denormals ? bits_of(kDenormal) : 0;
  size_t wrong = 0;
  for (const float one : out) wrong += bits_of(one) == expected ? 0 : 1;
  return wrong;
}

TEST(Denormals, CountAsZeroInARunOrAreKept) {
  for (const bool denormals : {false, true}) {
    const Program program = halves(denormals);
    const Result<Runner> runner = Runner::load(program);
    ASSERT_TRUE(runner.has_value()) << runner.error().message;
    EXPECT_EQ(runner->api().table->denormals, denormals ? 1 : 0);
    for (const uint64_t mode : {uint64_t{0}, TILEWRIGHT_FLOAT_FLUSH}) {  // of the caller
      const uint64_t usual = float_control();
      float_control_set_mode(mode);
      const uint64_t before = float_control();
      EXPECT_EQ(wrong_of(runner->api(), runner->model(), denormals), 0U);
      EXPECT_EQ(float_control(), before);
      float_control_set(usual);
    }
  }
}

struct Instance {
  const char* what;
  int32_t compiled_for, threads, flags;
};

// Numbers of threads other than that of the schedules, pinned or not: the tasks run on the caller
// alone, on spinning workers, and on workers that slept in between.
TEST(Denormals, CountAsZeroOrAreKeptWithAnyThreads) {
  constexpr Instance kInstances[] = {
      {"serial kernels", 1, 1, 0},
      {"serial kernels, idle workers", 1, 2, 0},
      {"parallel kernels, the caller alone", 2, 1, 0},
      {"fewer threads than tasks", 4, 2, TILEWRIGHT_MODEL_NO_PIN},
      {"more threads than tasks", 2, 4, TILEWRIGHT_MODEL_NO_PIN},
      {"pinned threads", 2, 2, TILEWRIGHT_MODEL_PIN_CALLER},
  };
  for (const bool denormals : {false, true}) {
    for (const Instance& one : kInstances) {
      const Program program = halves(denormals, {}, one.compiled_for);
      const Result<Runner> runner = Runner::load(program);
      ASSERT_TRUE(runner.has_value()) << runner.error().message;
      // In a thread, which is pinned in the place of this one.
      std::thread([&] {
        const auto instance = runtime::make_instance(
            runner->api(), {.threads = one.threads, .flags = one.flags, .weights_path = nullptr});
        ASSERT_TRUE(instance.has_value()) << instance.error().message;
        const uint64_t before = float_control();
        for (const int idle_ms : {0, 0, 5}) {
          std::this_thread::sleep_for(std::chrono::milliseconds(idle_ms));
          EXPECT_EQ(wrong_of(runner->api(), instance->get(), denormals), 0U) << one.what;
        }
        EXPECT_EQ(float_control(), before) << one.what;
      }).join();
    }
  }
}

// A model that flushes and one that keeps denormals, concurrently and alternately on one thread.
TEST(Denormals, TwoModelsInOneProcess) {
  const Program zero = halves(false), kept = halves(true);
  const Result<Runner> flushing = Runner::load(zero), keeping = Runner::load(kept);
  ASSERT_TRUE(flushing.has_value() && keeping.has_value());
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(wrong_of(flushing->api(), flushing->model(), false), 0U);
    EXPECT_EQ(wrong_of(keeping->api(), keeping->model(), true), 0U);
  }
  size_t wrong = 0;
  std::thread other([&] {
    for (int k = 0; k < 50; ++k) wrong += wrong_of(keeping->api(), keeping->model(), true);
  });
  for (int k = 0; k < 50; ++k) {
    EXPECT_EQ(wrong_of(flushing->api(), flushing->model(), false), 0U);
  }
  other.join();
  EXPECT_EQ(wrong, 0U);
}

TEST(Denormals, TheCallersControlIsRestoredAfterAnError) {
  const Program program = halves(false);
  const Result<Runner> runner = Runner::load(program);
  ASSERT_TRUE(runner.has_value()) << runner.error().message;
  const std::vector<float> in(kElements, kDenormal);
  std::vector<float> out(kElements);
  const void* inputs[] = {in.data()};
  void* outputs[] = {out.data()};
  const void* nothing[] = {nullptr};
  const uint64_t before = float_control();
  EXPECT_EQ(runner->api().run(runner->model(), nothing, outputs), TILEWRIGHT_MODEL_BAD_ARGUMENT);
  EXPECT_EQ(float_control(), before);

  // A kernel that fails during a run.
  TilewrightModelTable table = *runner->api().table;
  std::vector<TilewrightTableKernel> kernels(table.kernels, table.kernels + table.kernel_count);
  kernels[1].function = [](const TilewrightCall*) -> int32_t {
    return float_control_mode() == TILEWRIGHT_FLOAT_FLUSH ? TILEWRIGHT_STATUS_PARALLEL_FAILED : 9;
  };
  table.kernels = kernels.data();
  TilewrightModelApi api = runner->api();
  api.table = &table;
  const auto instance = runtime::make_instance(api, {});
  ASSERT_TRUE(instance.has_value()) << instance.error().message;
  EXPECT_EQ(api.run(instance->get(), inputs, outputs), TILEWRIGHT_MODEL_FAILED);
  EXPECT_THAT(api.error(instance->get()), HasSubstr("step 1"));
  EXPECT_THAT(api.error(instance->get()), HasSubstr("(status 1)"));
  EXPECT_EQ(float_control(), before);
  std::vector<int64_t> times(2);
  EXPECT_EQ(api.run_timed(instance->get(), inputs, outputs, times.data()), TILEWRIGHT_MODEL_FAILED);
  EXPECT_EQ(float_control(), before);
}

TEST(Denormals, InALibrary) {
  for (const bool denormals : {false, true}) {
    const TestFolder folder;
    const Status done = export_shared(halves(denormals), folder / "m.so");
    ASSERT_TRUE(done.has_value()) << done.error().message;
    const auto library = runtime::ModelLibrary::open(folder / "m.so");
    ASSERT_TRUE(library.has_value()) << library.error().message;
    const auto instance = runtime::make_instance(library->api(), {});
    ASSERT_TRUE(instance.has_value()) << instance.error().message;
    const uint64_t before = float_control();
    EXPECT_EQ(wrong_of(library->api(), instance->get(), denormals), 0U);
    EXPECT_EQ(float_control(), before);
  }
}

constexpr const char* kIncludes =
    "#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n"
    "#include \"kernel_abi.h\"\n#include \"kept.h\"\n#include \"zero.h\"\n";
// Runs the models zero and kept, with denormals as inputs. Prints the number of wrong elements, the
// number of tasks that its own threads have run, and whether a thread's float control changed.
constexpr const char* kHostProgram = R"(
static uint32_t control(void) {
  uint32_t word = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(word));
  return word;
}
static int changed = 0, foreign = 0;

#ifdef HOST_POOL
typedef struct { TilewrightTask task; void* context; int64_t first, end; int32_t worker; } Part;
static void* run_part(void* argument) {
  const Part* part = argument;
  const uint32_t before = control();
  for (int64_t k = part->first; k < part->end; ++k) part->task(part->context, k, part->worker);
  if (control() != before) __atomic_add_fetch(&changed, 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&foreign, (int)(part->end - part->first), __ATOMIC_RELAXED);
  return 0;
}
static pthread_t started; /* before any call: it has the float control of a new process */
static Part posted;
static int state; /* 1: posted, 2: done */
static void* serve(void* unused) {
  for (;;) {
    while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != 1) {}
    run_part(&posted);
    __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
  }
  return unused;
}
int32_t tilewright_parallel_for(void* pool, int32_t threads, int64_t iterations,
                                TilewrightTask task, void* context) {
  (void)pool;
  if (threads < 2) return 1;
  const Part other = {task, context, iterations / 2, iterations, 1};
  posted = other;
  __atomic_store_n(&state, 1, __ATOMIC_RELEASE);
  for (int64_t k = 0; k < iterations / 2; ++k) task(context, k, 0);
  while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != 2) {}
  return 0;
}
#endif

static float in[ELEMENTS], out[ELEMENTS];
static int wrong(const TilewrightModelApi* api, uint32_t expected) {
  TilewrightModel* model;
  const void* inputs[] = {in};
  void* outputs[] = {out};
  const uint32_t before = control();
  int count = 0;
  if (api->create(api, 0, &model) != 0 || api->run(model, inputs, outputs) != 0) return -1;
  if (control() != before) ++changed;
  api->destroy(model);
  for (int k = 0; k < ELEMENTS; ++k) {
    uint32_t bits;
    memcpy(&bits, &out[k], 4);
    count += bits != expected;
  }
  return count;
}
int main(void) {
  const uint32_t denormal = 0x00200000;
#ifdef HOST_POOL
  pthread_create(&started, 0, serve, 0);
#endif
  for (int k = 0; k < ELEMENTS; ++k) memcpy(&in[k], &denormal, 4);
  const int zero = wrong(&zero_model, 0), kept = wrong(&kept_model, denormal);
  printf("zero %d kept %d changed %d foreign %d\n", zero, kept, changed, foreign > 0);
  return 0;
}
)";

std::string said_by(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string words;
  char piece[512];
  while (pipe != nullptr && std::fgets(piece, sizeof(piece), pipe) != nullptr) words += piece;
  if (pipe != nullptr) pclose(pipe);
  return words;
}

class ExportedDenormals : public testing::TestWithParam<std::string> {};

TEST_P(ExportedDenormals, OnThreadsOfTheRuntimeAndOfTheHost) {
  if (std::system("command -v cc > /dev/null") != 0) GTEST_SKIP() << "no C compiler";
  const std::string extension = GetParam();
  const TestFolder folder;
  for (const bool denormals : {false, true}) {
    const std::string name = denormals ? "kept" : "zero";
    const bool source = extension == "c";
    // Like app::compile: a C source without artifacts.
    const Program program =
        halves(denormals, {.name = name, .c_source = source, .artifacts = !source});
    const std::filesystem::path file = folder / (name + "." + extension);
    const Status done = source ? export_c(program, file) : export_object(program, file);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  ASSERT_TRUE(
      write_file_atomically(folder / "main.c", std::string(kIncludes) + kHostProgram).has_value());
  for (const bool host_pool : {false, true}) {
    const std::string said = said_by(fmt::format(
        "cd {} && cc -std=gnu11 -O1 -Wall -Wextra -Werror -march=native -I {}/src/runtime/abi "
        "-DELEMENTS={} {} main.c zero.{} kept.{} -o main -pthread -ldl && ./main",
        folder.path().string(), TILEWRIGHT_SOURCE_DIR, kElements, host_pool ? "-DHOST_POOL" : "",
        extension, extension));
    EXPECT_EQ(said, fmt::format("zero 0 kept 0 changed 0 foreign {}\n", host_pool ? 1 : 0));
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, ExportedDenormals, testing::Values("o", "c"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace tilewright::deploy
