#include "schedule/region.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "base/rng.h"
#include "schedule/testing.h"
#include "te/dag_builder.h"

namespace tilewright::schedule::testing {
namespace {

struct RegionCase {
  std::string workload, steps, reader, producer;
  std::string at;  // a loop of the reader, or empty: where the buffer lives
  std::string regions;
};

void check_regions(const std::vector<RegionCase>& cases) {
  for (const RegionCase& c : cases) {
    SCOPED_TRACE(
        fmt::format("{}\n{}\n{} of {} at {}", c.workload, c.steps, c.reader, c.producer, c.at));
    const Workbench bench(c.workload);
    const LoopTree tree = bench.tree(c.steps);
    const Access& access = access_of(tree, c.reader, c.producer);
    if (c.at.empty()) {
      EXPECT_EQ(regions_text(tree, access), c.regions);
      continue;
    }
    std::array<RegionDim, kMaxRank> dims;
    const StageIndex stage = tree.find_stage(stage_of(c.reader));
    region_of(tree, access, stage, tree.find_loop(stage, Name(c.at)), dims.data());
    EXPECT_EQ(regions_text(tree, std::span(dims.data(), access.rank)), c.regions);
  }
}

TEST(Region, IsWithin) {
  const Workbench bench("matmul:m=8,n=8,k=8");
  const LoopTree tree = bench.tree(
      "cache_write C\ncache_read A [C.write]\ncompute_at C.write C i\ncompute_at A.read C.write "
      "k\n");
  const auto stage = [&](std::string_view name) { return tree.find_stage(stage_of(name)); };
  const auto loop = [&](std::string_view s, std::string_view name) {
    return tree.find_loop(stage(s), Name(name));
  };
  EXPECT_TRUE(is_within(tree, stage("C.write"), stage("C"), loop("C", "i")));
  EXPECT_FALSE(is_within(tree, stage("C.write"), stage("C"), loop("C", "j")));
  EXPECT_TRUE(is_within(tree, stage("A.read"), stage("C"), loop("C", "i")));
  EXPECT_TRUE(is_within(tree, stage("A.read"), stage("C.write"), loop("C.write", "k")));
  EXPECT_FALSE(is_within(tree, stage("C"), stage("C.write"), loop("C.write", "i")));
  EXPECT_EQ(is_outside(tree, loop("C", "i"), stage("C.write"), loop("C.write", "k")), Outside::Yes);
  EXPECT_EQ(is_outside(tree, loop("C", "j"), stage("C.write"), loop("C.write", "k")), Outside::No);
}

TEST(Region, Matmul) {
  check_regions({
      {"matmul:m=64,n=48,k=16", "", "C", "A", "", "0 : 64 exact; 0 : 16 exact"},
      {"matmul:m=64,n=48,k=16", "", "C", "A", "i", "i : 1 exact; 0 : 16 exact"},
      {"matmul:m=64,n=48,k=16", "split C i [8]", "C", "A", "i.0", "8*i.0 : 8 exact; 0 : 16 exact"},
      {"matmul:m=64,n=48,k=16", "split C i [8]\nreorder C [i.1, i.0]", "C", "A", "i.1",
       "i.1 : 57 by 8 exact; 0 : 16 exact"},
      {"matmul:m=64,n=48,k=16", "split C k [4]\nreorder C [k.0, i]", "C", "B", "k.0",
       "4*k.0 : 4 exact; 0 : 48 exact"},
      // A remainder: the last tile is smaller, so the region is a hull.
      {"matmul:m=70,n=48,k=16", "split C i [8]", "C", "A", "i.0", "8*i.0 : 8 hull; 0 : 16 exact"},
      // The whole dimension, though its parts are ragged: together they never exceed it.
      {"matmul:m=70,n=48,k=16", "split C i [8]", "C", "A", "", "0 : 70 exact; 0 : 16 exact"},
      // A fused loop that is fully known determines its members.
      {"matmul:m=64,n=48,k=16", "fuse C [i, j]", "C", "A", "(i,j)", "i : 1 exact; 0 : 16 exact"},
      // Known in part: any element.
      {"matmul:m=64,n=48,k=16", "fuse C [i, j]\nsplit C (i,j) [8]", "C", "A", "(i,j).0",
       "whole 64; whole 16"},
  });
}

TEST(Region, Convolution) {
  const std::string plain = "conv2d:h=12,w=12,ci=4,co=6,kernel=3";                     // 10 x 10
  const std::string stride = "conv2d:h=17,w=17,ci=4,co=6,kernel=3,stride=2";           // 8 x 8
  const std::string sparse = "conv2d:h=23,w=23,ci=4,co=6,kernel=2,stride=3";           // 8 x 8
  const std::string dilated = "conv2d:h=12,w=12,ci=4,co=6,kernel=3,dilation=2";        // 8 x 8
  const std::string both = "conv2d:h=20,w=20,ci=4,co=6,kernel=3,stride=2,dilation=3";  // 7 x 7
  check_regions({
      {plain, "split Y y [5]", "Y", "X", "y.0",
       "0 : 1 exact; 5*y.0 : 7 exact; 0 : 12 exact; 0 : 4 exact"},
      {plain, "", "Y", "X", "x", "0 : 1 exact; y : 3 exact; x : 3 exact; 0 : 4 exact"},
      {plain, "", "Y", "X", "ry", "0 : 1 exact; y + ry : 1 exact; x : 3 exact; 0 : 4 exact"},
      // y*2 + ry, four y: 2*3 + 2 + 1 rows, overlapping.
      {stride, "split Y y [4]", "Y", "X", "y.0",
       "0 : 1 exact; 8*y.0 : 9 exact; 0 : 17 exact; 0 : 4 exact"},
      // y*2 alone below ry: every second one.
      {stride, "reorder Y [ry, y]", "Y", "X", "ry",
       "0 : 1 exact; ry : 15 by 2 exact; 0 : 17 exact; 0 : 4 exact"},
      // y*3 + ry, ry < 2: one in three is not read.
      {sparse, "split Y y [4]", "Y", "X", "y.0",
       "0 : 1 exact; 12*y.0 : 11 hull; 0 : 23 hull; 0 : 4 exact"},
      // y + ry*2.
      {dilated, "split Y y [4]", "Y", "X", "y.0",
       "0 : 1 exact; 4*y.0 : 8 exact; 0 : 12 exact; 0 : 4 exact"},
      {dilated, "", "Y", "X", "y", "0 : 1 exact; y : 5 by 2 exact; 0 : 12 exact; 0 : 4 exact"},
      // y*2 + ry*3: 7 of the 2*1 + 3*2 + 1 = 9 rows are hit; not every one.
      {both, "split Y y [2]", "Y", "X", "y.0",
       "0 : 1 exact; 4*y.0 : 9 hull; 0 : 19 hull; 0 : 4 exact"},
      {plain, "", "Y", "W", "c", "0 : 3 exact; 0 : 3 exact; 0 : 4 exact; c : 1 exact"},
  });
}

TEST(Region, AttachedProducers) {
  const std::string conv = "conv2d:h=16,w=16,ci=4,co=6,kernel=3,pad=1";
  check_regions({
      // The region at the loop of the buffer: one tile with its halo.
      {conv, "split Y y [4]\ncompute_at P Y y.0", "Y", "P", "",
       "0 : 1 exact; 4*y.0 : 6 exact; 0 : 18 exact; 0 : 4 exact"},
      {conv, "split Y y [4]\nsplit Y x [8]\nreorder Y [y.0, x.0, y.1, x.1]\ncompute_at P Y x.0",
       "Y", "P", "", "0 : 1 exact; 4*y.0 : 6 exact; 8*x.0 : 10 exact; 0 : 4 exact"},
      // The border's own read of X may stick out, and is clipped to it.
      {conv, "", "P", "X", "",
       "0 : 1 hull clipped; whole 16 clipped; whole 16 clipped; 0 : 4 hull clipped"},
      {conv, "compute_inline P", "Y", "X", "y",
       "0 : 1 hull clipped; whole 16 clipped; whole 16 clipped; 0 : 4 hull clipped"},
      {"matmul:m=64,n=48,k=16",
       "cache_read A [C]\nsplit C i [8]\nsplit C k [4]\n"
       "reorder C [i.0, k.0, i.1, j, k.1]\ncompute_at A.read C k.0",
       "A.read", "A", "", "0 : 64 exact; 0 : 16 exact"},
      {"matmul:m=64,n=48,k=16",
       "cache_read A [C]\nsplit C i [8]\nsplit C k [4]\n"
       "reorder C [i.0, k.0, i.1, j, k.1]\ncompute_at A.read C k.0",
       "C", "A.read", "", "8*i.0 : 8 exact; 4*k.0 : 4 exact"},
  });
}

// floor(c / 8) * 4 + rc: the group of a channel, constant if a tile is inside one group.
TEST(Region, GroupedConvolution) {
  const std::string groups = "conv2d:h=5,w=5,ci=16,co=32,kernel=3,groups=4";
  const std::string window = "0 : 1 exact; 0 : 5 exact; 0 : 5 exact; ";
  check_regions({
      {groups, "reorder Y [c, n, y, x]", "Y", "X", "c", window + "0 : 16 hull"},
      {groups, "split Y c [8]\nreorder Y [c.0, n, y, x, c.1]", "Y", "X", "c.0",
       window + "4*c.0 : 4 exact"},
      {groups, "split Y c [16]\nreorder Y [c.0, n, y, x, c.1]", "Y", "X", "c.0",
       window + "8*c.0 : 8 exact"},
      {groups, "split Y c [4, 2]\nreorder Y [c.0, c.1, n, y, x, c.2]", "Y", "X", "c.1",
       window + "4*c.0 : 4 hull"},
      {groups, "", "Y", "X", "", window + "0 : 16 exact"},
  });
}

// A copy that an attached stage reads: the loops of both are bounded together.
TEST(Region, LoopsOfSeveralStages) {
  const std::string tile =
      "cache_write C\nsplit C i [4, 8]\nsplit C j [2, 16]\n"
      "reorder C [i.0, j.0, i.1, j.1, i.2, j.2]\ncompute_at C.write C j.1\n"
      "cache_read B [C.write]\n";
  check_regions({
      {"matmul:m=70,n=45,k=7", tile + "compute_at B.read C j.0", "C.write", "B.read", "",
       "0 : 7 exact; 32*j.0 : 32 hull"},
      {"matmul:m=70,n=64,k=7", tile + "compute_at B.read C j.0", "C.write", "B.read", "",
       "0 : 7 exact; 32*j.0 : 32 exact"},
      {"matmul:m=70,n=45,k=7", tile + "compute_at B.read C i.0", "C.write", "B.read", "",
       "0 : 7 exact; 0 : 45 exact"},
  });
}

// One buffer, two readers at different distances: the hull of both is computed.
// Tiles of 7 and of 6: the last 4 of each may begin 1, 2 or (by the bound) 3 earlier.
TEST(Region, SlackOfAnOverlapInATail) {
  const Workbench bench("matmul:m=4,n=13,k=2");
  const LoopTree tree = bench.tree(
      "cache_write C\nsplit C j [7]\nreorder C [j.0, i]\ncompute_at C.write C j.0\n"
      "split C.write j [4] tail=overlap");
  const StageIndex write = tree.find_stage(stage_of("C.write"));
  std::array<RegionDim, kMaxRank> dims;
  region_of(tree, access_of(tree, "C.write", "B"), write, tree.find_loop(write, Name("j.0")),
            dims.data());
  EXPECT_EQ(dims[1].slack, 3);
  EXPECT_EQ(dims[1].extent, 4);
}

TEST(Region, HullOfSeveralReaders) {
  te::DagBuilder builder;
  const te::TensorId x = builder.placeholder("X", {20}, ir::Scalar::F32);
  const te::Axis a = builder.axis("a", 20);
  const te::TensorId t =
      builder.compute("T", {a}, builder.read(x, {a.var}) * ir::imm(2.0, {ir::Scalar::F32, 1}));
  const te::Axis i = builder.axis("i", 16);
  builder.compute("Y", {i}, builder.read(t, {i.var}) + builder.read(t, {i.var + 3}));
  const Workbench bench(std::move(builder).build());
  const LoopTree tree = bench.tree("split Y i [4]\ncompute_at T Y i.0");
  EXPECT_EQ(tree.to_string(), R"(X: input
for i.0 < 4
  for a < 7
    T (7) <- X
  for i.1 < 4
    Y (16) <- T, T
)");
  EXPECT_EQ(form_text(tree, tree.stage(tree.find_stage(stage_of("T"))).origin[0]), "4*i.0");
}

TEST(Region, HullOfTwo) {
  const auto make = [](int64_t constant, int64_t extent, int64_t stride, bool exact) {
    RegionDim dim{.exact = exact, .extent = extent, .stride = stride};
    dim.base.constant = constant;
    return dim;
  };
  const RegionDim same = hull_of(make(2, 5, 2, true), make(2, 5, 2, true));
  EXPECT_TRUE(same.exact);
  EXPECT_EQ(same.stride, 2);
  const RegionDim apart = hull_of(make(2, 5, 1, true), make(10, 3, 1, true));
  EXPECT_EQ(apart.base.constant, 2);
  EXPECT_EQ(apart.extent, 11);  // 2 .. 12
  EXPECT_FALSE(apart.exact);
  RegionDim moving = make(0, 4, 1, true);
  ASSERT_TRUE(moving.base.add_term(3, 8));
  EXPECT_TRUE(hull_of(moving, make(0, 4, 1, true)).whole);
  EXPECT_FALSE(hull_of(moving, moving).whole);
  RegionDim clipped = make(0, 4, 1, false);
  clipped.clipped = true;
  EXPECT_TRUE(hull_of(clipped, make(0, 4, 1, false)).clipped);
}

// Regions of a stage at root by enumeration: every touched element is in its region at
// every loop, and where the region is exact, every element of it is touched.
class Enumeration {
 public:
  Enumeration(const LoopTree& tree, std::string_view stage)
      : tree_(tree), index_(tree.find_stage(stage_of(stage))), values_(tree.vars.size()) {}

