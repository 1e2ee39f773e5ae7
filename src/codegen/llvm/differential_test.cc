// Random expressions: LLVM = interpreter, bit for bit. TILEWRIGHT_RANDOM_PROGRAMS and
// TILEWRIGHT_RANDOM_SEED give the long form: --gtest_filter=Differential.* with more programs.
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/llvm/agreement_testing.h"
#include "codegen/random_program_testing.h"

namespace tilewright::codegen {
namespace {

using namespace ir;  // NOLINT(google-build-using-namespace)

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Differential, RandomExpressions) {
  const uint64_t programs = setting("TILEWRIGHT_RANDOM_PROGRAMS", 200);
  const uint64_t seed = setting("TILEWRIGHT_RANDOM_SEED", 1);
  const Target host = host_target(2);
  const Target narrow = make_target(host.cpu()->features.without(Feature::Avx512f), 2);
  for (uint64_t k = 0; k < programs; ++k) {
    SCOPED_TRACE("seed " + std::to_string(seed + k));
    Rng rng(seed + k);
    const RandomProgram program = random_program(rng);
    run_both(program.function, program.arguments, k % 4 == 3 ? narrow : host, 2);
    if (HasFailure()) return;
  }
}

// The same with denormals that count as zero, in a quarter of the inputs.
TEST(Differential, RandomExpressionsThatFlush) {
  const uint64_t programs = setting("TILEWRIGHT_RANDOM_PROGRAMS", 200);
  const uint64_t seed = setting("TILEWRIGHT_RANDOM_SEED", 1);
  const Target host = host_target(2);
  const Target narrow = make_target(host.cpu()->features.without(Feature::Avx512f), 2);
  for (uint64_t k = 0; k < programs; ++k) {
    SCOPED_TRACE("seed " + std::to_string(seed + k));
    Rng rng(seed + k);
    const RandomProgram program = random_program(rng, false);
    run_both(program.function, program.arguments, k % 4 == 3 ? narrow : host, 2);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tilewright::codegen
