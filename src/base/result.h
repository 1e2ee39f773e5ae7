// Result<T>: what a function returns when failure is part of its contract (an illegal step, a bad
// file, an unsupported operator). What cannot happen is a CHECK instead (base/check.h).
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace tilewright {

// The class of a failure; the command line maps it to an exit code.
enum class ErrorKind {
  BadInput,     // the user's text, file or flag is wrong
  Unsupported,  // understood, but not something this build can do
  Illegal,      // a schedule step that does not apply where it stands
  Io,           // the operating system said no
  Build,        // code generation or loading failed
};

struct Error {
  ErrorKind kind = ErrorKind::BadInput;
  std::string message;  // what, where, why and what would be legal; no trailing newline

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return std::unexpected(Error{kind, std::move(message)});
}

}  // namespace tilewright

// The value of a Result, or a return of its error from the enclosing function, which returns a
// Result or a Status too. TRY of a Status has no value.
//
//   const Target target = TRY(parse_target(text));
//   TRY(check_runs_here(target));
#define TRY(...)                                                            \
  ({                                                                        \
    auto&& try_result = (__VA_ARGS__);                                      \
    if (!try_result) return std::unexpected(std::move(try_result).error()); \
    *std::move(try_result);                                                 \
  })
