// Rules and extensions can be turned off by name, and then nothing of them is left.
#include <gtest/gtest.h>

#include "space/space_testing.h"

namespace tilewright::space {
namespace {

using schedule::Sketch;
using schedule::Step;

void add_text(const schedule::TileDomain&, std::string&) {}
void add_text(const schedule::TailDomain&, std::string&) {}
void add_text(const schedule::StepDomain& domain, std::string& text) {
  for (const std::optional<Step>& step : domain.choices) {
    if (step) text += to_text(*step) + "\n";
  }
}
void add_text(const schedule::SiteDomain& domain, std::string& text) {
  for (const auto& sites : domain.choices) {
    for (const std::vector<Step>& steps : sites) {
      for (const Step& step : steps) text += to_text(step) + "\n";
    }
  }
}

// The whole space as text: names, steps, kinds of holes, choices of steps.
std::string text_of(const Space& space) {
  std::string text;
  for (const Sketch& sketch : space.sketches()) {
    text += "sketch " + sketch.name + "\n" + to_text(sketch.trace);
    for (const schedule::Hole& hole : sketch.holes) {
      text += "hole " + std::string(hole_kind_text(hole.kind)) + "\n";
      std::visit([&](const auto& domain) { add_text(domain, text); }, hole.domain);
    }
  }
  return text;
}

struct Switch {
  std::string_view name;
  std::string_view workload;
  std::string_view sign;  // what only spaces with it say
  bool reverse = false;   // what only those without it say
};

// Each extension on a workload where it matters.
constexpr Switch kSwitches[] = {
    {"locations", "CBR1", "compute_at P Y y.1"},
    {"pack", "C2D2", "pack "},
    {"prefetch", "C2D2", "prefetch "},
    {"reduction_lanes", "reduce:op=sum,shape=100x4096,axes=1", "rfactor", true},
    {"register_read", "DEP0", "hole register_read"},
    {"rows", "TBS0", " by rows of "},
    {"stream", "layer_norm:m=4096,n=4096", " stream"},
    {"tails", "C2D2", "hole tail"},
    {"tile_structures", "C2D2", "tile Y SSRS\n"},
    {"unroll_and_jam", "C2D2", "annotate Y ry unroll"},
};

TEST(Switches, EachExtensionCanBeTurnedOff) {
  for (const Extension& extension : extensions()) {
    const auto found = std::ranges::find(kSwitches, extension.name, &Switch::name);
    ASSERT_NE(found, std::end(kSwitches)) << extension.name;
    const Task task = task_of(found->workload);
    std::string with = text_of(space_of(task));
    std::string without = text_of(space_of(task, {.off = {std::string(found->name)}}));
    if (found->reverse) std::swap(with, without);
    EXPECT_NE(with.find(found->sign), std::string::npos) << found->name;
    EXPECT_EQ(without.find(found->sign), std::string::npos) << found->name;
  }
}

TEST(Switches, TurnRulesOff) {
  const Task task = task_of("C2D2");
  const std::string uncached = text_of(space_of(task, {.off = {"cache_write"}}));
  EXPECT_EQ(uncached.find("cache_write"), std::string::npos);
  const Result<Space> wrong = Space::make(task, {.off = {"packing"}});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("packing"), std::string::npos);
  EXPECT_NE(wrong.error().message.find("tile_and_fuse"), std::string::npos);
  EXPECT_FALSE(check_off({.off = {"packing"}}, task.target));
  EXPECT_TRUE(check_off({.off = {"pack", "skip"}}, task.target));
}

TEST(Switches, EmptySpaceIsReported) {
  const Result<Space> none = Space::make(task_of("C2D2"), {.off = {"skip", "pack"}});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("without skip, pack"), std::string::npos)
      << none.error().message;
}

// Copies of operands are not tiles: their loops have the extents of the copied region.
TEST(Switches, WithoutTailsEverySplitDivides) {
  for (const char* const text :
       {"C2D2", "CBR1", "DEP0", "TBS0", "NRM3", "softmax:m=37,n=1009", "softmax:m=1,n=1000",
        "layer_norm:m=61,n=1537", "matmul:m=509,n=521,k=523", "matmul:m=8,n=8,k=500",
        "reduce:op=sum,shape=100x4096,axes=1", "reduce:op=sum,shape=248832,axes=0",
        "reduce:op=sum,shape=4096x100,axes=0", "transpose:shape=100x300,perm=1x0",
        "elementwise:shape=100000,chain=relu", "attention:b=1,heads=3,seq=67,dim=33"}) {
    for_random_trees(
        space_of(task_of(text), {.off = {"tails"}}), 200, [&](const schedule::LoopTree& tree) {
          for (const schedule::LoopVar& var : tree.vars) {
            const schedule::StageKind kind = tree.stage(var.stage).kind;
            if (!var.is_split() || kind == schedule::StageKind::Copy) continue;
            EXPECT_EQ(var.remainder, 0) << text << ": " << tree.stage(var.stage).name.text() << " "
                                        << var.name.text() << "\n"
                                        << tree.to_string();
          }
        });
  }
}

}  // namespace
}  // namespace tilewright::space
