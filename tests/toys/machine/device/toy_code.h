// The code of the toy machine: loop IR as bytes. Both directions, for the statements and
// expressions that the machine's passes leave.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"

namespace tilewright::toys {

// An error of kind Unsupported names the statement or expression that the machine lacks.
Result<std::vector<uint8_t>> encode(const ir::Function& function);

// An error of kind Build if the bytes are damaged.
Result<ir::Function> decode(std::span<const uint8_t> bytes);

}  // namespace tilewright::toys
