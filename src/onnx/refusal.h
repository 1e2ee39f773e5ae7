// Refusal: the exception that ends the conversion of a node. Almost every line of a converter can
// detect an error in the file, so converters throw instead of returning a Result; the Importer
// catches it and returns an Error that names the node. It never leaves this folder.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace tilewright::onnx {

struct Refusal {
  Error error;
  bool located = false;  // the message names the node
};

// The file is malformed, or an option does not fit it.
[[noreturn]] inline void refuse(std::string message, std::vector<OptionHint> options = {}) {
  throw Refusal{.error = {.kind = ErrorKind::BadInput,
                          .message = std::move(message),
                          .options = std::move(options)}};
}

// The file may be valid, but is not supported.
[[noreturn]] inline void not_supported(std::string message) {
  throw Refusal{.error = {.kind = ErrorKind::Unsupported, .message = std::move(message)}};
}

template <class T>
T required(Result<T> result) {
  if (!result) throw Refusal{.error = std::move(result.error())};
  return *std::move(result);
}

}  // namespace tilewright::onnx
