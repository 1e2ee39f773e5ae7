#include "codegen/llvm/emission.h"

#include "codegen/llvm/register_masks.h"
#include "codegen/llvm/stores.h"
#include "codegen/llvm/target_machine.h"

namespace tilewright::codegen {

Emission::Emission(const ir::Function& the_function, const Target& the_target,
                   const WorkspacePlan& the_plan, std::string the_symbol, llvm::Module& the_module)
    : function(the_function),
      target(the_target),
      plan(the_plan),
      symbol(std::move(the_symbol)),
      module(the_module),
      context(the_module.getContext()),
      builder(context),
      types(context),
      faults(the_function),
      streams(has_stream_stores(the_function.body)),
      under_one_mask(registers_under_one_mask(the_function)) {}

Value Emission::unsupported(const std::string& what) {
  if (error.empty()) error = what;
  return nullptr;
}

// By default LLVM prefers narrower vectors than the target has. Functions start at a cache line, so
// that the alignment of loops does not depend on the loader or linker, and deployed kernels run as
// measured.
void Emission::set_attributes(llvm::Function* made) const {
  const std::string width = std::to_string(8 * target.vector_bytes());
  made->setAlignment(llvm::Align(64));
  made->addFnAttr(llvm::Attribute::NoUnwind);
  made->addFnAttr("prefer-vector-width", width);
  made->addFnAttr("min-legal-vector-width", width);
  made->addFnAttr("no-builtins");
  made->addFnAttr("target-cpu", "x86-64");
  made->addFnAttr("target-features", llvm_features(target));
}

}  // namespace tilewright::codegen
