// Addresses and Faults alone: indices in, sums of terms and pointers out.
#include "codegen/llvm/addresses.h"

#include <gtest/gtest.h>
#include <llvm/IR/Module.h>

namespace tilewright::codegen {
namespace {

// Emits nothing but variables that are bound.
class BoundVars : public ValueSource {
 public:
  explicit BoundVars(Frame& frame) : frame_(frame) {}
  Value emit(const ir::Expr& expr) override { return frame_.vars[expr.as<ir::Var>()->id].value; }
  Value emit_uniform(const ir::Expr& scalar) override { return emit(scalar); }
  Value emit_apart(const std::function<Value()>& make) override { return make(); }

 private:
  Frame& frame_;
};

ir::Function function_of_one_buffer() {
  return {.name = "f",
          .buffers = {{.name = "A", .element = ir::kF32, .shape = {64, 512}}},
          .arguments = {0},
          .argument_written = {true},
          .body = {}};
}

class AddressesTest : public ::testing::Test {
 protected:
  AddressesTest() {
    frame_.buffers[0] = made_->getArg(0);
    frame_.vars[i_.as<ir::Var>()->id] = {.value = made_->getArg(1), .level = 0, .multiple = 4};
  }

  llvm::LLVMContext context_;
  llvm::Module module_{"test", context_};
  ir::Function function_ = function_of_one_buffer();
  Target target_ = *parse_target("x86-64-v3");
  WorkspacePlan plan_;
  Emission emission_{function_, target_, plan_, "f", module_};
  llvm::Function* made_ = llvm::Function::Create(
      llvm::FunctionType::get(
          llvm::Type::getVoidTy(context_),
          {llvm::PointerType::get(context_, 0), llvm::Type::getInt64Ty(context_)}, false),
      llvm::Function::ExternalLinkage, "f", module_);
  Frame frame_{emission_, made_};
  BoundVars values_{frame_};
  Addresses addresses_{emission_, frame_, values_};
  ir::Expr i_ = ir::var("i");
};

TEST_F(AddressesTest, AnIndexIsASumOfTerms) {
  Address address;
  ASSERT_TRUE(addresses_.decompose(0, {i_ * 2, ir::ramp(i_ + 3, 1, 8)}, address));
  ASSERT_EQ(address.terms.size(), 1U);  // both are of the same variable
  EXPECT_EQ(address.terms[0].coefficient, 2 * 512 + 1);
  EXPECT_EQ(address.constant, 3);
  EXPECT_EQ(address.lane_stride, 1);
  EXPECT_EQ(address.at_lane(5).constant, 8);
}

TEST_F(AddressesTest, CancelingTermsAreDropped) {
  Address address;
  ASSERT_TRUE(addresses_.decompose(0, {ir::int_imm(1), i_ - i_}, address));
  EXPECT_TRUE(address.terms.empty());
  EXPECT_EQ(address.constant, 512);
}

TEST_F(AddressesTest, UnevenlySpacedLanesAreDetected) {
  Address address;
  const ir::Expr lanes = ir::ramp(ir::int_imm(0), 1, 4);
  EXPECT_FALSE(addresses_.decompose(0, {lanes * lanes}, address));
}

TEST_F(AddressesTest, KnownMultiplesOfVariablesGiveAlignment) {
  Address address;
  ASSERT_TRUE(addresses_.decompose(0, {i_ * 4}, address));
  EXPECT_EQ(addresses_.alignment_of(0, address), 64);  // of the buffer, as i * 16 bytes is one
  address.constant = 2;
  EXPECT_EQ(addresses_.alignment_of(0, address), 8);
}

TEST_F(AddressesTest, PointerIsComputedOncePerLoopLevel) {
  Address address;
  ASSERT_TRUE(addresses_.decompose(0, {i_ * 4}, address));
  EXPECT_EQ(addresses_.pointer(0, address), addresses_.pointer(0, address));
  EXPECT_TRUE(emission_.error.empty());
}

TEST(Faults, LoadsAndUnknownDivisorsMayFault) {
  const ir::Function function = function_of_one_buffer();
  const Faults faults(function);
  const ir::Expr i = ir::var("i");
  EXPECT_FALSE(faults.may_fault(i / 4));
  EXPECT_TRUE(faults.may_fault(ir::int_imm(4) / i));
  EXPECT_TRUE(faults.may_fault(ir::load(ir::Scalar::F32, 0, {i})));
  EXPECT_FALSE(faults.may_hoist(ir::load(ir::Scalar::F32, 0, {i})));
  EXPECT_TRUE(faults.may_hoist(i % 4));
}

}  // namespace
}  // namespace tilewright::codegen
