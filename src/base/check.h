// CHECK: an internal invariant, checked in every build. A failed CHECK throws InternalError, which
// only the main functions of programs and workers catch. A user's mistake is an Error instead
// (base/result.h).
//
//   CHECK(index < size, "index {} of {}", index, size);
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace tilewright {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& detail);

}  // namespace tilewright

#define CHECK(condition, ...)                                                                    \
  do {                                                                                           \
    if (!(condition)) [[unlikely]] {                                                             \
      ::tilewright::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
    }                                                                                            \
  } while (false)
