#include "lower/lane_mask.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/print.h"

namespace tilewright::lower {
namespace {

using ir::Expr;

const ir::Type kVector = ir::kF32.with_lanes(8);

Expr load_at(ir::BufferId buffer, const Expr& index) {
  return ir::load(ir::Scalar::F32, buffer, {index});
}

TEST(LaneMask, ActiveLanes) {
  const Expr i = ir::var("i");
  EXPECT_EQ(active_lanes(prefix_mask(3, 8)), 3u);
  EXPECT_EQ(active_lanes(ir::ramp(ir::int_imm(4), 1, 8) < ir::broadcast(ir::int_imm(6), 8)), 2u);
  EXPECT_EQ(active_lanes(ir::ramp(ir::int_imm(0), 1, 8) < ir::broadcast(ir::int_imm(9), 8)), 8u);
  EXPECT_EQ(active_lanes(ir::ramp(ir::int_imm(0), 2, 8) < ir::broadcast(ir::int_imm(6), 8)),
            std::nullopt);
  EXPECT_EQ(active_lanes(ir::ramp(i, 1, 8) < ir::broadcast(ir::int_imm(6), 8)), std::nullopt);
  EXPECT_EQ(active_lanes({}), std::nullopt);
}

TEST(LaneMask, LoadsUnderAMask) {
  const Expr load = load_at(0, ir::ramp(ir::int_imm(0), 1, 8));
  const Expr node = ir::select(prefix_mask(3, 8), load, ir::float_imm(0, kVector));
  const auto* select = node.as<ir::Select>();
  EXPECT_EQ(load_under(*select, prefix_mask(3, 8)), load.as<ir::Load>());
  EXPECT_EQ(load_under(*select, prefix_mask(4, 8)), nullptr);
  EXPECT_EQ(load_under(*select, {}), nullptr);
  const Expr one = ir::select(prefix_mask(3, 8), load, ir::float_imm(1, kVector));
  EXPECT_EQ(load_under(*one.as<ir::Select>(), prefix_mask(3, 8)), nullptr);
  const Expr two = ir::select(prefix_mask(3, 8), load, load);
  EXPECT_EQ(load_under(*two.as<ir::Select>(), prefix_mask(3, 8)), nullptr);
}

// `b1 under ramp(0, 1, 8) < x8(3)`, one line per load.
class LoadLister : public MaskedVisitor {
 public:
  using MaskedVisitor::visit;
  void visit(const ir::Stmt& stmt) override {
    mask_of_store = visit_operands(*stmt.as<ir::Store>());
  }
  std::vector<std::string> loads;
  Expr mask_of_store;

 private:
  void visit_load(const ir::Load& load, const Expr& mask) override {
    loads.push_back("b" + std::to_string(load.buffer) +
                    (mask.defined() ? " under " + ir::to_string(mask) : ""));
  }
};

TEST(LaneMask, MasksApplyOnlyToLoadsWithoutOtherUses) {
  const Expr mask = prefix_mask(3, 8), zero = ir::float_imm(0, kVector);
  const Expr lanes = ir::ramp(ir::int_imm(0), 1, 8);
  const auto masked = [&](ir::BufferId buffer) {
    return ir::select(mask, load_at(buffer, lanes), zero);
  };
  const Expr folded = ir::vector_reduce(ir::BinaryOp::Add, masked(2));  // lanes that are seen
  const Expr value = masked(0) + load_at(1, lanes) + ir::broadcast(folded, 8);
  LoadLister lister;
  lister.visit(ir::make_store(3, {lanes}, value, mask));
  EXPECT_EQ(lister.loads, (std::vector<std::string>{"b0 under ramp(0, 1, 8) < x8(3)", "b1", "b2"}));
  EXPECT_TRUE(lister.mask_of_store.defined());

  LoadLister unmasked;
  unmasked.visit(ir::make_store(3, {lanes}, value));
  EXPECT_EQ(unmasked.loads, (std::vector<std::string>{"b0", "b1", "b2"}));
  EXPECT_FALSE(unmasked.mask_of_store.defined());
}

}  // namespace
}  // namespace tilewright::lower
