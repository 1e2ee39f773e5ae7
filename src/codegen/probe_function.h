// The function that probes compile: x[0] = x[0] + 1, x of f32.
#pragma once

#include "ir/stmt.h"

namespace tilewright::codegen {

inline ir::Function probe_function() {
  return {.name = "probe",
          .buffers = {{.name = "x", .element = ir::kF32, .shape = {1}}},
          .arguments = {0},
          .argument_written = {true},
          .body = ir::make_store(
              0, {ir::int_imm(0)},
              ir::load(ir::Scalar::F32, 0, {ir::int_imm(0)}) + ir::float_imm(1, ir::kF32))};
}

}  // namespace tilewright::codegen
