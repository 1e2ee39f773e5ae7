// The C header of a compiled model: the interface of runtime/abi/model_abi.h, the model's symbol,
// and the places of its inputs and outputs by name. Includes nothing of ours. Internal to this
// folder.
#pragma once

#include <string>
#include <string_view>

#include "deploy/program.h"

namespace tilewright::deploy {

// The same for objects and C sources: of one name they may lie in one folder.
std::string model_header(const Program& program, std::string_view file_name);

}  // namespace tilewright::deploy