  void check() {
    const Stage& stage = tree_.stage(index_);
    for (const Access& access : tree_.reads_of(stage)) {
      check_at(access, kNone);
      for (const VarIndex loop : stage.loops) check_at(access, loop);
    }
  }

 private:
  using Tuple = std::vector<int64_t>;

  // The value of every variable of the stage from those of its axes.
  void set_values(const Tuple& axes) {
    const Stage& stage = tree_.stage(index_);
    for (size_t a = 0; a < axes.size(); ++a) value(stage.axes[a]) = axes[a];
    for (size_t k = 0; k < tree_.vars.size(); ++k) {  // those made later follow
      const LoopVar& var = tree_.vars[k];
      if (var.stage != index_) continue;
      if (var.origin == VarOrigin::Part) {
        int64_t rest = value(var.parent);
        if (var.part > 0) rest %= tree_.vars[k - 1].stride;
        values_[k] = rest / var.stride;
      } else if (var.origin == VarOrigin::Fused) {
        values_[k] = 0;
        for (VarIndex m = var.first_member; m != kNone; m = tree_.var(m).next_member) {
          values_[k] += value(m) * tree_.var(m).divisor;
        }
      }
    }
  }

  int64_t& value(VarIndex k) { return values_[static_cast<size_t>(k)]; }
  int64_t evaluate(const arith::Affine& form) {
    int64_t sum = form.constant;
    for (const arith::Term& term : form.terms) {
      sum += term.coefficient * value(static_cast<VarIndex>(term.var));
    }
    return sum;
  }

