// Parallel loops. Before -> after:
//
//   parallel for i < n: body      context = { captured variables and pointers };
//                                 if (tilewright_parallel_for(pool, threads, n, task, &context))
//                                   return TILEWRIGHT_STATUS_PARALLEL_FAILED;
//
//   task(context, i, worker):     body, with what it needs loaded from the context
#include "codegen/llvm/emitter.h"
#include "codegen/mentions.h"
#include "runtime/abi/kernel_abi.h"

namespace tilewright::codegen {

void Emitter::emit_parallel(const ir::For& loop) {
  if (frame_->pool == nullptr) {
    unsupported("a Parallel loop inside a Parallel loop");
    return;
  }
  Value count = emit(loop.extent);

  // What is mentioned and known here is captured; the rest is bound inside.
  Mentions mentions;
  mentions.visit(loop.body);
  std::erase_if(mentions.vars, [&](ir::VarId id) { return !frame_->vars.contains(id); });
  std::erase_if(mentions.buffers, [&](ir::BufferId id) { return frame_->buffers[id] == nullptr; });
  std::vector<Value> captured = {frame_->workspace};
  for (ir::VarId id : mentions.vars) captured.push_back(frame_->vars[id].value);
  for (ir::BufferId id : mentions.buffers) captured.push_back(frame_->buffers[id]);

  std::vector<llvm::Type*> types;
  types.reserve(captured.size());
  for (Value value : captured) types.push_back(value->getType());
  auto* context = llvm::StructType::get(context_, types);
  llvm::AllocaInst* memory = entry_alloca(context, 1, 64);
  for (unsigned k = 0; k < captured.size(); ++k) {
    builder_.CreateStore(captured[k], builder_.CreateStructGEP(context, memory, k));
  }

  llvm::Function* task = emit_task(loop, context, mentions.vars, mentions.buffers);
  llvm::Type* pointer = builder_.getPtrTy();
  const llvm::FunctionCallee run =
      module_.getOrInsertFunction("tilewright_parallel_for", builder_.getInt32Ty(), pointer,
                                  builder_.getInt32Ty(), builder_.getInt64Ty(), pointer, pointer);
  fence_streams();
  Value status = builder_.CreateCall(run, {frame_->pool, frame_->threads, count, task, memory});
  auto* failed = llvm::BasicBlock::Create(context_, "failed", frame_->function);
  auto* after = llvm::BasicBlock::Create(context_, "after", frame_->function);
  builder_.CreateCondBr(builder_.CreateICmpEQ(status, builder_.getInt32(0)), after, failed);
  builder_.SetInsertPoint(failed);
  builder_.CreateRet(builder_.getInt32(TILEWRIGHT_STATUS_PARALLEL_FAILED));
  builder_.SetInsertPoint(after);
}

llvm::Function* Emitter::emit_task(const ir::For& loop, llvm::StructType* context,
                                   const std::vector<ir::VarId>& vars,
                                   const std::vector<ir::BufferId>& buffers) {
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  Frame* outer = frame_;
  auto* type = llvm::FunctionType::get(
      builder_.getVoidTy(), {builder_.getPtrTy(), builder_.getInt64Ty(), builder_.getInt32Ty()},
      false);
  auto* task = llvm::Function::Create(type, llvm::Function::InternalLinkage,
                                      symbol_ + ".task" + std::to_string(tasks_++), module_);
  set_attributes(task);

  Frame frame;
  begin_function(frame, task);
  unsigned position = 0;
  const auto next_captured = [&] {
    const unsigned k = position++;
    return builder_.CreateLoad(context->getElementType(k),
                               builder_.CreateStructGEP(context, task->getArg(0), k));
  };
  frame.workspace = next_captured();
  for (ir::VarId id : vars) {
    frame.vars[id] = {next_captured(), 0, outer->vars[id].multiple};
  }
  frame.buffers.assign(function_.buffers.size(), nullptr);
  for (ir::BufferId id : buffers) frame.buffers[id] = next_captured();
  frame.worker = builder_.CreateZExt(task->getArg(2), builder_.getInt64Ty());
  bind(loop.var.as<ir::Var>()->id, task->getArg(1), 1, [&] { emit(loop.body); });
  fence_streams();
  builder_.CreateRetVoid();
  finish_function();
  frame_ = outer;
  return task;
}

}  // namespace tilewright::codegen
