// Random expressions: C = interpreter, bit for bit, by both compilers and with and without AVX-512.
// TILEWRIGHT_RANDOM_PROGRAMS and TILEWRIGHT_RANDOM_SEED widen the run.
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/c/agreement_testing.h"
#include "codegen/random_program_testing.h"

namespace tilewright::codegen {
namespace {

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);  // NOLINT: tests run single-threaded here
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

class RandomC : public ::testing::TestWithParam<const char*> {};

TEST_P(RandomC, Expressions) {
  const uint64_t count = setting("TILEWRIGHT_RANDOM_PROGRAMS", 45);
  const uint64_t seed = setting("TILEWRIGHT_RANDOM_SEED", 1);
  const Target host = host_target(2);
  const Target narrow = make_target(host.cpu()->features.without(Feature::Avx512f), 2);
  Programs wide_programs;
  Programs narrow_programs;
  for (uint64_t k = 0; k < count; ++k) {
    Rng rng(seed + k);
    RandomProgram program = random_program(rng, k % 2 == 0);
    (k % 3 == 2 ? narrow_programs : wide_programs)
        .add(std::move(program.function), std::move(program.arguments));
  }
  // Half the time of -O2, which other tests use.
  wide_programs.check({.compiler = GetParam(), .flags = {"-O1"}}, host);
  if (IsSkipped() || HasFailure()) return;
  narrow_programs.check({.compiler = GetParam(), .flags = {"-O1"}}, narrow);
}

INSTANTIATE_TEST_SUITE_P(Compilers, RandomC, ::testing::ValuesIn(kCompilers),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

}  // namespace
}  // namespace tilewright::codegen
