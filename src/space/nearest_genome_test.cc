#include "space/nearest_genome.h"

#include <gtest/gtest.h>

#include <set>

#include "space/space_testing.h"

namespace tilewright::space {
namespace {

using schedule::LoopTree;
using schedule::Sketch;
using schedule::Step;
using schedule::Trace;

// The traces of random legal programs.
std::vector<Trace> random_traces(const Space& space, size_t count) {
  Rng rng(5);
  std::vector<Trace> traces;
  LoopTree tree;
  while (traces.size() < count) {
    const Sketch& sketch = space.sketches()[rng.below(space.sketches().size())];
    Trace trace;
    schedule::instantiate(sketch, schedule::sample(sketch, rng), &trace);
    if (!schedule::apply(space.initial(), trace, &tree)) traces.push_back(trace);
  }
  return traces;
}

// Empty: no sketch resembles the donor.
Trace converted(const Space& space, const Trace& donor, bool same_extents = false) {
  Trace trace;
  const auto nearest = nearest_genome(space.sketches(), donor, same_extents);
  if (nearest) {
    schedule::instantiate(space.sketches()[nearest->sketch], nearest->genome, &trace);
  }
  return trace;
}

bool is_legal(const Space& space, const Trace& trace) {
  LoopTree tree;
  return !schedule::apply(space.initial(), trace, &tree);
}

TEST(NearestGenome, ItsOwnProgramsComeBackUnchanged) {
  for (const char* const what : {"matmul:m=521,n=512,k=384", "C2D2", "DEP0", "GRP2", "SFM2", "CBR1",
                                 "T2D1", "TBS0", "NRM3"}) {
    const Space space = space_of(task_of(what));
    for (const Trace& trace : random_traces(space, 50)) {
      EXPECT_EQ(to_text(converted(space, trace, true)), to_text(trace)) << what;
    }
  }
}

struct Conversion {
  const char* from;
  const char* to;
  const char* donor;
  std::vector<std::string> wanted;  // lines of the result
};

const char* const kMatmul = R"(
cache_write C
split C i [64, 8]
split C j [4, 32]
split C.write k [2]
reorder C [i.0, j.0, i.1, j.1, i.2, j.2]
fuse C [i.0, j.0]
annotate C (i.0,j.0) parallel
compute_at C.write C j.1
annotate C i.2 unroll
annotate C j.2 vectorize
reorder C.write [k.0, k.1, i, j]
annotate C.write i unroll
annotate C.write j vectorize
annotate C.write k.1 unroll
cache_read B [C.write]
compute_at B.read C (i.0,j.0)
pack B.read C.write
split B.read d1 [32]
reorder B.read [d1.0, d0, d1.1]
annotate B.read d1.1 vectorize
)";

// All threads together copy the padded input.
const char* const kConvolution = R"(
cache_write Y
split Y y [14, 1]
split Y x [1, 14]
split Y c [1, 32]
split Y.write rc [4]
reorder Y [n, y.0, x.0, c.0, y.1, x.1, c.1, y.2, x.2, c.2]
fuse Y [y.0, x.0, c.0]
annotate Y (y.0,x.0,c.0) parallel
compute_at Y.write Y c.1
annotate Y y.2 unroll
annotate Y x.2 unroll
annotate Y c.2 vectorize
reorder Y.write [n, ry, rx, rc.0, rc.1, y, x, c]
annotate Y.write y unroll
annotate Y.write x unroll
annotate Y.write c vectorize
annotate Y.write rx unroll
annotate Y.write rc.1 unroll
split P c [32]
reorder P [n, y, x, c.0, c.1]
annotate P c.1 vectorize
annotate P y parallel
pack W Y.write
prefetch Y.write rc.0 W 4
)";

