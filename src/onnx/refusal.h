// How a node that cannot be converted ends its conversion. Converters are many and short, and most
// of their lines can find the file at fault; so inside this folder they throw a Refusal, and the
// Importer, which runs them, turns it into an Error that names the node. It never leaves the
// folder.
#pragma once

#include <string>

#include "base/result.h"

namespace tilewright::onnx {

struct Refusal {
  Error error;
  bool located = false;  // the message says where
};

// The file is wrong.
[[noreturn]] inline void refuse(std::string message) {
  throw Refusal{.error = {.kind = ErrorKind::BadInput, .message = std::move(message)}};
}

// The file may be right, but there is no form for it here.
[[noreturn]] inline void not_supported(std::string message) {
  throw Refusal{.error = {.kind = ErrorKind::Unsupported, .message = std::move(message)}};
}

template <class T>
T required(Result<T> result) {
  if (!result) throw Refusal{.error = std::move(result.error())};
  return *std::move(result);
}

}  // namespace tilewright::onnx
