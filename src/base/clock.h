// The two clocks: a monotonic one for durations, and wall-clock time for time stamps.
#pragma once

#include <chrono>
#include <cstdint>

namespace tilewright {

// Monotonic, in seconds since an arbitrary start.
inline double seconds_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

// Wall-clock time, in microseconds since 1970.
inline int64_t time_of_day_us() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

}  // namespace tilewright
