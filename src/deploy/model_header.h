// The C header of a compiled model: the interface of runtime/abi/model_abi.h, the symbol of the
// model, and the indices of its inputs and outputs by name. Self-contained. Internal to this
// folder.
#pragma once

#include <string>
#include <string_view>

#include "deploy/program.h"

namespace tilewright::deploy {

// Identical for objects and C sources: with the same name, they may be in one folder.
std::string model_header(const Program& program, std::string_view file_name);

}  // namespace tilewright::deploy
