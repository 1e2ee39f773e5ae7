// Computes Graphs as in deployment: passes, partition, default schedules, machine code.
#pragma once

#include "tests/onnx/run_case.h"

namespace tilewright::onnx {

Compute compiled_compute();

}  // namespace tilewright::onnx
