#include "heuristic/chain_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heuristic/nest_plan.h"
#include "schedule/testing.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

using schedule::testing::stage_of;
using schedule::testing::Workbench;

std::optional<Chain> chain_of(const LoopTree& tree) {
  for (const auto& [root, last] : plan_nests(tree, 4).pairs) {
    if (auto chain = find_chain(tree, root, last)) return chain;
  }
  return std::nullopt;
}

TEST(ChainPlan, AttentionIsOneChainOverQueries) {
  const Workbench bench("attention:b=2,heads=4,seq=16,dim=8");
  const LoopTree tree = bench.tree("");
  const auto chain = chain_of(tree);
  ASSERT_TRUE(chain.has_value());
  EXPECT_EQ(tree.stage(chain->root).name, stage_of("Y"));
  std::vector<std::string> products;
  for (const StageIndex product : chain->products) {
    products.push_back(tree.stage(product).name.text());
  }
  EXPECT_EQ(products, (std::vector<std::string>{"O", "C"}));
  for (const char* name : {"O", "R", "S", "E", "M", "C"}) {
    EXPECT_EQ(std::ranges::count(chain->members, tree.find_stage(stage_of(name))), 1) << name;
  }
  EXPECT_EQ(chain->members.size(), 6u);
  EXPECT_EQ(chain->shared, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(chain->rows, 2);
  EXPECT_EQ(chain->dim_of(tree.find_stage(stage_of("C")), 2), 2);
  EXPECT_EQ(chain->row_bytes, 16 * 4);
}

TEST(ChainPlan, SingleReductionHasNoPlan) {
  for (const char* text :
       {"softmax:m=64,n=64", "transpose_batch_matmul_softmax:b=1,heads=4,seq=16,dim=8",
        "conv2d_bias_bn_relu:n=1,h=8,w=8,ci=4,co=8,kernel=3,pad=1",
        "conv2d_winograd:n=1,h=28,w=28,ci=16,co=16,pad=1"}) {
    const Workbench bench(text);
    EXPECT_FALSE(chain_of(bench.tree("")).has_value()) << text;
  }
}

}  // namespace
}  // namespace tilewright::heuristic
