// Environment variables that extend these tests.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace tilewright::testing {

inline int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never written
  return text == nullptr ? otherwise : std::atoll(text);
}

}  // namespace tilewright::testing
