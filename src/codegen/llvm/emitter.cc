#include "codegen/llvm/emitter.h"

#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>

#include "codegen/llvm/register_masks.h"
#include "codegen/llvm/target_machine.h"
#include "runtime/abi/kernel_abi.h"
#include "runtime/host/timer.h"

namespace tilewright::codegen {

Emitter::Emitter(const ir::Function& function, const Target& target, const WorkspacePlan& plan,
                 std::string symbol, llvm::Module& module)
    : function_(function),
      target_(target),
      plan_(plan),
      symbol_(std::move(symbol)),
      module_(module),
      context_(module.getContext()),
      builder_(context_),
      streams_(has_stream_stores(function.body)),
      under_one_mask_(registers_under_one_mask(function)) {}

Status Emitter::emit() {
  llvm::Function* body = declare_body();
  emit_entry(body);

  Frame frame;
  begin_function(frame, body);
  frame.buffers.assign(function_.buffers.size(), nullptr);
  unsigned parameter = 0;
  for (ir::BufferId id : function_.arguments) frame.buffers[id] = body->getArg(parameter++);
  frame.workspace = body->getArg(parameter++);
  frame.pool = body->getArg(parameter++);
  frame.threads = body->getArg(parameter++);
  frame.worker = index(0);
  emit(function_.body);
  fence_streams();
  builder_.CreateRet(builder_.getInt32(TILEWRIGHT_STATUS_OK));
  finish_function();

  if (error_.empty()) return {};
  return fail(ErrorKind::Unsupported, function_.name + ": " + error_);
}

// int32_t kernel(const TilewrightCall* call)
void Emitter::emit_entry(llvm::Function* body) {
  llvm::Type* pointer = builder_.getPtrTy();
  auto* type = llvm::FunctionType::get(builder_.getInt32Ty(), {pointer}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol_, module_);
  set_attributes(entry);
  builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "", entry));
  auto* call_type = llvm::StructType::get(
      context_, {pointer, pointer, pointer, builder_.getInt32Ty(), builder_.getInt32Ty()});
  const auto field = [&](unsigned position) {
    return builder_.CreateLoad(call_type->getElementType(position),
                               builder_.CreateStructGEP(call_type, entry->getArg(0), position));
  };
  std::vector<Value> parameters;
  parameters.reserve(function_.arguments.size());
  Value arguments = field(0);
  for (size_t k = 0; k < function_.arguments.size(); ++k) {
    parameters.push_back(
        builder_.CreateLoad(pointer, builder_.CreateConstGEP1_64(pointer, arguments, k)));
  }
  for (unsigned position : {1u, 2u, 3u}) parameters.push_back(field(position));
  builder_.CreateRet(builder_.CreateCall(body, parameters));
}

llvm::Function* Emitter::declare_body() {
  std::vector<llvm::Type*> types(function_.arguments.size() + 2, builder_.getPtrTy());
  types.push_back(builder_.getInt32Ty());
  auto* type = llvm::FunctionType::get(builder_.getInt32Ty(), types, false);
  auto* body =
      llvm::Function::Create(type, llvm::Function::InternalLinkage, symbol_ + ".body", module_);
  set_attributes(body);
  for (unsigned k = 0; k < function_.arguments.size(); ++k) {
    const ir::Buffer& buffer = function_.buffers[function_.arguments[k]];
    const int64_t bytes = buffer.elements() * ir::bytes_of(buffer.element.scalar);
    body->addParamAttr(k, llvm::Attribute::NoAlias);
    if (bytes > 0) body->addDereferenceableParamAttr(k, static_cast<uint64_t>(bytes));
  }
  return body;
}

// LLVM prefers narrower vectors than it could use unless told otherwise. Functions begin with a
// cache line, so that loops lie the same to it wherever a loader or a linker puts them: what is
// measured is what is deployed.
void Emitter::set_attributes(llvm::Function* function) const {
  const std::string width = std::to_string(8 * target_.vector_bytes());
  function->setAlignment(llvm::Align(64));
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("prefer-vector-width", width);
  function->addFnAttr("min-legal-vector-width", width);
  function->addFnAttr("no-builtins");
  function->addFnAttr("target-cpu", "x86-64");
  function->addFnAttr("target-features", llvm_features(target_));
}

void Emitter::begin_function(Frame& frame, llvm::Function* function) {
  frame.function = function;
  frame.entry = llvm::BasicBlock::Create(context_, "entry", function);
  auto* start = llvm::BasicBlock::Create(context_, "start", function);
  builder_.SetInsertPoint(frame.entry);
  builder_.CreateBr(start);
  builder_.SetInsertPoint(start);
  frame.levels.emplace_back();
  frame_ = &frame;
}

// Register buffers become SSA values.
void Emitter::finish_function() {
  const int64_t start = runtime::thread_cpu_ns();
  std::erase_if(frame_->registers,
                [](llvm::AllocaInst* r) { return !llvm::isAllocaPromotable(r); });
  if (!frame_->registers.empty()) {
    llvm::DominatorTree dominators(*frame_->function);
    llvm::PromoteMemToReg(frame_->registers, dominators);
  }
  promote_ms_ += static_cast<double>(runtime::thread_cpu_ns() - start) * 1e-6;
  frame_ = nullptr;
}

llvm::AllocaInst* Emitter::entry_alloca(llvm::Type* type, int64_t count, unsigned alignment) {
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(frame_->entry->getTerminator());
  auto* memory = builder_.CreateAlloca(type, count == 1 ? nullptr : index(count));
  memory->setAlignment(
      std::max(llvm::Align(alignment), module_.getDataLayout().getPrefTypeAlign(type)));
  return memory;
}

// The first thing that cannot be emitted is the error of the whole; emit(expr) goes on with poison.
Emitter::Value Emitter::unsupported(const std::string& what) {
  if (error_.empty()) error_ = what;
  return nullptr;
}

llvm::Type* Emitter::scalar_type(ir::Scalar scalar) const {
  switch (scalar) {
    case ir::Scalar::Bool:
      return llvm::Type::getInt1Ty(context_);
    case ir::Scalar::I8:
    case ir::Scalar::U8:
      return llvm::Type::getInt8Ty(context_);
    case ir::Scalar::I16:
    case ir::Scalar::F16:
    case ir::Scalar::BF16:
      return llvm::Type::getInt16Ty(context_);
    case ir::Scalar::I32:
      return llvm::Type::getInt32Ty(context_);
    case ir::Scalar::I64:
      return llvm::Type::getInt64Ty(context_);
    case ir::Scalar::F32:
      return llvm::Type::getFloatTy(context_);
    case ir::Scalar::F64:
      return llvm::Type::getDoubleTy(context_);
  }
  return nullptr;
}

llvm::Type* Emitter::value_type(ir::Type type) const {
  llvm::Type* element = scalar_type(type.scalar);
  return type.is_vector() ? llvm::FixedVectorType::get(element, type.lanes) : element;
}

llvm::Type* Emitter::memory_type(ir::Type type) const {
  return ir::is_bool(type) ? value_type({ir::Scalar::U8, type.lanes}) : value_type(type);
}

llvm::Type* Emitter::same_lanes(llvm::Type* element, Value like) const {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector == nullptr ? element
                           : llvm::FixedVectorType::get(element, vector->getNumElements());
}

}  // namespace tilewright::codegen
