// How long code generation takes, by phase, and how fast the code is. Not a test: prints a table.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

#include "codegen/llvm/compile.h"
#include "codegen/llvm/microkernel_testing.h"
#include "runtime/host/buffer.h"
#include "runtime/host/kernel.h"
#include "runtime/host/thread_pool.h"
#include "runtime/host/timer.h"

namespace tilewright::codegen {
namespace {

double low(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 10];
}

int64_t resident_kib() {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  }
  return 0;
}

void report(const Microkernel& m, const Target& target) {
  const ir::Function f = make_microkernel(m);
  std::map<std::string, std::vector<double>> times;
  Result<runtime::KernelObject> object = compile_llvm(f, target);
  for (int k = 0; k < 61; ++k) {
    std::vector<PhaseTime> phases;
    object = compile_llvm(f, target, {.phases = &phases});
    for (const PhaseTime& phase : phases) times[phase.phase].push_back(phase.milliseconds);
    const int64_t start = runtime::thread_cpu_ns();
    const auto loaded = runtime::Kernel::load(*object);
    times["load"].push_back(static_cast<double>(runtime::thread_cpu_ns() - start) * 1e-6);
  }
  const auto kernel = runtime::Kernel::load(*object);
  runtime::AlignedBuffer a(f.buffers[0].elements() * 4);
  runtime::AlignedBuffer b(f.buffers[1].elements() * 4);
  runtime::AlignedBuffer c(f.buffers[2].elements() * 4);
  void* arguments[] = {a.data(), b.data(), c.data()};
  const TilewrightCall call{arguments, nullptr, nullptr, 1, 0};
  const auto timing = runtime::time_call([&] { (*kernel)(call); }, {.repeats = 50});
  fmt::print(
      "{:2}x{}x{:2} unroll {}: emit {:5.2f} promote {:5.2f} codegen {:6.2f} load {:5.3f} ms, "
      "{} bytes, {:6.1f} GFLOP/s\n",
      m.rows, m.columns, m.lanes, m.unroll, low(times["emit"]), low(times["promote"]),
      low(times["codegen"]), low(times["load"]), object->elf.size(),
      static_cast<double>(m.flop()) / timing.low());
}

// Each task waits for all others to have started, so every worker takes part.
void launch_cost() {
  runtime::ThreadPool& pool = runtime::ThreadPool::process();
  struct Meeting {
    std::atomic<int> arrived{0};
    int expected = 0;
  } meeting;
  meeting.expected = pool.threads();
  const TilewrightTask meet = [](void* context, int64_t, int32_t) {
    auto& here = *static_cast<Meeting*>(context);
    here.arrived.fetch_add(1);
    while (here.arrived.load() < here.expected) {
    }
  };
  const auto timing = runtime::time_call(
      [&] {
        meeting.arrived = 0;
        pool.parallel_for(pool.threads(), pool.threads(), meet, &meeting);
      },
      {.repeats = 50});
  fmt::print("parallel_for, all {} threads meeting: {:.2f} us\n", pool.threads(),
             timing.low() * 1e-3);
}

void memory_growth(const Target& target, int compiles) {
  const ir::Function f = make_microkernel({.rows = 4});
  for (int k = 0; k < 100; ++k) (void)compile_llvm(f, target);
  const int64_t before = resident_kib();
  for (int k = 0; k < compiles; ++k) {
    const auto object = compile_llvm(f, target);
    const auto kernel = runtime::Kernel::load(*object);
  }
  fmt::print("resident memory grew by {} KiB over {} compiles\n", resident_kib() - before,
             compiles);
}

}  // namespace
}  // namespace tilewright::codegen

int main(int argc, char** argv) {
  using namespace tilewright;           // NOLINT(google-build-using-namespace)
  using namespace tilewright::codegen;  // NOLINT(google-build-using-namespace)
  const Target target = host_target(1);
  if (argc > 1 && std::strcmp(argv[1], "asm") == 0) {
    std::string assembly;
    std::string llvm_ir;
    (void)compile_llvm(make_microkernel({}), target, {.llvm_ir = &llvm_ir, .assembly = &assembly});
    fmt::print("{}\n{}\n", llvm_ir, assembly);
    return 0;
  }
  report({}, target);
  report({.unroll = 1}, target);
  report({.rows = 6, .columns = 4}, target);
  report({.rows = 28, .columns = 1}, target);
  report({.rows = 4}, target);
  report({.rows = 6, .lanes = 8}, target);
  launch_cost();
  memory_growth(target, argc > 1 ? std::atoi(argv[1]) : 200);
}
