// A build worker with a faulty compiler, for fault injection: see faults_testing.h. Its first
// argument is that of any build worker; the path of the object file with the bad kernels is
// compiled in.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/file.h"
#include "measure/build_worker.h"
#include "measure/faults_testing.h"

namespace tilewright::measure::testing {
namespace {

// Deeper than any stack; written so that the compiler cannot prove that it does not end.
int overflow_stack(int depth) {
  volatile char large[65536];
  large[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow_stack(depth + 1) + large[0];
}

void misbehave(const schedule::Trace& trace) {
  const FaultRow* row = fault_of(trace);
  if (row == nullptr) return;
  switch (row->fault) {
    case Fault::CompilerLoops: {
      std::atomic<bool> endless = true;
      while (endless) {
      }
      break;
    }
    case Fault::CompilerTakesMemory: {
      std::vector<std::unique_ptr<char[]>> taken;
      while (true) taken.push_back(std::make_unique_for_overwrite<char[]>(size_t{64} << 20));
    }
    case Fault::CompilerAborts:
      std::abort();
    case Fault::CompilerCrashes: {
      volatile int* volatile nowhere = nullptr;
      *nowhere = 1;
      break;
    }
    case Fault::CompilerThrows:
      throw std::runtime_error("injected exception");
    case Fault::CompilerExits:
      std::fputs("injected last words\n", stderr);
      std::exit(9);
    case Fault::CompilerOverflowsStack:
      std::exit(overflow_stack(1));
    default:
      break;
  }
}

void replace_kernel(const schedule::Trace& trace, BuiltKernel& kernel) {
  const FaultRow* row = fault_of(trace);
  if (row == nullptr || row->kernel.empty()) return;
  const Result<std::string> object = read_file(TILEWRIGHT_BAD_KERNELS);
  if (!object) throw std::runtime_error(object.error().message);
  kernel.artifact.bytes.assign(object->begin(), object->end());
  kernel.artifact.entry = row->kernel;
}

}  // namespace
}  // namespace tilewright::measure::testing

int main(int argument_count, char** arguments) {
  namespace testing = tilewright::measure::testing;
  return tilewright::measure::build_worker_main(
      argument_count, arguments, {.before = testing::misbehave, .after = testing::replace_kernel});
}
