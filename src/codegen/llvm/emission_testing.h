// EmissionTest: an LLVM function without a kernel around it, into which one collaborator of the
// emitter writes. Its parameters are the buffers A and B and the index i:
//
//   define void @f(ptr A, ptr B, i64 i)
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <string>

#include "codegen/llvm/frame.h"

namespace tilewright::codegen {

class EmissionTest : public ::testing::Test {
 protected:
  static constexpr ir::BufferId kA = 0, kB = 1, kRegister = 2, kWorkspace = 3, kDevice = 4;

  EmissionTest() {
    frame_.buffers[kA] = made_->getArg(0);
    frame_.buffers[kB] = made_->getArg(1);
    frame_.vars[i_.as<ir::Var>()->id] = {.value = made_->getArg(2), .level = 0, .multiple = 4};
    frame_.workspace = made_->getArg(0);
    frame_.worker = emission_.index(0);
  }

  // All functions so far, with their instructions.
  std::string text() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (const llvm::Function& function : module_) function.print(stream);
    return text;
  }

  static ir::Function function_of_buffers() {
    return {.name = "f",
            .buffers =
                {{.name = "A", .element = ir::kF32, .shape = {512}},
                 {.name = "B", .element = ir::kF32, .shape = {512}},
                 {.name = "r", .element = ir::kF32, .shape = {1}, .scope = ir::Scope::Register},
                 {.name = "w", .element = ir::kF32, .shape = {16}, .scope = ir::Scope::Workspace},
                 {.name = "d", .element = ir::kF32, .shape = {4}, .scope = ir::Scope::DeviceLocal}},
            .arguments = {kA, kB},
            .argument_written = {false, true},
            .body = {}};
  }
  static ir::Expr load_a(const ir::Expr& index) {
    return ir::load(ir::kF32.with_lanes(index.type().lanes), kA, {index});
  }

  llvm::LLVMContext context_;
  llvm::Module module_{"test", context_};
  const ir::Expr i_ = ir::var("i");
  const ir::Function function_ = function_of_buffers();
  const Target target_ = *parse_target("x86-64-v3");
  const WorkspacePlan plan_{.offset = {0, 0, 0, 128, 0}};
  Emission emission_{function_, target_, plan_, "f", module_};
  llvm::Function* made_ =
      llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context_),
                                                     {llvm::PointerType::get(context_, 0),
                                                      llvm::PointerType::get(context_, 0),
                                                      llvm::Type::getInt64Ty(context_)},
                                                     false),
                             llvm::Function::ExternalLinkage, "f", module_);
  Frame frame_{emission_, made_};
};

}  // namespace tilewright::codegen
