// A back end for a made-up machine: the interpreter as a device with shared memory and a short list
// of passes. A target is a CPU or a CUDA device, so it borrows the text `cuda:sm_75`, with the
// sizes of that device's memories; it has nothing else of CUDA. All of it is in this folder: a back
// end is its row, its loader and its code.
#pragma once

#include <vector>

#include "codegen/back_end.h"
#include "runtime/host/loader.h"

namespace tilewright::toys {

const runtime::Loader& toy_loader();  // without a compiler: for a run worker
const codegen::BackEnd& toy_back_end();

// The loaders of the program and this one.
std::vector<runtime::Loader> loaders_with_toy();

}  // namespace tilewright::toys
