// For tests: random expressions of every type and operator over one buffer of each type, as
// programs that a back end must compute with the same bits as the interpreter.
#pragma once

#include <vector>

#include "base/rng.h"
#include "codegen/bytes_testing.h"
#include "ir/stmt.h"

namespace tilewright::codegen {

struct RandomProgram {
  ir::Function function;
  std::vector<Bytes> arguments;
};

// Without `denormals`, they count as zero: operations that only move values may do either.
RandomProgram random_program(Rng& rng, bool denormals = true);

}  // namespace tilewright::codegen
