#include "codegen/c/probe.h"

#include "codegen/c/c_library.h"

namespace tilewright::codegen {

Status c_works() {
  const ir::Function function{
      .name = "probe",
      .buffers = {{.name = "x", .element = ir::kF32, .shape = {1}}},
      .arguments = {0},
      .argument_written = {true},
      .body = ir::make_store(
          0, {ir::int_imm(0)},
          ir::load(ir::Scalar::F32, 0, {ir::int_imm(0)}) + ir::float_imm(1, ir::kF32))};
  const Result<CLibrary> library = CLibrary::build({&function, 1}, host_target(1));
  if (!library) return std::unexpected(library.error());
  float x = 1;
  void* arguments[] = {&x};
  const int32_t status = library->kernels()[0](
      {.arguments = arguments, .workspace = nullptr, .pool = nullptr, .threads = 1, .reserved = 0});
  if (status != TILEWRIGHT_STATUS_OK || x != 2) {
    return fail(ErrorKind::Build, "a compiled kernel ran but gave a wrong result");
  }
  return {};
}

}  // namespace tilewright::codegen
