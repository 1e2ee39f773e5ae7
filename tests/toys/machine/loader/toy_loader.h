// The loader of the made-up machine: what a run worker links. It includes what a folder of
// src/runtime may include, and the driver of the device.
#pragma once

#include "runtime/host/loader.h"
#include "target/target.h"

namespace tilewright::toys {

// A target is a CPU or a CUDA device, so the machine borrows the text and the memory sizes of one.
Target toy_target();  // cuda:sm_75

const runtime::Loader& toy_loader();

}  // namespace tilewright::toys
