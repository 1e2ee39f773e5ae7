#include <gtest/gtest.h>

#include "codegen/llvm/agreement_testing.h"
#include "codegen/microkernel_testing.h"

namespace tilewright::codegen {
namespace {

Bytes numbers(int64_t count, int modulus) {
  std::vector<float> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(static_cast<float>(k * 7 % modulus - 5));
  return bytes_of_values(values);
}

TEST(Microkernel, AgreesWithTheInterpreter) {
  const Microkernel cases[] = {
      {.depth = 16, .blocks = 2},
      {.rows = 6, .lanes = 8, .depth = 12, .blocks = 3},
      {.rows = 3, .columns = 1, .lanes = 7, .unroll = 1, .depth = 5, .blocks = 1},
      {.rows = 4, .columns = 3, .lanes = 32, .unroll = 2, .depth = 8},
      {.depth = 8, .blocks = 9, .outer = ir::ForKind::Parallel},
  };
  for (const Microkernel& m : cases) {
    const ir::Function f = make_microkernel(m);
    const auto elements = [&](size_t k) { return f.buffers[k].elements(); };
    run_both(f, {numbers(elements(0), 13), numbers(elements(1), 11), numbers(elements(2), 3)},
             host_target(2), 2);
  }
}

// Accumulators stay in registers: the inner loop has no spills and every product is an fma.
TEST(Microkernel, AccumulatorsAreInRegisters) {
  const Target target = host_target(1);
  if (!target.has(Feature::Avx512f)) GTEST_SKIP() << "needs AVX-512";
  std::string assembly;
  ASSERT_TRUE(compile_llvm(make_microkernel({}), target, {.assembly = &assembly}).has_value());
  size_t fmas = 0;
  for (size_t at = assembly.find("vfmadd"); at != std::string::npos;
       at = assembly.find("vfmadd", at + 1)) {
    ++fmas;
  }
  EXPECT_EQ(fmas, 14U * 2 * 4);
  EXPECT_EQ(assembly.find("rsp)"), std::string::npos) << "a spill:\n" << assembly;
}

}  // namespace
}  // namespace tilewright::codegen
