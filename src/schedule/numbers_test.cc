#include "schedule/numbers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

struct VarCase {
  std::string workload, steps, stage;
  std::string numbers;  // name:extent, then *stride of parts, /divisor of fused loops,
                        // %remainder of splits, and ~ where ragged
};

std::string numbers_text(const LoopTree& tree, std::string_view stage) {
  std::string out;
  for (const LoopVar& var : tree.vars) {
    if (var.stage != tree.find_stage(stage_of(stage))) continue;
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", var.name.text(), var.extent);
    if (var.origin == VarOrigin::Part) out += fmt::format("*{}", var.stride);
    if (var.fused_into != kNone) out += fmt::format("/{}", var.divisor);
    if (var.is_split()) out += fmt::format("%{}", var.remainder);
    if (var.ragged) out += "~";
  }
  return out;
}

TEST(Numbers, Variables) {
  const std::vector<VarCase> cases = {
      {"matmul:m=64,n=4,k=3", "", "C", "i:64 j:4 k:3"},
      {"matmul:m=64,n=4,k=3", "split C i [8]", "C", "i:64%0 j:4 k:3 i.0:8*8 i.1:8*1"},
      {"matmul:m=64,n=4,k=3", "split C i [4, 8]", "C", "i:64%0 j:4 k:3 i.0:2*32 i.1:4*8 i.2:8*1"},
      {"matmul:m=70,n=4,k=3", "split C i [4, 8]", "C", "i:70%6 j:4 k:3 i.0:3*32 i.1:4*8~ i.2:8*1~"},
      // The tail reaches only the parts inside: 9 = 8 + 1.
      {"matmul:m=9,n=4,k=3", "split C i [8]", "C", "i:9%1 j:4 k:3 i.0:2*8 i.1:8*1~"},
      // All parts of one iteration.
      {"matmul:m=64,n=4,k=3", "split C i [1]", "C", "i:64%0 j:4 k:3 i.0:64*1 i.1:1*1"},
      {"matmul:m=64,n=4,k=3", "split C i [64]", "C", "i:64%0 j:4 k:3 i.0:1*64 i.1:64*1"},
      // A split of a part: strides count in the part, not in the axis.
      {"matmul:m=64,n=4,k=3", "split C i [16]\nsplit C i.1 [4]", "C",
       "i:64%0 j:4 k:3 i.0:4*16 i.1:16*1%0 i.1.0:4*4 i.1.1:4*1"},
      // A ragged part hands that on to its own parts.
      {"matmul:m=70,n=4,k=3", "split C i [32]\nsplit C i.1 [8]", "C",
       "i:70%6 j:4 k:3 i.0:3*32 i.1:32*1%0~ i.1.0:4*8~ i.1.1:8*1~"},
      {"matmul:m=70,n=4,k=3", "split C i [32]\nsplit C i.0 [2]", "C",
       "i:70%6 j:4 k:3 i.0:3*32%1 i.1:32*1~ i.0.0:2*2 i.0.1:2*1~"},
      // Fusions.
      {"matmul:m=6,n=4,k=3", "fuse C [i, j]", "C", "i:6/4 j:4/1 k:3 (i,j):24"},
      {"batch_matmul:b=2,m=6,n=4,k=3", "fuse C [b, i, j]", "C",
       "b:2/24 i:6/4 j:4/1 k:3 (b,i,j):48"},
      {"matmul:m=6,n=4,k=3", "fuse C [i, j]\nsplit C (i,j) [8]", "C",
       "i:6/4 j:4/1 k:3 (i,j):24%0 (i,j).0:3*8 (i,j).1:8*1"},
      {"matmul:m=6,n=4,k=3", "fuse C [i, j]\nsplit C (i,j) [7]", "C",
       "i:6/4 j:4/1 k:3 (i,j):24%3 (i,j).0:4*7 (i,j).1:7*1~"},
      {"matmul:m=8,n=6,k=3", "split C i [4]\nreorder C [i.0, j, i.1]\nfuse C [i.0, j]", "C",
       "i:8%0 j:6/1 k:3 i.0:2*4/6 i.1:4*1 (i.0,j):12"},
      // Attached: the region of one iteration of the outer loop.
      {"matmul:m=64,n=48,k=16",
       "cache_write C\nsplit C i [8]\nsplit C j [16]\n"
       "reorder C [i.0, j.0, i.1, j.1]\ncompute_at C.write C j.0\nsplit C.write k [4]",
       "C.write", "k:16%0 i:8 j:16 k.0:4*4 k.1:4*1"},
      {"matmul:m=60,n=48,k=16",
       "cache_write C\nsplit C i [8]\ncompute_at C.write C i.0\n"
       "split C.write i [3]",
       "C.write", "k:16 i:8%2~ j:48 i.0:3*3~ i.1:3*1~"},
      // Partial results, and their fold.
      {"matmul:m=4,n=6,k=32", "split C k [8]\nrfactor C k.0", "C.rfactor",
       "k:32%0 k.0:4*8 k.1:8*1 i:4 j:6"},
      {"matmul:m=4,n=6,k=32", "split C k [8]\nrfactor C k.0\nsplit C k.0 [2]", "C",
       "i:4 j:6 k.0:4%0 k.0.0:2*2 k.0.1:2*1"},
  };
  for (const VarCase& c : cases) {
    const Workbench bench(c.workload);
    EXPECT_EQ(numbers_text(bench.tree(c.steps), c.stage), c.numbers) << c.workload << '\n'
                                                                     << c.steps;
  }
}

