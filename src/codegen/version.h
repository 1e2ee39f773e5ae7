// The version of the code generator, which covers everything between a LoopTree and an object file.
// Stored verdicts contain it. Raise it by one whenever the generated code of some program changes;
// tests/golden detects that.
#pragma once

#include <cstdint>

namespace tilewright::codegen {

inline constexpr int64_t kCodeGeneratorVersion = 8;

}  // namespace tilewright::codegen
