// Seal: a hash after the bytes of an artifact, by which a loader recognizes damaged bytes if their
// format cannot be checked while it is loaded: dlopen maps a shared library without checks. A seal
// is not a signature: bytes that were altered on purpose can be sealed again. Pure functions.
//
//   bytes   ->   bytes, 16 bytes of hash
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace tilewright::runtime {

std::vector<uint8_t> sealed(std::vector<uint8_t> bytes);
// The bytes before the seal. An error of kind Build if they are not those that were sealed.
Result<std::span<const uint8_t>> unsealed(std::span<const uint8_t> bytes);

}  // namespace tilewright::runtime
