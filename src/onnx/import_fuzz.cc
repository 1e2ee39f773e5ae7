// Any bytes as a model: a Graph or an error that says something, in bounded time and memory.

#include <cstdlib>
#include <span>

#include "onnx/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tilewright;
  onnx::ImportOptions options;
  options.most_bytes = int64_t{1} << 24;
  const auto graph = onnx::import_bytes(std::as_bytes(std::span(data, size)), {}, options);
  if (!graph && graph.error().message.empty()) std::abort();
  return 0;
}
