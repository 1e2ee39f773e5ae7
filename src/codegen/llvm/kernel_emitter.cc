#include "codegen/llvm/kernel_emitter.h"

#include "codegen/llvm/stmt_emitter.h"
#include "runtime/abi/kernel_abi.h"

namespace tilewright::codegen {
namespace {

// int32_t kernel(const TilewrightCall* call)
void emit_entry(Emission& emission, llvm::Function* body) {
  llvm::Type* pointer = emission.builder.getPtrTy();
  auto* type = llvm::FunctionType::get(emission.builder.getInt32Ty(), {pointer}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, emission.symbol,
                                       emission.module);
  emission.set_attributes(entry);
  emission.builder.SetInsertPoint(llvm::BasicBlock::Create(emission.context, "", entry));
  auto* call_type = llvm::StructType::get(
      emission.context,
      {pointer, pointer, pointer, emission.builder.getInt32Ty(), emission.builder.getInt32Ty()});
  const auto field = [&](unsigned position) {
    return emission.builder.CreateLoad(
        call_type->getElementType(position),
        emission.builder.CreateStructGEP(call_type, entry->getArg(0), position));
  };
  std::vector<Value> parameters;
  parameters.reserve(emission.function.arguments.size());
  Value arguments = field(0);
  for (size_t k = 0; k < emission.function.arguments.size(); ++k) {
    parameters.push_back(emission.builder.CreateLoad(
        pointer, emission.builder.CreateConstGEP1_64(pointer, arguments, k)));
  }
  for (unsigned position : {1u, 2u, 3u}) parameters.push_back(field(position));
  emission.builder.CreateRet(emission.builder.CreateCall(body, parameters));
}

llvm::Function* declare_body(Emission& emission) {
  std::vector<llvm::Type*> types(emission.function.arguments.size() + 2,
                                 emission.builder.getPtrTy());
  types.push_back(emission.builder.getInt32Ty());
  auto* type = llvm::FunctionType::get(emission.builder.getInt32Ty(), types, false);
  auto* body = llvm::Function::Create(type, llvm::Function::InternalLinkage,
                                      emission.symbol + ".body", emission.module);
  emission.set_attributes(body);
  for (unsigned k = 0; k < emission.function.arguments.size(); ++k) {
    const ir::Buffer& buffer = emission.function.buffers[emission.function.arguments[k]];
    const int64_t bytes = buffer.elements() * ir::bytes_of(buffer.element.scalar);
    body->addParamAttr(k, llvm::Attribute::NoAlias);
    if (bytes > 0) body->addDereferenceableParamAttr(k, static_cast<uint64_t>(bytes));
  }
  return body;
}

}  // namespace

Result<double> emit_kernel(const ir::Function& function, const Target& target,
                           const WorkspacePlan& plan, const std::string& symbol,
                           llvm::Module& module) {
  Emission emission(function, target, plan, symbol, module);
  llvm::Function* body = declare_body(emission);
  emit_entry(emission, body);

  Frame frame(emission, body);
  unsigned parameter = 0;
  for (ir::BufferId id : function.arguments) frame.buffers[id] = body->getArg(parameter++);
  frame.workspace = body->getArg(parameter++);
  frame.pool = body->getArg(parameter++);
  frame.threads = body->getArg(parameter++);
  frame.worker = emission.index(0);
  StmtEmitter statements(emission, frame);
  statements.emit(function.body);
  statements.fence_streams();
  emission.builder.CreateRet(emission.builder.getInt32(TILEWRIGHT_STATUS_OK));
  frame.finish();

  if (emission.error.empty()) return emission.promote_ms;
  return fail(ErrorKind::Unsupported, function.name + ": " + emission.error);
}

}  // namespace tilewright::codegen
