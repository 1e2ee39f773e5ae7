// A back end for a made-up machine, the proof that a back end is its own files and its rows:
//
//   device/     the machine and its instructions: the interpreter of loop IR stands for the device
//   loader/     corresponds to a folder of src/runtime: loads code, calls the device, no compiler
//   back_end/   corresponds to a folder of src/codegen: passes, compiler, text form, row
//
// tools/layers.txt has rows for the three folders, so they include what a back end under src/ may
// include. A target is a CPU or a CUDA device, so the machine borrows the text `cuda:sm_75` and the
// memory sizes of that device; nothing else of CUDA is used. The tables below have no other row for
// that target.
#pragma once

#include <vector>

#include "codegen/back_end.h"
#include "runtime/host/loader.h"

namespace tilewright::toys {

// The rows of the program that do not serve the target of the machine.
std::vector<codegen::BackEnd> other_back_ends();
std::vector<runtime::Loader> other_loaders();

// The same, and then the row of the machine.
std::vector<codegen::BackEnd> back_ends_with_toy();
std::vector<runtime::Loader> loaders_with_toy();

}  // namespace tilewright::toys
