// FloatScope: flushes or keeps denormals on the calling thread while it exists, then restores the
// thread's float control (runtime/abi/float_control.h), also if an exception is thrown.
#pragma once

#include <cstdint>

#include "runtime/abi/float_control.h"

namespace tilewright::runtime {

class FloatScope {
 public:
  explicit FloatScope(bool denormals) : before_(float_control_enter(denormals ? 1 : 0)) {}
  FloatScope(const FloatScope&) = delete;
  FloatScope& operator=(const FloatScope&) = delete;
  ~FloatScope() { float_control_leave(before_); }

 private:
  uint64_t before_;
};

}  // namespace tilewright::runtime
