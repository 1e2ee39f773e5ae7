#include "feature/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>

#include "base/check.h"
#include "feature/rows_layout.h"
#include "feature/rows_table.h"
#include "schedule/testing.h"

namespace tilewright::feature {
namespace {

using schedule::testing::Workbench;

Machine some_machine() {
  Machine machine;
  machine.cores = 2;
  machine.caches = {{.level = 1, .size_bytes = 32 << 10, .line_bytes = 64, .shared_by = 1},
                    {.level = 2, .size_bytes = 1 << 20, .line_bytes = 64, .shared_by = 1},
                    {.level = 3, .size_bytes = 8 << 20, .line_bytes = 64, .shared_by = 2}};
  return machine;
}

size_t column_named(std::string_view name) {
  const std::span<const FeatureInfo> table = feature_table();
  for (size_t k = 0; k < table.size(); ++k) {
    if (table[k].name == name) return k;
  }
  CHECK(false, "there is no feature {}", name);
}

// The rows of one program, before the logarithm is taken.
class Rows {
 public:
  Rows(std::string_view workload, std::string_view steps, int vector_bits = 512, int threads = 2)
      : Rows(
            workload, steps,
            parse_target("x86-64-v4").value().with_vector_bits(vector_bits).with_threads(threads)) {
  }
  Rows(std::string_view workload, std::string_view steps, const Target& target) : bench_(workload) {
    FeatureExtractor maker({bench_.workload(), target}, some_machine());
    maker.append(bench_.tree(steps), &batch_);
  }

  size_t size() const { return batch_.begin[1]; }
  double at(size_t row, std::string_view name) const {
    const double value = batch_.values[row * feature_count() + column_named(name)];
    return std::copysign(std::exp2(std::abs(value)) - 1, value);
  }

