// Random 128-bit identifiers, unique across processes. They name the runs of a store.
#pragma once

#include <random>

#include "base/hash.h"

namespace tilewright {

inline Hash128 random_id() {
  std::random_device device;
  const auto word = [&] { return (uint64_t{device()} << 32) | device(); };
  return {.high = word(), .low = word()};
}

}  // namespace tilewright
