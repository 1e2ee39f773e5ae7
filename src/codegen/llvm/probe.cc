#include "codegen/llvm/probe.h"

#include "codegen/llvm/compile.h"
#include "ir/stmt.h"
#include "runtime/host/kernel.h"

namespace tilewright::codegen {

Status llvm_works() {
  ir::Function function{.name = "probe",
                        .buffers = {{.name = "x", .element = ir::kF32, .shape = {1}}},
                        .arguments = {0},
                        .argument_written = {true},
                        .body = ir::make_store(0, {ir::int_imm(0)},
                                               ir::load(ir::Scalar::F32, 0, {ir::int_imm(0)}) +
                                                   ir::float_imm(1, ir::kF32))};
  const Result<runtime::KernelObject> object = compile_llvm(function, host_target(1));
  if (!object) return std::unexpected(object.error());
  const Result<runtime::Kernel> kernel = runtime::Kernel::load(*object);
  if (!kernel) return std::unexpected(kernel.error());
  float x = 1;
  void* arguments[] = {&x};
  const int32_t status = (*kernel)(
      {.arguments = arguments, .workspace = nullptr, .pool = nullptr, .threads = 1, .reserved = 0});
  if (status != TILEWRIGHT_STATUS_OK || x != 2) {
    return fail(ErrorKind::Build, "a compiled kernel ran but gave a wrong result");
  }
  return {};
}

}  // namespace tilewright::codegen