// A factor above the extent gives one outer iteration over the whole extent.
TEST(Numbers, FactorsAboveTheExtent) {
  const Workbench bench("matmul:m=12,n=5,k=3");
  const LoopTree tree = bench.tree("split C j [8]\nsplit C i [4, 8]");
  EXPECT_EQ(var_of(tree, "C", "j.0").extent, 1);
  EXPECT_EQ(var_of(tree, "C", "j.1").extent, 5);
  EXPECT_EQ(var_of(tree, "C", "i.0").extent, 1);
  EXPECT_EQ(var_of(tree, "C", "i.1").extent, 2);
  EXPECT_EQ(var_of(tree, "C", "i.2").extent, 8);
  EXPECT_TRUE(var_of(tree, "C", "i.2").ragged);
}

TEST(Numbers, Forms) {
  struct Case {
    std::string workload, steps, reader, producer, forms;
  };
  const std::vector<Case> cases = {
      {"matmul:m=64,n=64,k=64", "", "C", "A", "i; k"},
      {"matmul:m=64,n=64,k=64", "split C i [4, 8]\nsplit C k [16]", "C", "A",
       "32*i.0 + 8*i.1 + i.2; 16*k.0 + k.1"},
      // Loops of one iteration are omitted.
      {"matmul:m=64,n=64,k=64", "split C i [1, 64]", "C", "A", "i.2; k"},
      {"matmul:m=1,n=64,k=64", "", "C", "A", "0; k"},
      {"matmul:m=64,n=64,k=64", "split C i [16]\nsplit C i.1 [4]", "C", "A",
       "16*i.0 + 4*i.1.0 + i.1.1; k"},
      // Members of a fusion stay variables.
      {"matmul:m=64,n=64,k=64", "fuse C [i, j]\nsplit C (i,j) [8]", "C", "A", "i; k"},
      {"conv2d:h=9,w=9,ci=4,co=8,kernel=3,stride=2,dilation=2", "split Y y [2]", "Y", "X",
       "0; 2*ry + 4*y.0 + 2*y.1; 2*x + 2*rx; rc"},
      {"conv2d:h=8,w=8,ci=4,co=8,kernel=3,pad=1", "", "P", "X", "0; y -1; x -1; c"},
      {"conv2d:h=8,w=8,ci=4,co=8,kernel=3,pad=1", "compute_inline P", "Y", "X",
       "0; y + ry -1; x + rx -1; rc"},
      // Attached: from where the tile of the reader begins.
      {"matmul:m=64,n=64,k=64", "cache_write C\nsplit C i [8]\ncompute_at C.write C i.0", "C.write",
       "A", "i + 8*i.0; k"},
      {"conv2d:h=8,w=8,ci=4,co=8,kernel=3,pad=1", "split Y y [4]\ncompute_at P Y y.0", "P", "X",
       "0; y + 4*y.0 -1; x -1; c"},
  };
  for (const Case& c : cases) {
    const Workbench bench(c.workload);
    const LoopTree tree = bench.tree(c.steps);
    const Access& access = access_of(tree, c.reader, c.producer);
    std::string forms;
    for (size_t d = 0; d < access.rank; ++d) {
      forms += (d > 0 ? "; " : "") + form_text(tree, tree.forms[access.first_dim + d]);
    }
    EXPECT_EQ(forms, c.forms) << c.workload << '\n' << c.steps;
  }
}

// Products of factors stay within 64 bits, or are refused.
TEST(Numbers, HugeFactors) {
  const Workbench bench("matmul:m=64,n=64,k=64");
  const std::string large = "2147483648";
  EXPECT_EQ(bench.refusal("split C i [" + large + "]").code, IllegalCode::None);
  EXPECT_EQ(bench.refusal("split C i [1048576, 1048576]").code, IllegalCode::None);
  EXPECT_EQ(bench.refusal("split C i [1048576, 1048576, " + large + "]").code,
            IllegalCode::BadFactor);
  EXPECT_EQ(bench.refusal("split C i [1048576, 1048577]").code, IllegalCode::BadFactor);
  EXPECT_NE(bench.explanation("split C i [1048576, 1048577]").find("above 2^40"),
            std::string::npos);
  const LoopTree nested = bench.tree("split C i [" + large + "]\nsplit C i.0 [" + large +
                                     "]\nsplit C i.0.0 [" + large + "]");
  EXPECT_EQ(form_text(nested, nested.forms[access_of(nested, "C", "A").first_dim]), "i.1");
}

}  // namespace
}  // namespace tilewright::schedule::testing
