// Statements: loops, branches, bindings, allocations. Parallel loops: emit_parallel.cc; stores:
// emit_store.cc.
#include "codegen/llvm/emitter.h"

namespace tilewright::codegen {

void Emitter::emit(const ir::Stmt& stmt) {
  if (!stmt.defined() || !error_.empty()) return;
  forget_shared(0);  // a statement may change what shared expressions load
  switch (stmt.kind()) {
    case ir::StmtKind::For:
      return emit_for(*stmt.as<ir::For>());
    case ir::StmtKind::If:
      return emit_if(*stmt.as<ir::If>());
    case ir::StmtKind::Let:
      return emit_let(*stmt.as<ir::Let>());
    case ir::StmtKind::Store:
      return emit_store(*stmt.as<ir::Store>());
    case ir::StmtKind::Transpose:
      return emit_transpose(*stmt.as<ir::Transpose>());
    case ir::StmtKind::Prefetch:
      return emit_prefetch(*stmt.as<ir::Prefetch>());
    case ir::StmtKind::Allocate:
      return emit_allocate(*stmt.as<ir::Allocate>());
    case ir::StmtKind::Block:
      for (const ir::Stmt& child : stmt.as<ir::Block>()->stmts) emit(child);
      return;
  }
}

void Emitter::enter_level(llvm::BasicBlock* block) {
  Level level;
  if (block != nullptr) {
    level.before = builder_.GetInsertBlock();
    builder_.SetInsertPoint(block);
  }
  frame_->levels.push_back(std::move(level));
}

void Emitter::leave_level() { frame_->levels.pop_back(); }

void Emitter::bind(ir::VarId var, Value value, int64_t multiple,
                   const std::function<void()>& body) {
  frame_->vars[var] = {value, frame_->levels.size() - 1, multiple};
  body();
  frame_->vars.erase(var);
}

void Emitter::emit_for(const ir::For& loop) {
  const ir::VarId var = loop.var.as<ir::Var>()->id;
  const int64_t* extent = ir::as_int(loop.extent);
  if (extent != nullptr && *extent <= 0) return;
  if (extent != nullptr && *extent == 1) {
    enter_level(nullptr);
    bind(var, index(0), 0, [&] { emit(loop.body); });
    leave_level();
    return;
  }
  if (loop.loop_kind == ir::ForKind::Parallel) return emit_parallel(loop);
  Value count = emit(loop.extent);
  emit_counted_loop(count, extent == nullptr,
                    [&](Value k) { bind(var, k, 1, [&] { emit(loop.body); }); });
}

//   before -> loop: k = phi(0, k + 1); body; if k + 1 < extent goto loop -> after
void Emitter::emit_counted_loop(Value extent, bool may_be_empty,
                                const std::function<void(Value)>& body) {
  auto* loop = llvm::BasicBlock::Create(context_, "loop", frame_->function);
  auto* after = llvm::BasicBlock::Create(context_, "after");
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  if (may_be_empty) {
    builder_.CreateCondBr(builder_.CreateICmpSGT(extent, index(0)), loop, after);
  } else {
    builder_.CreateBr(loop);
  }
  enter_level(loop);
  llvm::PHINode* k = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  k->addIncoming(index(0), before);
  frame_->levels.back().counter = k;
  body(k);
  for (const auto& [pointer, bytes] : frame_->levels.back().moving) {
    Value moved = builder_.CreateGEP(builder_.getInt8Ty(), pointer, index(bytes));
    pointer->addIncoming(moved, builder_.GetInsertBlock());
  }
  Value next = builder_.CreateNUWAdd(k, index(1));
  k->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpULT(next, extent), loop, after);
  leave_level();
  frame_->function->insert(frame_->function->end(), after);
  builder_.SetInsertPoint(after);
}

void Emitter::emit_if(const ir::If& branch) {
  const auto then_body = [&] { emit(branch.then_body); };
  const auto else_body = [&] { emit(branch.else_body); };
  if (branch.else_body.defined()) {
    emit_branch(emit(branch.condition), then_body, else_body);
  } else {
    emit_branch(emit(branch.condition), then_body, nullptr);
  }
}

void Emitter::emit_branch(Value condition, const std::function<void()>& then_body,
                          const std::function<void()>& else_body) {
  const bool has_else = static_cast<bool>(else_body);
  auto* taken = llvm::BasicBlock::Create(context_, "then", frame_->function);
  auto* other = has_else ? llvm::BasicBlock::Create(context_, "else") : nullptr;
  auto* after = llvm::BasicBlock::Create(context_, "after");
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  builder_.CreateCondBr(condition, taken, has_else ? other : after);
  const auto emit_arm = [&](llvm::BasicBlock* block, const std::function<void()>& body) {
    builder_.SetInsertPoint(before);
    enter_level(block);
    body();
    builder_.CreateBr(after);
    leave_level();
  };
  emit_arm(taken, then_body);
  if (has_else) {
    frame_->function->insert(frame_->function->end(), other);
    emit_arm(other, else_body);
  }
  frame_->function->insert(frame_->function->end(), after);
  builder_.SetInsertPoint(after);
}

void Emitter::emit_let(const ir::Let& let) {
  Value value = emit(let.value);
  enter_level(nullptr);
  const int64_t multiple = let.var.type() == ir::kIndex ? multiple_of(let.value) : 1;
  bind(let.var.as<ir::Var>()->id, value, multiple, [&] { emit(let.body); });
  leave_level();
}

void Emitter::emit_allocate(const ir::Allocate& allocate) {
  const ir::Buffer& buffer = function_.buffers[allocate.buffer];
  Value& memory = frame_->buffers[allocate.buffer];
  switch (buffer.scope) {
    case ir::Scope::Argument:
      unsupported("argument `" + buffer.name + "` is allocated");
      return;
    case ir::Scope::Shared:
      unsupported("`" + buffer.name + "` lives in memory that the threads of a block share");
      return;
    case ir::Scope::Register: {
      // One element is promoted; more stay in memory.
      llvm::Type* type =
          buffer.elements() == 1 ? value_type(buffer.element) : memory_type(buffer.element);
      llvm::AllocaInst*& slot = frame_->slots[allocate.buffer];
      if (slot == nullptr) {
        slot = entry_alloca(type, buffer.elements(), 1);
        if (buffer.elements() == 1) frame_->registers.push_back(slot);
      }
      memory = slot;
      break;
    }
    case ir::Scope::Stack: {
      llvm::AllocaInst*& slot = frame_->slots[allocate.buffer];
      if (slot == nullptr) {
        slot = entry_alloca(memory_type(buffer.element), buffer.elements(), 64);
      }
      memory = slot;
      break;
    }
    case ir::Scope::Workspace:  // at level 0, so that addresses may be computed at any
      memory = at_level(0, [&] {
        return builder_.CreateGEP(builder_.getInt8Ty(), frame_->workspace,
                                  index(plan_.offset[allocate.buffer]));
      });
      break;
    case ir::Scope::Thread:
      memory = at_level(0, [&] {
        Value part = builder_.CreateMul(frame_->worker, index(plan_.per_thread));
        Value offset =
            builder_.CreateAdd(part, index(plan_.shared + plan_.offset[allocate.buffer]));
        return builder_.CreateGEP(builder_.getInt8Ty(), frame_->workspace, offset);
      });
      break;
  }
  enter_level(nullptr);
  emit(allocate.body);
  leave_level();
  frame_->buffers[allocate.buffer] = nullptr;
}

}  // namespace tilewright::codegen
