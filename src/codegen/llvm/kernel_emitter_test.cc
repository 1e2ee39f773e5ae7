// emit_kernel: the functions of a kernel and their parameters.
#include "codegen/llvm/kernel_emitter.h"

#include <llvm/IR/Verifier.h>

#include "codegen/llvm/emission_testing.h"

namespace tilewright::codegen {
namespace {

using ir::Expr;
using ::testing::HasSubstr;

class KernelEmitterTest : public ::testing::Test {
 protected:
  Result<double> emit(ir::Stmt body) {
    function_.body = std::move(body);
    return emit_kernel(function_, target_, {.offset = {0, 0}}, "kernel", module_);
  }

  llvm::LLVMContext context_;
  llvm::Module module_{"test", context_};
  ir::Function function_{.name = "copy",
                         .buffers = {{.name = "A", .element = ir::kF32, .shape = {64}},
                                     {.name = "B", .element = ir::kF32, .shape = {64}}},
                         .arguments = {0, 1},
                         .argument_written = {false, true},
                         .body = {}};
  const Target target_ = *parse_target("x86-64-v3");
  const Expr i_ = ir::var("i");
};

TEST_F(KernelEmitterTest, TheEntryCallsTheBody) {
  const ir::Stmt store = ir::make_store(1, {i_}, ir::load(ir::kF32, 0, {i_}));
  ASSERT_TRUE(emit(ir::make_for(i_, ir::int_imm(64), ir::ForKind::Serial, store)));
  EXPECT_FALSE(llvm::verifyModule(module_, &llvm::errs()));
  const llvm::Function* entry = module_.getFunction("kernel");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->arg_size(), 1U);
  EXPECT_EQ(entry->getAlign(), llvm::Align(64));
  const llvm::Function* body = module_.getFunction("kernel.body");
  ASSERT_NE(body, nullptr);
  EXPECT_TRUE(body->hasInternalLinkage());
  ASSERT_EQ(body->arg_size(), 5U);  // A, B, workspace, pool, threads
  EXPECT_TRUE(body->getArg(0)->hasNoAliasAttr());
  EXPECT_TRUE(body->getArg(1)->hasNoAliasAttr());
}

TEST_F(KernelEmitterTest, AnErrorNamesTheFunction) {
  const Result<double> emitted = emit(ir::make_store(1, {i_}, ir::float_imm(0, ir::kF32)));
  ASSERT_FALSE(emitted);
  EXPECT_EQ(emitted.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(emitted.error().message, "copy: variable `i` is not bound");
}

}  // namespace
}  // namespace tilewright::codegen
