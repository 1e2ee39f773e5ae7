// The space contains the structures of kernels that were written by hand (bench/traces): searches
// for a genome with the given lines, and checks that its program is legal.
#include <gtest/gtest.h>

#include <set>

#include "schedule/apply.h"
#include "space/space.h"
#include "task/parse.h"

namespace tilewright::space {
namespace {

using schedule::Genome;
using schedule::Sketch;
using schedule::Trace;

struct HandKernel {
  std::string workload;
  std::string sketch;               // its name
  std::vector<std::string> wanted;  // lines of the trace
};

// The number of the given lines in a trace, less a small penalty for each other line.
double likeness(const Trace& trace, const std::set<std::string>& wanted) {
  double count = 0;
  for (const schedule::Step& step : trace.steps) {
    count += wanted.contains(to_text(step)) ? 1 : -0.001;
  }
  return count;
}

// Hole by hole the choice that brings most of the lines, twice over.
Genome closest(const Sketch& sketch, const std::vector<std::string>& lines) {
  const std::set<std::string> wanted(lines.begin(), lines.end());
  Genome genome{std::vector<uint16_t>(sketch.holes.size(), 0)};
  Trace trace;
  for (size_t k = 0; k < 2 * sketch.holes.size(); ++k) {
    const size_t hole = k % sketch.holes.size();
    double max_count = -1e9;
    uint16_t best = 0;
    for (size_t gene = 0; gene < sketch.holes[hole].size(); ++gene) {
      genome.genes[hole] = static_cast<uint16_t>(gene);
      instantiate(sketch, genome, &trace);
      const double count = likeness(trace, wanted);
      if (count > max_count) best = static_cast<uint16_t>(gene);
      max_count = std::max(max_count, count);
    }
    genome.genes[hole] = best;
  }
  return genome;
}

void expect_held(const HandKernel& kernel) {
  const Task task{parse_workload(kernel.workload).value(),
                  parse_target("x86-64-v4;threads=2").value()};
  const Space space = Space::make(task).value();
  std::string names;
  for (const Sketch& sketch : space.sketches()) {
    names += "\n  " + sketch.name;
    if (sketch.name != kernel.sketch) continue;
    Trace trace;
    instantiate(sketch, closest(sketch, kernel.wanted), &trace);
    std::set<std::string> lines;
    for (const schedule::Step& step : trace.steps) lines.insert(to_text(step));
    for (const std::string& line : kernel.wanted) {
      EXPECT_TRUE(lines.contains(line)) << kernel.workload << ": no genome has `" << line << "`";
    }
    const auto tree = schedule::apply_or_explain(space.initial(), trace);
    EXPECT_TRUE(tree) << kernel.workload << ": " << tree.error().message << "\n" << to_text(trace);
    return;
  }
  ADD_FAILURE() << kernel.workload << " has no sketch `" << kernel.sketch << "`, but" << names;
}

TEST(HandKernels, ConvolutionByRowsWithPackedWeights) {
  expect_held({"C2D2",
               "cache_write Y, tile Y.write SSRS in Y at 2",
               {"split Y y [14, 1]", "split Y x [1, 14]", "split Y c [1, 32]",
                "compute_at Y.write Y x.1", "split Y.write rc [1]", "annotate Y.write rx unroll",
                "pack W Y.write", "compute_inline P"}});
  expect_held(
      {"GRP2",
       "cache_write Y, tile Y.write SSRS in Y at 2",
       {"split Y y [14, 1]", "split Y x [1, 14]", "split Y c [1, 32]", "compute_at Y.write Y x.1",
        "split P c [64]", "annotate P c.1 vectorize", "pack W Y.write"}});
}

TEST(HandKernels, ConvolutionInsideOfItsReader) {
  expect_held({"CBR1",
               "tile C SSRS in Y at 2",
               {"split Y y [28, 1]", "split Y x [2, 14]", "split Y c [1, 32]", "compute_at C Y x.1",
                "pack W C"}});
}

TEST(HandKernels, MatmulWithACopyInCache) {
  const std::vector<std::string> wanted = {"split C i [128, 8]",       "split C j [4, 32]",
                                           "compute_at C.write C j.1", "cache_read B [C.write]",
                                           "pack B.read C.write",      "split B.read d2 [32]"};
  expect_held({"GMM3", "cache_write C, tile C.write SSRS in C at 2", wanted});
}

TEST(HandKernels, PrimeExtents) {
  expect_held({"matmul:m=509,n=521,k=523",
               "cache_write C, tile C.write SSRS in C at 2",
               {"split C i [64, 8]", "split C j [4, 32]", "compute_at C.write C j.1",
                "cache_read B [C.write]", "compute_at B.read C (i.0,j.0)", "pack B.read C.write",
                "split B.read d1 [32]", "reorder B.read [d1.0, d0, d1.1]"}});
}

TEST(HandKernels, DepthwiseWithWeightsInRegisters) {
  expect_held(
      {"DEP0",
       "cache_write Y, tile Y.write SSRS in Y at 2",
       {"split Y y [14, 1]", "split Y x [28, 4]", "split Y c [1, 32]", "annotate Y.write ry unroll",
        "annotate Y.write rx unroll", "cache_read W [Y.write]", "compute_at W.read Y (y.0,x.0,c.0)",
        "annotate W.read d1 unroll", "annotate W.read d2 vectorize", "compute_inline P"}});
}

TEST(HandKernels, RowsOfASoftmax) {
  expect_held({"SFM2",
               "plain",
               {"split Y i [8]", "annotate Y i.0 parallel", "split Y j [64]", "compute_at M Y i.0",
                "split M k [64]", "compute_at E Y i.1", "split E j [64]", "compute_at S Y i.1",
                "split S k [64]", "compute_at R Y i.1"}});
  expect_held(
      {"layer_norm:m=4096,n=4096",
       "plain",
       {"split Y i [16]", "annotate Y i.0 parallel", "split Y j [64]", "annotate Y j.1 stream",
        "compute_at S Y i.1", "split S k [64]", "compute_at V Y i.1", "compute_at R Y i.1"}});
}

TEST(HandKernels, ScoresByRowsOfTheirSoftmax) {
  expect_held({"TBS0",
               "C by rows of Y",
               {"split Y i [32, 4]", "split Y j [128]", "compute_at C Y i.1", "split C j [64]",
                "split C i [4]", "split C k [1]", "cache_read K [C]",
                "compute_at K.read Y (b,h,i.0)", "pack K.read C", "split K.read d1 [16]",
                "compute_at M Y i.1", "split M k [16]", "compute_at E Y i.2", "split E j [32]",
                "compute_at S Y i.2", "split S k [16]", "compute_at R Y i.2"}});
}

TEST(HandKernels, SumInParts) {
  expect_held({"NRM3",
               "rfactor S for threads",
               {"split S i [64] tail=mask", "rfactor S i.0", "annotate S.rfactor i.0 parallel",
                "split S.rfactor j [64]", "annotate S.rfactor j.1 vectorize"}});
}

TEST(HandKernels, PhasesOfATransposedConvolution) {
  expect_held({"T2D1",
               "tile Y SSRS by phase",
               {"split Y y [2]", "split Y x [2]", "split Y y.0 [8, 1]", "split Y x.0 [1, 8]",
                "split Y c [1, 32]"}});
}

}  // namespace
}  // namespace tilewright::space
