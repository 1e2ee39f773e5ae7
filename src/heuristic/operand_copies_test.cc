#include "heuristic/operand_copies.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::heuristic {
namespace {

using schedule::testing::stage_of;
using schedule::testing::trace_of;
using schedule::testing::Workbench;

constexpr std::string_view kTiled =
    "split C i [8]\nsplit C j [32]\nreorder C [j.0, i.0, k, i.1, j.1]\n";

// The steps that follow `kTiled` when the operands of C are packed.
std::string packed(const char* workload, const TileStyle& style) {
  const Workbench bench(workload);
  const Target target = parse_target("x86-64-v4;threads=1").value();
  schedule::TraceBuilder builder(bench.initial());
  EXPECT_TRUE(builder.add(trace_of(kTiled).steps));
  Tiling tiling{builder, target, style};
  const schedule::StageIndex stage = tiling.tree().find_stage(stage_of("C"));
  const AxisRoles roles = axis_roles(bench.tree(""), stage, target, true);
  pack_operands(tiling, stage, roles, stage, {Name("j.0"), Name("i.0")});
  return schedule::to_text(builder.trace()).substr(kTiled.size());
}

TEST(OperandCopies, ConstantsArePackedInputsCopied) {
  EXPECT_EQ(packed("matmul:m=512,n=512,k=64,constant=B", {}), "pack B C\n");
  EXPECT_EQ(packed("matmul:m=512,n=512,k=64", {}),
            "cache_read B [C]\ncompute_at B.read C j.0\npack B.read C\n"
            "annotate B.read d1 vectorize\n");
}

// Constants that memory delivers more slowly than tiles use them.
TEST(OperandCopies, LargeConstantsArePrefetched) {
  EXPECT_EQ(packed("matmul:m=128,n=768,k=768,constant=B", {}), "pack B C\nprefetch_next C k B\n");
  EXPECT_EQ(packed("matmul:m=4096,n=768,k=768,constant=B", {}), "pack B C\n");  // 4096 uses
  EXPECT_EQ(packed("matmul:m=128,n=128,k=128,constant=B", {}), "pack B C\n");   // 64 KiB
}

TEST(OperandCopies, UnprofitableOperandsAreNotCopied) {
  EXPECT_EQ(packed("matmul:m=512,n=512,k=64", {.packs = false}), "");
  EXPECT_EQ(packed("matmul:m=16,n=512,k=64", {}), "");    // two uses of a contiguous one
  EXPECT_EQ(packed("matmul:m=512,n=512,k=4", {}), "");    // half a kilobyte
  EXPECT_EQ(packed("matmul:m=64,n=512,k=8192", {}), "");  // a megabyte
}

}  // namespace
}  // namespace tilewright::heuristic
