#include "codegen/llvm/register_masks.h"

#include <gtest/gtest.h>

namespace tilewright::codegen {
namespace {

using ir::Expr;
using ir::Stmt;

constexpr ir::BufferId kA = 0, kRegister = 1;
constexpr unsigned kLanes = 8;

Expr prefix(int64_t active) {
  return ir::ramp(ir::int_imm(0), 1, kLanes) < ir::broadcast(ir::int_imm(active), kLanes);
}

class RegisterMasksTest : public ::testing::Test {
 protected:
  static bool is_masked(std::vector<Stmt> stmts) {
    const ir::Function function{.name = "f",
                                .buffers = {{.name = "A", .element = ir::kF32, .shape = {512}},
                                            {.name = "r",
                                             .element = ir::kF32.with_lanes(kLanes),
                                             .shape = {1},
                                             .scope = ir::Scope::Register}},
                                .arguments = {kA},
                                .argument_written = {true},
                                .body = ir::make_block(std::move(stmts))};
    const std::vector<bool> found = registers_under_one_mask(function);
    EXPECT_FALSE(found[kA]);
    return found[kRegister];
  }
  static Stmt accumulate(const Expr& value, const Expr& mask = {}) {
    return ir::make_store(kRegister, {ir::int_imm(0)}, value, mask);
  }
  Stmt result(const Expr& value, const Expr& mask = {}) const {
    return ir::make_store(kA, {lanes_}, value, mask);
  }

  const Expr lanes_ = ir::ramp(ir::int_imm(0), 1, kLanes);
  const Expr zero_ = ir::float_imm(0, ir::kF32.with_lanes(kLanes));
  const Expr x_ = ir::float_imm(1, ir::kF32.with_lanes(kLanes));
  const Expr register_ = ir::load(ir::kF32.with_lanes(kLanes), kRegister, {ir::int_imm(0)});
  const Expr three_ = prefix(3);
};

TEST_F(RegisterMasksTest, AllAccessesAreUnderOneMask) {
  const Expr kept = ir::select(three_, register_, zero_);
  EXPECT_TRUE(is_masked({accumulate(kept + x_, three_), result(register_, three_)}));
  EXPECT_TRUE(is_masked({accumulate(x_, three_), result(kept)}));
}

TEST_F(RegisterMasksTest, ALoadOutsideTheMask) {
  EXPECT_FALSE(is_masked({accumulate(x_, three_), result(register_)}));
  EXPECT_FALSE(is_masked({accumulate(x_, three_), result(register_, prefix(4))}));
  // The mask does not reach the lanes that are folded.
  const Expr folded = ir::vector_reduce(ir::BinaryOp::Add, register_);
  EXPECT_FALSE(is_masked({accumulate(x_, three_), result(ir::broadcast(folded, kLanes), three_)}));
}

TEST_F(RegisterMasksTest, StoresUnderSeveralMasksOrNone) {
  EXPECT_FALSE(
      is_masked({accumulate(x_, three_), accumulate(x_, prefix(4)), result(register_, three_)}));
  EXPECT_FALSE(is_masked({accumulate(x_), result(register_, three_)}));
}

TEST_F(RegisterMasksTest, AnEmptyFunction) { EXPECT_FALSE(is_masked({})); }

}  // namespace
}  // namespace tilewright::codegen