 private:
  Workbench bench_;
  Encoded batch_;
};

TEST(RowsTest, NamesAreUniqueAndDescriptive) {
  std::set<std::string_view> names;
  for (const FeatureInfo& info : feature_table()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_GT(info.what.size(), 10u) << info.name;
  }
  EXPECT_EQ(names.size(), feature_count());
}

TEST(RowsTest, NamesMatchTheLayout) {
  const std::pair<size_t, std::string_view> places[] = {
      {sort::FloatMad, "float_mad"},
      {sort::IntOther, "int_other"},
      {sort::Bools, "bool_ops"},
      {sort::Selects, "selects"},
      {column::Vectorize + 2, "vectorize_innermost"},
      {column::IsGpu, "is_gpu"},
      {size_t{column::Accesses} + access_column::UniqueBytes, "access0.unique_bytes"},
      {column::Curve, "curve0"},
      {column::BufferBytes, "buffer_bytes"},
      {column::Iterations, "iterations"},
      {column::BodyInstructions, "body_instructions"},
      {column::IsFloat, "is_float"},
      {column::AccumulatorBytes, "accumulator_bytes"},
      {column::VectorBytes, "vector_bytes"},
      {column::Threads, "threads"},
      {column::CacheBytes + 1, "l2_bytes"},
      {column::CacheBytes + 2, "l3_bytes"},
      {column::LanesUsed, "lanes_used"},
      {column::GuardDensity, "guard_density"},
      {column::IsUpdate, "is_update"},
      {column::IsStreamed, "is_streamed"},
      {column::SumsInFlight, "sums_in_flight"},
      {column::UpdatesInRegisters, "updates_in_registers"},
      {column::VectorLoadsPerOp, "vector_loads_per_op"},
      {column::BroadcastsPerOp, "broadcasts_per_op"},
      {column::GathersPerOp, "gathers_per_op"},
      {column::RegisterPressure, "register_pressure"},
      {column::CodeCopies, "code_copies"},
      {column::InnermostTrips, "innermost_trips"},
      {column::Instructions, "instructions"},
      {column::InstructionsPerThread, "instructions_per_thread"},
      {column::Tasks, "tasks"},
      {column::LevelTraffic, "l1_traffic"},
      {column::LevelTraffic + 2, "l3_traffic"},
      {column::ParallelRegions, "parallel_regions"},
  };
  for (const auto& [index, name] : places) EXPECT_EQ(feature_table()[index].name, name);
}

// Where Ansor's features (Zheng et al., OSDI 2020, appendix B) go wrong and these do not, one test
// each.

TEST(RowsTest, PositionsOfAnnotatedLoops) {
  const Rows rows("matmul:m=64,n=64,k=32",
                  "split C i [4, 2]\nsplit C k [8]\nreorder C [i.0, j, i.1, k.0, k.1, i.2]\n"
                  "annotate C i.0 parallel\nannotate C i.1 unroll\nannotate C i.2 vectorize\n");
  EXPECT_EQ(rows.at(1, "parallel_outer_spatial"), 1);
  EXPECT_EQ(rows.at(1, "unroll_middle_spatial"), 1);
  EXPECT_EQ(rows.at(1, "vectorize_inner_spatial"), 1);
  for (const char* name : {"parallel", "unroll", "vectorize"}) {
    EXPECT_EQ(rows.at(1, std::string(name) + "_mixed"), 0);
    EXPECT_EQ(rows.at(1, std::string(name) + "_none"), 0);
  }
  const Rows reduce("matmul:m=64,n=64,k=32",
                    "split C k [4, 2]\nreorder C [k.0, k.1, i, k.2, j]\n"
                    "annotate C k.2 unroll\nannotate C j vectorize\n");
  EXPECT_EQ(reduce.at(1, "unroll_inner_reduce"), 1);
  EXPECT_EQ(reduce.at(1, "parallel_none"), 1);
  EXPECT_EQ(reduce.at(0, "unroll_none"), 1) << "sums begin outside of reduce loops";
  const Rows mixed("matmul:m=64,n=64,k=32",
                   "reorder C [i, k, j]\nannotate C k unroll\nannotate C j unroll\n");
  EXPECT_EQ(mixed.at(1, "unroll_mixed"), 1);
}

TEST(RowsTest, MultiplyAddIsCounted) {
  const Rows rows("matmul:m=4,n=8,k=16", "");
  EXPECT_NEAR(rows.at(1, "float_mad"), 4 * 8 * 16, 0.01);
  EXPECT_EQ(rows.at(1, "float_mul"), 0);
  EXPECT_EQ(rows.at(1, "float_add"), 0);
  // (C + bias) * scale + shift, then the maximum, where the product is another operator's.
  const Rows chain("conv2d_bias_bn_relu:n=1,h=4,w=4,ci=4,co=16,kernel=1,stride=1,pad=0",
                   "compute_inline T1\ncompute_inline T2\ncompute_inline T3\n");
  ASSERT_EQ(chain.size(), 3u);
  EXPECT_NEAR(chain.at(2, "float_mad"), 256, 0.01);
  EXPECT_NEAR(chain.at(2, "float_add"), 256, 0.01);
  EXPECT_EQ(chain.at(2, "float_mul"), 0);
  EXPECT_NEAR(chain.at(2, "float_compare"), 256, 0.01);
}

TEST(RowsTest, OperationsAreCountedByKind) {
  const Rows bytes("matmul:m=4,n=8,k=16,dtype=i8", "");
  EXPECT_NEAR(bytes.at(1, "int_mad"), 4 * 8 * 16, 0.01);
  EXPECT_EQ(bytes.at(1, "float_mad"), 0);
  const Rows quotient("elementwise:shape=4x32,chain=div", "");
  EXPECT_NEAR(quotient.at(0, "float_div"), 4 * 32, 0.01);
  // A padded line of 2 + 16 elements is one guard of two comparisons each.
  const Rows padded("conv1d:n=1,l=16,ci=4,co=8,kernel=3,stride=1,pad=1", "");
  EXPECT_NEAR(padded.at(0, "selects"), 18 * 4, 0.01);
  EXPECT_NEAR(padded.at(0, "bool_ops"), 18 * 4, 0.01);
  EXPECT_NEAR(padded.at(0, "int_compare"), 2 * 18 * 4, 0.01);
  EXPECT_EQ(padded.at(2, "selects"), 0);
}

TEST(RowsTest, KindOfStore) {
  const Rows copied("matmul:m=8,n=64,k=16", "cache_read B [C]\npack B.read C\nprefetch C k A 4\n");
  EXPECT_EQ(copied.at(0, "is_copy"), 1);
  EXPECT_EQ(copied.at(2, "is_copy"), 0);
  EXPECT_NEAR(copied.at(0, "workspace_bytes"), 16 * 64 * 4, 0.1);
  double ahead = 0;
  for (int k = 0; k < 3; ++k) {
    ahead += copied.at(2, "access" + std::to_string(k) + ".prefetched");
  }
  EXPECT_NEAR(ahead, 4, 1e-4);
  const char* const lanes = "split Y j [16]\nannotate Y j.1 vectorize\n";
  const Rows plain("elementwise:shape=8x64,chain=relu", lanes);
  const Rows streamed("elementwise:shape=8x64,chain=relu",
                      std::string(lanes) + "annotate Y j.1 stream\n");
  EXPECT_EQ(plain.at(0, "is_streamed"), 0);
  EXPECT_EQ(streamed.at(0, "is_streamed"), 1);
  const Rows shared("elementwise:shape=8x64,chain=relu",
                    std::string(lanes) + "annotate Y i parallel\n");
  EXPECT_NEAR(shared.at(0, "task_instructions"), shared.at(0, "instructions") / 8, 0.01);
  const Rows dots("matmul:m=2,n=32,k=8,dtype=u8,dtype_b=i8,constant=B",
                  "split C j [16]\nsplit C k [4]\nreorder C [i, j.0, k.0, j.1, k.1]\npack B C\n"
                  "tensorize C j.1 vnni_dot_u8i8\n");
  EXPECT_EQ(dots.at(1, "is_tensorized"), 1);
  EXPECT_EQ(copied.at(2, "is_tensorized"), 0);
}

// 8 x 32 sums in 16 vectors; each dot product takes 4 factors of 16 columns.
TEST(RowsTest, LoopsOfAnIntrinsicAreWrittenOut) {
  const Rows dots("matmul:m=16,n=64,k=32,dtype=u8,dtype_b=i8,constant=B",
                  "split C i [8]\nsplit C j [2, 16]\nsplit C k [4]\n"
                  "reorder C [i.0, j.0, k.0, i.1, j.1, j.2, k.1]\nannotate C i.1 unroll\n"
                  "annotate C j.1 unroll\npack B C\ntensorize C j.2 vnni_dot_u8i8\n");
  EXPECT_EQ(dots.at(0, "is_init"), 1);
  EXPECT_EQ(dots.at(0, "is_tensorized"), 0);
  EXPECT_EQ(dots.at(1, "is_tensorized"), 1);
  EXPECT_NEAR(dots.at(1, "sums_in_flight"), 16, 1e-3);
  EXPECT_NEAR(dots.at(1, "lanes_used"), 1, 1e-3);
  EXPECT_NEAR(dots.at(1, "code_copies"), 16 * 4, 1e-3);
  EXPECT_NEAR(dots.at(1, "innermost_trips"), 8, 1e-3);
  EXPECT_NEAR(dots.at(1, "updates_in_registers"), 32, 1e-3);
  EXPECT_NEAR(dots.at(1, "vector_loads_per_op"), 2.0 / 64, 1e-4);  // of B, for 4 factors each
  EXPECT_NEAR(dots.at(1, "broadcasts_per_op"), 8.0 / 64, 1e-4);    // of A
  EXPECT_EQ(dots.at(1, "gathers_per_op"), 0);
  const double dot_products = 16 * 64 * 32 / (16 * 4);
  EXPECT_NEAR(dots.at(1, "instructions") / dots.at(1, "body_instructions"), dot_products / 16, 0.1);
}

// The threads of a GPU are tasks; its grid is in the columns of bound loops.
TEST(RowsTest, BoundLoopsAreParallel) {
  const Rows device("matmul:m=64,n=32,k=16",
                    "split C i [4]\nbind C i.0 block_x\nbind C i.1 thread_y\nbind C j thread_x\n",
                    parse_target("cuda:sm_80").value());
  EXPECT_NEAR(device.at(1, "tasks"), 64 * 32, 0.1);
  EXPECT_NEAR(device.at(1, "task_instructions"), device.at(1, "instructions") / (64 * 32), 0.01);
  EXPECT_EQ(device.at(1, "parallel_none"), 1);
  EXPECT_EQ(device.at(1, "parallel_regions"), 0);
  EXPECT_EQ(device.at(1, "is_gpu"), 1);
}

TEST(RowsTest, LinesIgnoreInvariantLoops) {
  // A[i, k] is moved by neither j.0 < 8 nor j.1 < 16, both inside of k: 32 * 64 * 4 bytes once.
  const Rows rows("matmul:m=32,n=128,k=64", "split C j [16]\nreorder C [i, k, j.0, j.1]\n");
  double lines = 0;
  for (int k = 0; k < 3; ++k) {
    const std::string access = "access" + std::to_string(k);
    if (rows.at(1, access + ".unique_bytes") < 32 * 64 * 4 + 1) {
      lines = rows.at(1, access + ".lines");
    }
  }
  EXPECT_NEAR(lines, 32.0 * 64 * 4 / 64, 0.1);
}

TEST(RowsTest, UniqueLinesCoverTheBuffer) {
  const Rows rows("matmul:m=16,n=128,k=64", "");
  std::multiset<long> lines;
  for (int k = 0; k < 3; ++k) {
    lines.insert(std::lround(rows.at(1, "access" + std::to_string(k) + ".unique_lines")));
  }
  EXPECT_EQ(lines, (std::multiset<long>{16 * 64 / 16, 64 * 128 / 16, 16 * 128 / 16}));
}

TEST(RowsTest, InitializationAndUpdateAreSeparateRows) {
  const Rows rows("matmul:m=4,n=8,k=16", "");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.at(0, "is_init"), 1);
  EXPECT_NEAR(rows.at(0, "iterations"), 32, 0.01);
  EXPECT_EQ(rows.at(0, "float_mad"), 0);
  EXPECT_EQ(rows.at(0, "access0.is_write"), 1);
  EXPECT_EQ(rows.at(0, "access1.bytes"), 0);
  EXPECT_EQ(rows.at(1, "is_update"), 1);
  EXPECT_NEAR(rows.at(1, "iterations"), 512, 0.01);
}

TEST(RowsTest, StridesFollowFromTheIndices) {
  // B[k, j] by k: a row of 48 elements a step.
  const Rows rows("matmul:m=4,n=48,k=16", "reorder C [i, j, k]\n");
  std::multiset<long> strides;
  for (int k = 0; k < 3; ++k) {
    strides.insert(std::lround(rows.at(1, "access" + std::to_string(k) + ".stride")));
  }
  EXPECT_EQ(strides, (std::multiset<long>{0, 1, 48}));
  // X[2*x + rx, c] by x: two pixels of 16 channels a step.
  const Rows conv("conv1d:n=1,l=32,ci=16,co=8,kernel=1,stride=2,pad=0",
                  "reorder Y [n, c, rx, rc, x]\n");
  bool found = false;
  for (size_t row = 0; row < conv.size(); ++row) {
    for (int k = 0; k < 5; ++k) {
      found |= std::lround(conv.at(row, "access" + std::to_string(k) + ".stride")) == 32;
    }
  }
  EXPECT_TRUE(found);
}

TEST(RowsTest, GuardsReduceIterations) {
  // Of 3 * 6 pairs (x, rx) two touch the border.
  const Rows rows("conv1d:n=1,l=6,ci=2,co=16,kernel=3,stride=1,pad=1",
                  "compute_inline P\nreorder Y [n, x, rx, rc, c]\n");
  EXPECT_NEAR(rows.at(1, "guard_density"), 16.0 / 18, 1e-4);
  bool found = false;
  for (int k = 0; k < 3; ++k) {
    const std::string access = "access" + std::to_string(k);
    if (rows.at(1, access + ".density") > 0.99) continue;
    found = true;
    EXPECT_NEAR(rows.at(1, access + ".bytes"), 4 * 6 * 3 * 2 * 16 * 16.0 / 18, 0.1);
  }
  EXPECT_TRUE(found);
}

TEST(RowsTest, TypesAndTargets) {
  const Rows wide("matmul:m=4,n=48,k=16", "", 512, 2);
  const Rows narrow("matmul:m=4,n=48,k=16,dtype=bf16", "", 256, 1);
  EXPECT_NEAR(wide.at(1, "vector_bytes"), 64, 1e-3);
  EXPECT_NEAR(narrow.at(1, "vector_bytes"), 32, 1e-3);
  EXPECT_NEAR(wide.at(1, "threads"), 2, 1e-4);
  EXPECT_NEAR(narrow.at(1, "threads"), 1, 1e-4);
  EXPECT_NEAR(wide.at(1, "element_bytes"), 4, 1e-4);
  EXPECT_NEAR(narrow.at(1, "element_bytes"), 2, 1e-4);
  EXPECT_NEAR(narrow.at(1, "accumulator_bytes"), 4, 1e-4);
  EXPECT_NEAR(wide.at(1, "l2_bytes"), 1 << 20, 20);
}

TEST(RowsTest, AllocationIsRelativeToItsLoop) {
  const Rows rows("matmul:m=32,n=64,k=16",
                  "cache_write C\nsplit C i [4]\nsplit C j [16]\nreorder C [i.0, j.0, i.1, j.1]\n"
                  "compute_at C.write C j.0\n");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_NEAR(rows.at(0, "buffer_bytes"), 4 * 16 * 4, 0.01);
  EXPECT_NEAR(rows.at(0, "buffer_outer"), 8 * 4, 0.01);
  EXPECT_NEAR(rows.at(0, "buffer_inner"), 4 * 16, 0.01);
  EXPECT_NEAR(rows.at(1, "buffer_outer"), 8 * 4, 0.01);
  EXPECT_NEAR(rows.at(1, "buffer_inner"), 4 * 16 * 16, 0.1);
  EXPECT_EQ(rows.at(2, "buffer_bytes"), 0) << "an output is not allocated";
  EXPECT_NEAR(rows.at(2, "buffer_outer"), 1, 1e-4);
  EXPECT_NEAR(rows.at(2, "buffer_inner"), 32 * 64, 0.1);
}

// Features beyond those of Ansor.

TEST(RowsTest, InnermostKernel) {
  const Rows rows("matmul:m=64,n=64,k=32",
                  "split C i [4]\nsplit C j [32]\nreorder C [i.0, j.0, k, i.1, j.1]\n"
                  "annotate C i.0 parallel\nannotate C i.1 unroll\nannotate C j.1 vectorize\n",
                  512, 3);
  EXPECT_NEAR(rows.at(1, "sums_in_flight"), 8, 1e-3);
  EXPECT_NEAR(rows.at(1, "updates_in_registers"), 32, 1e-2);
  EXPECT_NEAR(rows.at(1, "vector_loads_per_op"), 2.0 / 8, 1e-4);
  EXPECT_NEAR(rows.at(1, "broadcasts_per_op"), 4.0 / 8, 1e-4);
  EXPECT_EQ(rows.at(1, "gathers_per_op"), 0);
  EXPECT_NEAR(rows.at(1, "register_pressure"), (8 + 2 + 1) / 32.0, 1e-4);
  EXPECT_NEAR(rows.at(1, "tasks"), 16, 1e-3);
  EXPECT_NEAR(rows.at(1, "balance"), 16.0 / 18, 1e-4);
  EXPECT_NEAR(rows.at(1, "lanes_used"), 1, 1e-4);
  const Rows serial("matmul:m=64,n=64,k=32", "reorder C [i, k, j]\n");
  EXPECT_EQ(serial.at(1, "updates_in_registers"), 0) << "each k goes through memory";
  EXPECT_NEAR(serial.at(1, "lanes_used"), 1.0 / 16, 1e-4);
}

TEST(RowsTest, GathersAndContiguousLanes) {
  // Lanes along i: A and C step by a row, B is the same for all.
  const Rows rows("matmul:m=64,n=64,k=32", "reorder C [j, k, i]\nannotate C i vectorize\n");
  EXPECT_GT(rows.at(1, "gathers_per_op"), 1);
  EXPECT_EQ(rows.at(1, "vector_loads_per_op"), 0);
  std::multiset<long> lanes;
  for (int k = 0; k < 3; ++k) {
    lanes.insert(std::lround(rows.at(1, "access" + std::to_string(k) + ".contiguous_lanes")));
  }
  EXPECT_EQ(lanes, (std::multiset<long>{0, 1, 1}));
}

TEST(RowsTest, PackedOperandsAreContiguous) {
  const char* steps = "split C j [32]\nreorder C [j.0, i, k, j.1]\nannotate C j.1 vectorize\n";
  const std::string packed = std::string(steps) + "cache_read B [C]\npack B.read C\n";
  const Rows rows("matmul:m=8,n=64,k=16", packed);
  int found = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    for (int k = 0; k < 3; ++k) {
      const std::string access = "access" + std::to_string(k);
      if (rows.at(row, access + ".packed") == 0) continue;
      ++found;
      EXPECT_NEAR(rows.at(row, access + ".stride"), 1, 1e-4);
      EXPECT_NEAR(rows.at(row, access + ".unique_lines"), 64, 1e-2);
    }
  }
  EXPECT_EQ(found, 2) << "written once and read once";
}

