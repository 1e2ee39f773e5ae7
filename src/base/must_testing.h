// must: the value of a Result, for tests and benchmarks. An error is thrown with its message.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace tilewright {

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace tilewright
