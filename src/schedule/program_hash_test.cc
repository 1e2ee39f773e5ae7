#include <gtest/gtest.h>

#include <map>

#include "schedule/program_hash.h"
#include "schedule/testing.h"
#include "te/dag_builder.h"

namespace tilewright::schedule::testing {
namespace {

const char* const kMatmul = "matmul:m=64,n=64,k=64,constant=B";

TEST(ProgramHash, IsEqualForEqualPrograms) {
  const Workbench bench(kMatmul);
  const std::vector<std::pair<std::string, std::string>> same = {
      {"", "reorder C [i, j, k]"},
      {"", "annotate C i none"},
      {"reorder C [k, i, j]", "reorder C [j, i]\nreorder C [k, j, i]\nreorder C [i, j]"},
      {"annotate C i parallel\nannotate C k unroll", "annotate C k unroll\nannotate C i parallel"},
      {"split C i [8]\nsplit C j [8]", "split C j [8]\nsplit C i [8]"},
      {"cache_read A [C]\ncompute_at A.read C i\ncompute_root A.read", "cache_read A [C]"},
      {"cache_read A [C]\ncompute_at A.read C j\ncompute_at A.read C i",
       "cache_read A [C]\ncompute_at A.read C i"},
      {"cache_read A [C]\ncache_read B [C]", "cache_read B [C]\ncache_read A [C]"},
      {"cache_read A [C] ordinal=5", "cache_read A [C]"},
      {"pack B C\nsplit C j [16]", "split C j [16]\npack B C"},
      {"split C j [16]", "split C j [16] tail=overlap"},      // nothing is left over
      {"cache_read A [C]", "cache_read A [C] scope=global"},  // where it lives anyhow
      {"cache_read A [C]\ncompute_at A.read C i",
       "cache_read A [C] scope=local\ncompute_at A.read C i"},
  };
  for (const auto& [a, b] : same) EXPECT_EQ(bench.hash(a), bench.hash(b)) << a << "\n---\n" << b;
}

TEST(ProgramHash, ScopesThatATargetDoesNotDistinguishAreEqual) {
  const Workbench bench(kMatmul);
  const Target cpu = parse_target("x86-64-v3").value(), device = parse_target("cuda:sm_90").value();
  const auto hash = [&](const std::string& scope, const Target& target) {
    return program_hash(bench.tree("cache_read A [C]" + scope + "\ncompute_at A.read C i"), target);
  };
  EXPECT_EQ(hash("", cpu), bench.hash("cache_read A [C]\ncompute_at A.read C i"));
  EXPECT_EQ(hash(" scope=register", cpu), hash("", cpu));
  EXPECT_EQ(hash(" scope=local", cpu), hash("", cpu));
  EXPECT_NE(hash(" scope=global", cpu), hash("", cpu));
  EXPECT_NE(hash(" scope=shared", cpu), hash("", cpu));
  EXPECT_NE(hash(" scope=register", device), hash("", device));
  EXPECT_EQ(hash(" scope=local", device), hash("", device));
  EXPECT_EQ(hash("", device), hash("", cpu));
}

// Pairwise different: any change of tile, order, annotation, placement or packing.
TEST(ProgramHash, DiffersForEveryChange) {
  const Workbench bench(kMatmul);
  const std::string tiled = "split C i [8]\nsplit C j [16]\n";
  const std::string cached = "cache_write C\n" + tiled;
  const std::vector<std::string> traces = {
      "",
      "split C i [8]",
      "split C i [16]",
      "split C j [8]",
      "split C k [8]",
      "split C i [2, 4]",
      "split C i [4, 2]",
      "split C i [10]",
      "split C i [11]",  // as many i.0 as with 10
      "reorder C [j, i]",
      "reorder C [k, j]",
      "cache_read A [C] scope=shared\ncompute_at A.read C i",
      "cache_read A [C] scope=register\ncompute_at A.read C i",
      "annotate C i parallel",
      "annotate C i unroll",
      "annotate C j unroll",
      "annotate C k vectorize",
      "annotate C k unroll",
      "fuse C [i, j]",
      "reorder C [j, i]\nfuse C [j, i]",
      "fuse C [i, j]\nsplit C (i,j) [8]",
      tiled,
      tiled + "reorder C [i.0, j.0, i.1, j.1]",
      tiled + "reorder C [i.0, j.0, j.1, i.1]",
      tiled + "reorder C [i.0, j.0, i.1, j.1]\nfuse C [i.0, j.0]",
      cached,
      cached + "compute_at C.write C i.0",
      cached + "compute_at C.write C i.1",
      cached + "compute_at C.write C j.0",
      cached + "compute_at C.write C i.0\nreorder C.write [k, i, j]",
      "cache_read A [C]",
      "cache_read B [C]",
      "cache_read A [C]\ncompute_at A.read C i",
      "cache_read A [C]\ncompute_at A.read C j",
      "cache_read A [C]\npack A.read C",
      "pack B C",
      "pack B C\nsplit C j [16]",
      "pack B C\nreorder C [k, j]",
      "rfactor C k",
      "split C k [4]\nrfactor C k.0",
      "split C k [4]\nrfactor C k.1",
  };
  std::map<std::string, std::string> seen;
  for (const std::string& trace : traces) {
    const auto [at, added] = seen.emplace(bench.hash(trace).hex(), trace);
    EXPECT_TRUE(added) << "the same hash:\n" << at->second << "\n---\n" << trace;
  }
}

TEST(ProgramHash, DependsOnInlinedStages) {
  const Workbench bench("elementwise:shape=8x8,chain=relu+exp+neg");
  EXPECT_NE(bench.hash("compute_inline T1"), bench.hash("compute_inline T2"));
  EXPECT_NE(bench.hash("compute_inline T1"), bench.hash(""));
  EXPECT_EQ(bench.hash("compute_inline T1\ncompute_inline T2"),
            bench.hash("compute_inline T2\ncompute_inline T1"));
}

std::shared_ptr<const te::Dag> row_sums(std::string_view x, std::string_view s, std::string_view i,
                                        std::string_view k) {
  te::DagBuilder builder;
  const te::TensorId input = builder.placeholder(x, {8, 16}, ir::Scalar::F32);
  const te::Axis row = builder.axis(i, 8);
  const te::Axis column = builder.axis(k, 16);
  builder.reduce(s, {row}, {column}, ir::BinaryOp::Add, builder.read(input, {row.var, column.var}),
                 ir::Scalar::F32);
  return std::move(builder).build();
}

TEST(ProgramHash, IgnoresNames) {
  const Workbench a(row_sums("X", "S", "i", "k"));
  const Workbench b(row_sums("input", "sums", "row", "column"));
  EXPECT_EQ(a.hash("split S k [4]\nannotate S k.1 unroll\ncache_read X [S]\ncompute_at X.read S i"),
            b.hash("split sums column [4]\nannotate sums column.1 unroll\n"
                   "cache_read input [sums]\ncompute_at input.read sums row"));
}

// Stored with records: a change here must raise kProgramHashVersion.
TEST(ProgramHash, IsStable) {
  EXPECT_EQ(kProgramHashVersion, 2u);
  EXPECT_EQ(Workbench(kMatmul).hash("split C i [10]\nfuse C [i.1, j]\npack B C").hex(),
            "46cffb3df9bf1652029abd3dddc8e8a9");
  EXPECT_EQ(
      Workbench(kMatmul)
          .hash("cache_write C\nsplit C i [4]\nsplit C j [16]\nreorder C [i.0, j.0, i.1, j.1]\n"
                "compute_at C.write C j.0\nannotate C i.0 parallel\n"
                "annotate C j.1 vectorize\nreorder C.write [k, i, j]\nannotate C.write j vectorize")
          .hex(),
      "d3fb16828e00c2663247f46962077e95");
  EXPECT_EQ(Workbench(kMatmul)
                .hash("split C k [8]\nrfactor C k.1\nreorder C.rfactor [i, k.0, k.1, j]\n"
                      "annotate C.rfactor j vectorize")
                .hex(),
            "73d754b10c7f4ddad3a109be1ecde5d3");
}

}  // namespace
}  // namespace tilewright::schedule::testing
