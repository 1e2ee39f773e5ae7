#include "tests/toys/machine/device/toy_device.h"

#include "codegen/interp/interp.h"
#include "tests/toys/machine/device/toy_code.h"

namespace tilewright::toys {

Result<ToyProgram> ToyProgram::load(std::span<const uint8_t> code) {
  return ToyProgram(std::make_shared<const ir::Function>(TRY(decode(code))));
}

size_t ToyProgram::arguments() const { return function_->arguments.size(); }

Status ToyProgram::run(std::span<void* const> arguments) const {
  return codegen::interpret(*function_, arguments);
}

}  // namespace tilewright::toys
