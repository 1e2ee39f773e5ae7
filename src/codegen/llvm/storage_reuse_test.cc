// Buffers that share workspace: results are those of the interpreter, where each has its own.
#include <gtest/gtest.h>

#include <numeric>

#include "codegen/chain_testing.h"
#include "codegen/llvm/agreement_testing.h"
#include "codegen/workspace.h"

namespace tilewright::codegen {
namespace {

TEST(StorageReuse, AChainNeedsAFractionOfItsBuffers) {
  const ir::Function chain = make_chain();
  int64_t sum = 0;
  for (const ir::Buffer& buffer : chain.buffers) {
    if (buffer.scope != ir::Scope::Workspace) continue;
    sum += buffer.elements() * ir::bytes_of(buffer.element.scalar);
  }
  EXPECT_LT(plan_workspace(chain).shared, sum / 2);
  std::vector<float> in(2048);
  std::iota(in.begin(), in.end(), 0.0F);
  const std::vector<Bytes> arguments =
      run_both(chain, {bytes_of_values(in), Bytes(in.size() * sizeof(float))});
  ASSERT_EQ(arguments.size(), 2U);
  EXPECT_EQ(values_of_bytes<float>(arguments[1])[5], 15);  // ten stages, each adds one
}

}  // namespace
}  // namespace tilewright::codegen