TEST(RowsTest, Tails) {
  const Rows even("elementwise:shape=3x24,chain=relu", "split Y j [8]\nannotate Y j.1 vectorize\n");
  const Rows peeled("elementwise:shape=3x21,chain=relu",
                    "split Y j [8]\nannotate Y j.1 vectorize\n");
  const Rows overlapping("elementwise:shape=3x21,chain=relu", "split Y j [8] tail=overlap\n");
  EXPECT_EQ(even.at(0, "ragged_share"), 0);
  EXPECT_NEAR(peeled.at(0, "ragged_share"), 5.0 / 21, 1e-4);
  EXPECT_NEAR(peeled.at(0, "iterations"), 63, 1e-2);
  EXPECT_NEAR(peeled.at(0, "lanes_used"), 7.0 / 16, 1e-4);
  EXPECT_NEAR(overlapping.at(0, "overlap_recompute"), 24.0 / 21, 1e-4);
  EXPECT_NEAR(overlapping.at(0, "iterations"), 72, 1e-2);
  EXPECT_NEAR(peeled.at(0, "overlap_recompute"), 1, 1e-4);
}

TEST(RowsTest, Recomputation) {
  // Each tile of 4 rows needs 6 of the padded input: 12 instead of 10.
  const Rows rows("conv2d:n=1,h=8,w=8,ci=16,co=16,kernel=3,stride=1,pad=1",
                  "split Y y [4]\nreorder Y [n, y.0, y.1, x, ry, rx, rc, c]\ncompute_at P Y y.0\n");
  EXPECT_NEAR(rows.at(0, "recompute"), 1.2, 1e-4);
  EXPECT_NEAR(rows.at(2, "recompute"), 1, 1e-4);
  const Rows inlined("conv2d:n=1,h=8,w=8,ci=16,co=16,kernel=3,stride=1,pad=1",
                     "compute_inline P\n");
  EXPECT_NEAR(inlined.at(1, "inlined_recompute"), 64.0 * 16 * 9 * 16 / (10 * 10 * 16), 0.1);
}

