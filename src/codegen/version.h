// The version of the code generator: of everything between a LoopTree and an object file. Stored
// verdicts name it, so it is raised by hand, by one, whenever the code of some program changes; the
// files of tests/golden notice that it should have been.
#pragma once

#include <cstdint>

namespace tilewright::codegen {

inline constexpr int64_t kCodeGeneratorVersion = 6;

}  // namespace tilewright::codegen