  void check_at(const Access& access, VarIndex at) {
    const Stage& stage = tree_.stage(index_);
    std::array<RegionDim, kMaxRank> dims;
    region_of(tree_, access, at == kNone ? kNone : index_, at, dims.data());
    std::map<Tuple, std::vector<std::set<int64_t>>> touched;  // by the loops outside
    std::map<Tuple, Tuple> bases;
    Tuple axes(stage.axes.size(), 0);
    do {
      set_values(axes);
      Tuple outside;
      for (int k = 0; at != kNone && k <= tree_.var(at).position; ++k) {
        outside.push_back(value(stage.loops[static_cast<size_t>(k)]));
      }
      auto& sets = touched[outside];
      Tuple& base = bases[outside];
      sets.resize(access.rank);
      base.resize(access.rank);
      for (size_t d = 0; d < access.rank; ++d) {
        arith::Affine index = tree_.dims[access.first_dim + d].index;
        int64_t element = index.constant;
        for (const arith::Term& term : index.terms) element += term.coefficient * axes[term.var];
        ASSERT_EQ(evaluate(tree_.forms[access.first_dim + d]), element);
        base[d] = dims[d].whole ? 0 : evaluate(dims[d].base);
        sets[d].insert(element);
        ASSERT_GE(element, base[d] - dims[d].slack) << "dimension " << d;
        ASSERT_LT(element, base[d] + dims[d].extent + dims[d].slack) << "dimension " << d;
      }
    } while (next(axes));
    for (const auto& [outside, sets] : touched) {
      for (size_t d = 0; d < access.rank; ++d) {
        if (!dims[d].exact) continue;
        std::set<int64_t> all;
        const int64_t base = bases[outside][d];
        for (int64_t e = base; e < base + dims[d].extent; e += dims[d].stride) all.insert(e);
        ASSERT_EQ(sets[d], all) << "dimension " << d << " is exact";
      }
    }
  }

