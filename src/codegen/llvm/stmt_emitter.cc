#include "codegen/llvm/stmt_emitter.h"

#include "codegen/mentions.h"
#include "lower/device_faults.h"
#include "runtime/abi/kernel_abi.h"

namespace tilewright::codegen {

void StmtEmitter::emit(const ir::Stmt& stmt) {
  if (!stmt.defined() || !emission_.error.empty()) return;
  exprs_.begin_statement();
  switch (stmt.kind()) {
    case ir::StmtKind::For:
      return emit_for(*stmt.as<ir::For>());
    case ir::StmtKind::If:
      return emit_if(*stmt.as<ir::If>());
    case ir::StmtKind::Let:
      return emit_let(*stmt.as<ir::Let>());
    case ir::StmtKind::Store:
      return stores_.emit_store(*stmt.as<ir::Store>());
    case ir::StmtKind::Transpose:
      return stores_.emit_transpose(*stmt.as<ir::Transpose>());
    case ir::StmtKind::Prefetch:
      return stores_.emit_prefetch(*stmt.as<ir::Prefetch>());
    case ir::StmtKind::Allocate:
      return emit_allocate(*stmt.as<ir::Allocate>());
    case ir::StmtKind::Block:
      for (const ir::Stmt& child : stmt.as<ir::Block>()->stmts) emit(child);
      return;
  }
}

void StmtEmitter::emit_for(const ir::For& loop) {
  if (loop.loop_kind == ir::ForKind::Bound) {
    emission_.unsupported(lower::axis_fault("a loop", loop.axis));
    return;
  }
  const ir::VarId var = loop.var.as<ir::Var>()->id;
  const int64_t* extent = ir::as_int(loop.extent);
  if (extent != nullptr && *extent <= 0) return;
  if (extent != nullptr && *extent == 1) {
    frame_.enter_level(nullptr);
    frame_.bind(var, emission_.index(0), 0, [&] { emit(loop.body); });
    frame_.leave_level();
    return;
  }
  if (loop.loop_kind == ir::ForKind::Parallel) return emit_parallel(loop);
  Value count = exprs_.emit(loop.extent);
  frame_.counted_loop(count, extent == nullptr,
                      [&](Value k) { frame_.bind(var, k, 1, [&] { emit(loop.body); }); });
}

void StmtEmitter::emit_if(const ir::If& branch) {
  const auto then_body = [&] { emit(branch.then_body); };
  const auto else_body = [&] { emit(branch.else_body); };
  if (branch.else_body.defined()) {
    frame_.branch(exprs_.emit(branch.condition), then_body, else_body);
  } else {
    frame_.branch(exprs_.emit(branch.condition), then_body, nullptr);
  }
}

void StmtEmitter::emit_let(const ir::Let& let) {
  Value value = exprs_.emit(let.value);
  frame_.enter_level(nullptr);
  const int64_t multiple = let.var.type() == ir::kIndex ? frame_.multiple_of(let.value) : 1;
  frame_.bind(let.var.as<ir::Var>()->id, value, multiple, [&] { emit(let.body); });
  frame_.leave_level();
}

void StmtEmitter::emit_allocate(const ir::Allocate& allocate) {
  const ir::Buffer& buffer = emission_.function.buffers[allocate.buffer];
  Value& memory = frame_.buffers[allocate.buffer];
  switch (buffer.scope) {
    case ir::Scope::Argument:
      emission_.unsupported("argument `" + buffer.name + "` is allocated");
      return;
    case ir::Scope::Shared:
    case ir::Scope::DeviceGlobal:
    case ir::Scope::DeviceLocal:
    case ir::Scope::DeviceRegister:
      emission_.unsupported(lower::memory_fault("`" + buffer.name + "`", "device", "a CPU"));
      return;
    case ir::Scope::Register: {
      // One element is promoted; several stay in memory.
      llvm::Type* type = buffer.elements() == 1 ? types_.value_type(buffer.element)
                                                : types_.memory_type(buffer.element);
      llvm::AllocaInst*& slot = frame_.slots[allocate.buffer];
      if (slot == nullptr) {
        slot = frame_.entry_alloca(type, buffer.elements(), 1);
        if (buffer.elements() == 1) frame_.registers.push_back(slot);
      }
      memory = slot;
      break;
    }
    case ir::Scope::Stack: {
      llvm::AllocaInst*& slot = frame_.slots[allocate.buffer];
      if (slot == nullptr) {
        slot = frame_.entry_alloca(types_.memory_type(buffer.element), buffer.elements(), 64);
      }
      memory = slot;
      break;
    }
    case ir::Scope::Workspace:  // at level 0, so that addresses can be computed at any level
      memory = frame_.at_level(0, [&] {
        return builder_.CreateGEP(builder_.getInt8Ty(), frame_.workspace,
                                  emission_.index(emission_.plan.offset[allocate.buffer]));
      });
      break;
    case ir::Scope::Thread:
      memory = frame_.at_level(0, [&] {
        Value part = builder_.CreateMul(frame_.worker, emission_.index(emission_.plan.per_thread));
        Value offset = builder_.CreateAdd(
            part, emission_.index(emission_.plan.shared + emission_.plan.offset[allocate.buffer]));
        return builder_.CreateGEP(builder_.getInt8Ty(), frame_.workspace, offset);
      });
      break;
  }
  frame_.enter_level(nullptr);
  emit(allocate.body);
  frame_.leave_level();
  frame_.buffers[allocate.buffer] = nullptr;
}

void StmtEmitter::emit_parallel(const ir::For& loop) {
  if (frame_.pool == nullptr) {
    emission_.unsupported("a Parallel loop inside a Parallel loop");
    return;
  }
  Value count = exprs_.emit(loop.extent);

  // Used values that are known here are captured; the others are bound inside.
  Mentions mentions;
  mentions.visit(loop.body);
  std::erase_if(mentions.vars, [&](ir::VarId id) { return !frame_.vars.contains(id); });
  std::erase_if(mentions.buffers, [&](ir::BufferId id) { return frame_.buffers[id] == nullptr; });
  std::vector<Value> captured = {frame_.workspace};
  for (ir::VarId id : mentions.vars) captured.push_back(frame_.vars[id].value);
  for (ir::BufferId id : mentions.buffers) captured.push_back(frame_.buffers[id]);

  std::vector<llvm::Type*> types;
  types.reserve(captured.size());
  for (Value value : captured) types.push_back(value->getType());
  auto* context = llvm::StructType::get(emission_.context, types);
  llvm::AllocaInst* memory = frame_.entry_alloca(context, 1, 64);
  for (unsigned k = 0; k < captured.size(); ++k) {
    builder_.CreateStore(captured[k], builder_.CreateStructGEP(context, memory, k));
  }

  llvm::Function* task = emit_task(loop, context, mentions.vars, mentions.buffers);
  llvm::Type* pointer = builder_.getPtrTy();
  const llvm::FunctionCallee run = emission_.module.getOrInsertFunction(
      "tilewright_parallel_for", builder_.getInt32Ty(), pointer, builder_.getInt32Ty(),
      builder_.getInt64Ty(), pointer, pointer);
  stores_.fence_streams();
  Value status = builder_.CreateCall(run, {frame_.pool, frame_.threads, count, task, memory});
  auto* failed = llvm::BasicBlock::Create(emission_.context, "failed", frame_.function);
  auto* after = llvm::BasicBlock::Create(emission_.context, "after", frame_.function);
  builder_.CreateCondBr(builder_.CreateICmpEQ(status, builder_.getInt32(0)), after, failed);
  builder_.SetInsertPoint(failed);
  builder_.CreateRet(builder_.getInt32(TILEWRIGHT_STATUS_PARALLEL_FAILED));
  builder_.SetInsertPoint(after);
}

llvm::Function* StmtEmitter::emit_task(const ir::For& loop, llvm::StructType* context,
                                       const std::vector<ir::VarId>& vars,
                                       const std::vector<ir::BufferId>& buffers) {
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  auto* type = llvm::FunctionType::get(
      builder_.getVoidTy(), {builder_.getPtrTy(), builder_.getInt64Ty(), builder_.getInt32Ty()},
      false);
  auto* task = llvm::Function::Create(
      type, llvm::Function::InternalLinkage,
      emission_.symbol + ".task" + std::to_string(emission_.tasks++), emission_.module);
  emission_.set_attributes(task);

  Frame frame(emission_, task);
  unsigned position = 0;
  const auto next_captured = [&] {
    const unsigned k = position++;
    return builder_.CreateLoad(context->getElementType(k),
                               builder_.CreateStructGEP(context, task->getArg(0), k));
  };
  frame.workspace = next_captured();
  for (ir::VarId id : vars) {
    frame.vars[id] = {next_captured(), 0, frame_.vars[id].multiple};
  }
  for (ir::BufferId id : buffers) frame.buffers[id] = next_captured();
  frame.worker = builder_.CreateZExt(task->getArg(2), builder_.getInt64Ty());
  StmtEmitter inner(emission_, frame);
  frame.bind(loop.var.as<ir::Var>()->id, task->getArg(1), 1, [&] { inner.emit(loop.body); });
  inner.fence_streams();
  builder_.CreateRetVoid();
  frame.finish();
  return task;
}

}  // namespace tilewright::codegen
