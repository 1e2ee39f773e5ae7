#include "codegen/llvm/frame.h"

#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>
#include <numeric>

#include "ir/visit.h"
#include "runtime/host/timer.h"

namespace tilewright::codegen {

Frame::Frame(Emission& emission, llvm::Function* made)
    : function(made),
      entry(llvm::BasicBlock::Create(emission.context, "entry", made)),
      buffers(emission.function.buffers.size(), nullptr),
      emission_(emission) {
  auto* start = llvm::BasicBlock::Create(emission.context, "start", made);
  builder().SetInsertPoint(entry);
  builder().CreateBr(start);
  builder().SetInsertPoint(start);
  levels.emplace_back();
}

void Frame::finish() {
  const int64_t start = runtime::thread_cpu_ns();
  std::erase_if(registers, [](llvm::AllocaInst* r) { return !llvm::isAllocaPromotable(r); });
  if (!registers.empty()) {
    llvm::DominatorTree dominators(*function);
    llvm::PromoteMemToReg(registers, dominators);
  }
  emission_.promote_ms += static_cast<double>(runtime::thread_cpu_ns() - start) * 1e-6;
}

void Frame::enter_level(llvm::BasicBlock* block) {
  Level level;
  if (block != nullptr) {
    level.before = builder().GetInsertBlock();
    builder().SetInsertPoint(block);
  }
  levels.push_back(std::move(level));
}

void Frame::leave_level() { levels.pop_back(); }

void Frame::bind(ir::VarId var, Value value, int64_t multiple, const std::function<void()>& body) {
  vars[var] = {value, levels.size() - 1, multiple};
  body();
  vars.erase(var);
}

Value Frame::at_level(size_t level, const std::function<Value()>& make) {
  for (size_t k = level + 1; k < levels.size(); ++k) {
    llvm::BasicBlock* before = levels[k].before;
    if (before == nullptr) continue;
    llvm::IRBuilder<>::InsertPointGuard guard(builder());
    builder().SetInsertPoint(before->getTerminator());
    return make();
  }
  return make();
}

size_t Frame::level_of(const ir::Expr& expr) const {
  if (const auto* var = expr.as<ir::Var>()) {
    const auto found = vars.find(var->id);
    return found == vars.end() ? 0 : found->second.level;
  }
  size_t level = 0;
  ir::for_each_child(expr,
                     [&](const ir::Expr& child) { level = std::max(level, level_of(child)); });
  return level;
}

int64_t Frame::multiple_of(const ir::Expr& expr) const {
  if (const int64_t* value = ir::as_int(expr)) return *value;
  if (const auto* var = expr.as<ir::Var>()) {
    const auto found = vars.find(var->id);
    return found == vars.end() ? 1 : found->second.multiple;
  }
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr) return 1;
  switch (binary->op) {
    case ir::BinaryOp::Add:
    case ir::BinaryOp::Sub:
    case ir::BinaryOp::Min:
    case ir::BinaryOp::Max:
      return std::gcd(multiple_of(binary->a), multiple_of(binary->b));
    case ir::BinaryOp::Mul:
      return multiple_of(binary->a) * multiple_of(binary->b);
    default:
      return 1;
  }
}

Value Frame::moving_pointer(size_t level, Value start, int64_t bytes) {
  Level& loop = levels[level];
  llvm::PHINode* moving =
      llvm::PHINode::Create(builder().getPtrTy(), 2, "", loop.counter->getIterator());
  moving->addIncoming(start, loop.before);
  loop.moving.emplace_back(moving, bytes);
  return moving;
}

llvm::AllocaInst* Frame::entry_alloca(llvm::Type* type, int64_t count, unsigned alignment) {
  llvm::IRBuilder<>::InsertPointGuard guard(builder());
  builder().SetInsertPoint(entry->getTerminator());
  auto* memory = builder().CreateAlloca(type, count == 1 ? nullptr : emission_.index(count));
  memory->setAlignment(
      std::max(llvm::Align(alignment), emission_.module.getDataLayout().getPrefTypeAlign(type)));
  return memory;
}

void Frame::counted_loop(Value extent, bool may_be_empty, const std::function<void(Value)>& body) {
  auto* loop = llvm::BasicBlock::Create(emission_.context, "loop", function);
  auto* after = llvm::BasicBlock::Create(emission_.context, "after");
  llvm::BasicBlock* before = builder().GetInsertBlock();
  if (may_be_empty) {
    builder().CreateCondBr(builder().CreateICmpSGT(extent, emission_.index(0)), loop, after);
  } else {
    builder().CreateBr(loop);
  }
  enter_level(loop);
  llvm::PHINode* k = builder().CreatePHI(builder().getInt64Ty(), 2);
  k->addIncoming(emission_.index(0), before);
  levels.back().counter = k;
  body(k);
  for (const auto& [pointer, bytes] : levels.back().moving) {
    Value moved = builder().CreateGEP(builder().getInt8Ty(), pointer, emission_.index(bytes));
    pointer->addIncoming(moved, builder().GetInsertBlock());
  }
  Value next = builder().CreateNUWAdd(k, emission_.index(1));
  k->addIncoming(next, builder().GetInsertBlock());
  builder().CreateCondBr(builder().CreateICmpULT(next, extent), loop, after);
  leave_level();
  function->insert(function->end(), after);
  builder().SetInsertPoint(after);
}

void Frame::branch(Value condition, const std::function<void()>& then_body,
                   const std::function<void()>& else_body) {
  const bool has_else = static_cast<bool>(else_body);
  auto* taken = llvm::BasicBlock::Create(emission_.context, "then", function);
  auto* other = has_else ? llvm::BasicBlock::Create(emission_.context, "else") : nullptr;
  auto* after = llvm::BasicBlock::Create(emission_.context, "after");
  llvm::BasicBlock* before = builder().GetInsertBlock();
  builder().CreateCondBr(condition, taken, has_else ? other : after);
  const auto emit_arm = [&](llvm::BasicBlock* block, const std::function<void()>& body) {
    builder().SetInsertPoint(before);
    enter_level(block);
    body();
    builder().CreateBr(after);
    leave_level();
  };
  emit_arm(taken, then_body);
  if (has_else) {
    function->insert(function->end(), other);
    emit_arm(other, else_body);
  }
  function->insert(function->end(), after);
  builder().SetInsertPoint(after);
}

Value Frame::choose(Value condition, llvm::Type* type, const std::function<Value()>& if_true,
                    const std::function<Value()>& if_false) {
  auto* taken = llvm::BasicBlock::Create(emission_.context, "true", function);
  auto* other = llvm::BasicBlock::Create(emission_.context, "false", function);
  auto* after = llvm::BasicBlock::Create(emission_.context, "join", function);
  llvm::BasicBlock* before = builder().GetInsertBlock();
  builder().CreateCondBr(condition, taken, other);
  const auto emit_arm = [&](llvm::BasicBlock* block, const std::function<Value()>& arm) {
    builder().SetInsertPoint(before);
    enter_level(block);
    Value value = arm();
    builder().CreateBr(after);
    leave_level();
    return std::pair(value, builder().GetInsertBlock());
  };
  const auto [true_value, true_end] = emit_arm(taken, if_true);
  const auto [false_value, false_end] = emit_arm(other, if_false);
  builder().SetInsertPoint(after);
  llvm::PHINode* value = builder().CreatePHI(type, 2);
  value->addIncoming(true_value, true_end);
  value->addIncoming(false_value, false_end);
  return value;
}

}  // namespace tilewright::codegen