  bool next(Tuple& axes) {
    const Stage& stage = tree_.stage(index_);
    for (size_t a = axes.size(); a-- > 0;) {
      if (++axes[a] < tree_.var(stage.axes[a]).extent) return true;
      axes[a] = 0;
    }
    return false;
  }

  const LoopTree& tree_;
  StageIndex index_;
  Tuple values_;
};

// A few random splits, fusions and reorders of one stage.
std::string random_steps(const Workbench& bench, const std::string& stage, Rng& rng) {
  Trace trace;
  LoopTree tree;
  const uint64_t count = 1 + rng.below(5);
  for (uint64_t k = 0; k < count; ++k) {
    CHECK(!apply(bench.initial(), trace, &tree));
    const auto& loops = tree.stage(tree.find_stage(stage_of(stage))).loops;
    const size_t at = rng.below(loops.size());
    const LoopVar& var = tree.var(loops[at]);
    Trace longer = trace;
    switch (rng.below(3)) {
      case 0: {
        Split split{.stage = stage_of(stage), .loop = var.name, .factors = {}};
        const uint64_t factors = 1 + rng.below(2);
        for (uint64_t f = 0; f < factors; ++f)
          split.factors.push_back(rng.between(1, var.extent + 1));
        longer.steps.emplace_back(split);
        break;
      }
      case 1:
        if (at + 1 == loops.size()) continue;
        longer.steps.emplace_back(
            Fuse{.stage = stage_of(stage), .loops = {var.name, tree.var(loops[at + 1]).name}});
        break;
      default:
        longer.steps.emplace_back(
            Reorder{.stage = stage_of(stage),
                    .loops = {var.name, tree.var(loops[rng.below(loops.size())]).name}});
    }
    LoopTree ignored;
    if (!apply(bench.initial(), longer, &ignored)) trace = longer;
  }
  return to_text(trace);
}

TEST(Region, ContainsTouchedElements) {
  Rng rng(11);
  const std::vector<std::pair<std::string, std::string>> programs = {
      {"matmul:m=7,n=4,k=6", "C"},
      {"conv2d:h=7,w=6,ci=2,co=2,kernel=3", "Y"},
      {"conv2d:h=9,w=7,ci=1,co=2,kernel=3,stride=2", "Y"},
      {"conv2d:h=9,w=7,ci=2,co=1,kernel=2,stride=3", "Y"},
      {"conv2d:h=9,w=9,ci=1,co=2,kernel=3,stride=2,dilation=3", "Y"},
      {"elementwise:shape=5x3x4,chain=bias", "Y"},
  };
  for (int round = 0; round < 200; ++round) {
    const auto& [workload, stage] = programs[rng.below(programs.size())];
    const Workbench bench(workload);
    const std::string steps = random_steps(bench, stage, rng);
    SCOPED_TRACE(fmt::format("{}\n{}", workload, steps));
    const LoopTree tree = bench.tree(steps);
    ASSERT_NO_FATAL_FAILURE(Enumeration(tree, stage).check());
  }
}

}  // namespace
}  // namespace tilewright::schedule::testing
