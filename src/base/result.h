// Result<T>: a value or an Error, for functions whose contract includes failure (an illegal step, a
// malformed file, an unsupported operator). A broken internal invariant is a CHECK (base/check.h).
#pragma once

#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace tilewright {

// The class of an error. The command line maps it to an exit code.
enum class ErrorKind {
  BadInput,     // the user's text, file or flag is wrong
  Unsupported,  // understood, but not supported by this build
  Illegal,      // a schedule step that does not apply
  Io,           // an error of the operating system
  Build,        // code generation or loading failed
};

// An option that the user can set to resolve an error. Interfaces render it: the command line as
// a flag, `--input-shapes "x:[1,3,224,224]"`.
struct OptionHint {
  std::string option;  // field of the options, or key of an argument: `input_shapes`
  std::string value;   // a value that would be legal, or its form (`NAME=FILE.npy`); may be empty

  bool operator==(const OptionHint&) const = default;
};

// A function of src/app that helps the user to resolve an error. Interfaces render it: the command
// line as a verb, "`tilewright records ls C2D2` lists its attempts".
struct JobHint {
  std::string job;       // name of the function: `list_attempts`
  std::string argument;  // what it is called with; may be empty
  std::string what;      // the rest of the sentence that begins with the job: `lists its attempts`

  bool operator==(const JobHint&) const = default;
};

struct Error {
  ErrorKind kind = ErrorKind::BadInput;
  std::string message;  // what, where, why, and what would be legal; no trailing newline
  std::vector<OptionHint> options = {};  // that the message is about; their flags are not in it
  std::vector<JobHint> jobs = {};        // their verbs are not in the message

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> fail(ErrorKind kind, std::string message,
                                   std::vector<OptionHint> options = {},
                                   std::vector<JobHint> jobs = {}) {
  return std::unexpected(Error{kind, std::move(message), std::move(options), std::move(jobs)});
}

}  // namespace tilewright

// TRY(expr) is the value of a Result, or returns its error from the enclosing function, which
// returns a Result or a Status. TRY of a Status has no value. Never use it inside braces: GCC does
// not destroy the members of an aggregate that were initialized before it (tools/check_code.py
// rejects `.member = TRY(`).
//
//   const Target target = TRY(parse_target(text));
//   TRY(check_runs_here(target));
#define TRY(...)                                                            \
  ({                                                                        \
    auto&& try_result = (__VA_ARGS__);                                      \
    if (!try_result) return std::unexpected(std::move(try_result).error()); \
    *std::move(try_result);                                                 \
  })