TEST(RowsTest, TrafficThroughTheFirstCache) {
  // One i touches a row of A, all of B (64 KiB) and a row of C; one k of it three rows at most. So
  // B comes again for each i, the rest once.
  const Rows rows("matmul:m=64,n=128,k=128", "reorder C [i, k, j]\n");
  EXPECT_NEAR(rows.at(1, "l1_traffic"), 4.0 * (64 * 128 + 64 * 128 * 128 + 64 * 128), 100);
  EXPECT_NEAR(rows.at(1, "l2_traffic"), 4.0 * (64 * 128 + 128 * 128 + 64 * 128), 10);
  EXPECT_NEAR(rows.at(1, "l1_footprint"), 64 + 128 * 4 + 128 * 4, 0.1);
}

TEST(RowsTest, HeaviestStatementsAreKept) {
  const Rows rows("attention:b=1,heads=2,seq=16,dim=16", "");
  EXPECT_EQ(rows.size(), 8u);
  EXPECT_GT(rows.at(0, "statements"), 8);
  double share = 0;
  for (size_t row = 0; row < rows.size(); ++row) share += rows.at(row, "work_share");
  EXPECT_GT(share, 0.8);
}

TEST(RowsTest, BatchesAreProgramByProgram) {
  const Workbench bench("matmul:m=8,n=16,k=4");
  FeatureExtractor maker({bench.workload(), parse_target("x86-64-v3").value()}, some_machine());
  Encoded batch;
  const schedule::LoopTree plain = bench.tree("");
  const schedule::LoopTree split = bench.tree("cache_write C\nsplit C i [4]\n");
  maker.append(plain, &batch);
  maker.append(split, &batch);
  maker.append(plain, &batch);
  EXPECT_THAT(batch.begin, ::testing::ElementsAre(0, 2, 5, 7));
  ASSERT_EQ(batch.values.size(), 7 * feature_count());
  const auto row = [&](size_t k) {
    return batch.values.begin() + static_cast<ptrdiff_t>(k * feature_count());
  };
  EXPECT_TRUE(std::equal(row(0), row(2), row(5))) << "what came before does not matter";
  batch.clear();
  EXPECT_EQ(batch.programs(), 0u);
}

}  // namespace
}  // namespace tilewright::feature
