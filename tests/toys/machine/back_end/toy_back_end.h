// The back end of the made-up machine: its passes, its compiler and its row. It includes what a
// folder of src/codegen may include, and the loader and the instructions of the machine.
#pragma once

#include "codegen/back_end.h"

namespace tilewright::toys {

const codegen::BackEnd& toy_back_end();

}  // namespace tilewright::toys
