#include "schedule/steps/compute_root.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

TEST(ComputeRoot, Legal) {
  const std::string apart = R"(
for i < 4
  for j < 8
    T1 (4x8) <- X
for i < 4
  for j < 8
    Y (4x8) <- T1
)";
  check_legal({
      {"elementwise:shape=4x8,chain=relu+exp", "compute_at T1 Y i\n", "compute_root T1", apart},
      {"elementwise:shape=4x8,chain=relu+exp", "", "compute_root T1", apart},
      {"elementwise:shape=4x8,chain=relu+exp", "", "compute_root Y", apart},
  });
}

TEST(ComputeRoot, Illegal) {
  const std::string chain = "elementwise:shape=4x8,chain=relu+exp";
  check_illegal({
      {chain, "", "compute_root X", IllegalCode::StageIsInput, {"X is an input"}},
      {chain, "", "compute_root T7", IllegalCode::NoSuchStage, {"no stage T7", "X, T1, Y"}},
      {chain,
       "compute_inline T1\n",
       "compute_root T1",
       IllegalCode::StageIsInlined,
       {"T1 is inlined", "drop its compute_inline"}},
  });
}

}  // namespace
}  // namespace tilewright::schedule::testing