TEST(NearestGenome, SizesFollowTheExtents) {
  const char* const matmul = "matmul:m=512,n=512,k=512";
  const char* const conv = "conv2d:kernel=3,pad=1,ci=64,co=64,h=56,w=56";
  const Conversion conversions[] = {
      // Here and below all rows stay in one tile.
      {matmul,
       "matmul:m=384,n=384,k=384",
       kMatmul,
       {"split C i [48, 8]", "split C j [4, 32]", "split C.write k [2]", "compute_at C.write C j.1",
        "compute_at B.read C (i.0,j.0)", "pack B.read C.write", "split B.read d1 [32]"}},
      // No size divides a prime.
      {matmul,
       "matmul:m=521,n=521,k=521",
       kMatmul,
       {"split C i [66, 8]", "split C j [4, 32]", "compute_at C.write C j.1",
        "compute_at B.read C (i.0,j.0)", "pack B.read C.write", "split B.read d1 [32]"}},
      {conv,
       "conv2d:kernel=3,pad=1,ci=128,co=128,h=28,w=28",
       kConvolution,
       {"split Y y [14, 1]", "split Y x [1, 14]", "split Y c [1, 32]", "split Y.write rc [4]",
        "annotate Y.write rx unroll", "split P c [32]", "annotate P y parallel", "pack W Y.write",
        "prefetch Y.write rc.0 W 4"}},
      // A row of 7 is one tile. Padding stays in memory, though the loops of its copy differ.
      {conv,
       "conv2d:kernel=3,pad=1,ci=512,co=512,h=7,w=7",
       kConvolution,
       {"split Y y [7, 1]", "split Y x [1, 7]", "split Y c [1, 32]", "split P c [32]",
        "annotate P (y,x) parallel", "pack W Y.write"}},
      // 15 divides 30, and 14 does not.
      {conv,
       "conv2d:kernel=3,pad=1,ci=96,co=96,h=30,w=30",
       kConvolution,
       {"split Y y [15, 1]", "split Y x [1, 15]", "split Y c [1, 32]"}},
  };
  for (const Conversion& one : conversions) {
    const Space from = space_of(task_of(one.from));
    const Space to = space_of(task_of(one.to));
    const Trace donor = schedule::trace_from_text(one.donor).value();
    EXPECT_EQ(to_text(converted(from, donor, true)), to_text(donor));
    EXPECT_TRUE(is_legal(from, donor)) << one.from;
    const Trace trace = converted(to, donor);
    EXPECT_TRUE(is_legal(to, trace)) << one.to;
    std::set<std::string> lines;
    for (const Step& step : trace.steps) lines.insert(to_text(step));
    for (const std::string& line : one.wanted) {
      EXPECT_TRUE(lines.contains(line)) << one.to << ": no `" << line << "` in\n" << to_text(trace);
    }
  }
}

TEST(NearestGenome, MostProgramsStayLegal) {
  const Space wide = space_of(task_of("conv2d:ci=64,co=64,h=56,w=56,kernel=3,pad=1"));
  const Space narrow = space_of(task_of("conv2d:ci=64,co=80,h=17,w=17,kernel=3,pad=1"));
  int legal = 0;
  for (const Trace& donor : random_traces(wide, 100)) {
    const Trace trace = converted(narrow, donor);
    ASSERT_FALSE(trace.steps.empty()) << to_text(donor);
    legal += is_legal(narrow, trace) ? 1 : 0;
  }
  EXPECT_GE(legal, 80);
}

TEST(NearestGenome, ADonorWithOtherStepsIsRefused) {
  const Space matmul = space_of(task_of("matmul:m=64,n=48,k=32"));
  for (const Trace& donor : random_traces(space_of(task_of("softmax:m=64,n=48")), 10)) {
    EXPECT_FALSE(nearest_genome(matmul.sketches(), donor)) << to_text(donor);
  }
  EXPECT_FALSE(nearest_genome(matmul.sketches(), Trace{}));
  EXPECT_FALSE(nearest_genome({}, random_traces(matmul, 1).front()));
}

}  // namespace
}  // namespace tilewright::space
