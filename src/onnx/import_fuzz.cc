// Any bytes as a model: a Graph or an error with a message, in bounded time and memory. A
// Graph then goes through passes, partition and memory plan, as for a library: no pass may
// make an error of it.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <span>

#include "graph/memory_plan.h"
#include "graph/partition.h"
#include "graph/passes.h"
#include "graph/separate_outputs.h"
#include "onnx/import.h"

namespace tilewright {
namespace {

// Larger ones are left after import: each node takes the same code path, which is slow here.
constexpr size_t kMaxNodes = 200;

[[noreturn]] void complain(const char* stage, const Error& error) {
  fmt::print(stderr, "{}: {}\n", stage, error.message);
  std::abort();
}

void plan(const graph::Graph& imported) {
  const auto passed = graph::run_passes(imported, {});
  if (!passed) complain("passes", passed.error());
  const auto separate = graph::separate_outputs(*passed);
  if (!separate) complain("outputs", separate.error());
  const auto parts = graph::partition(*separate, {});
  if (!parts) complain("partition", parts.error());
  const auto memory = graph::plan_memory(*separate, *parts);
  if (!memory) complain("memory", memory.error());
  if (memory->arena_bytes < memory->live_bytes) std::abort();
}

}  // namespace
}  // namespace tilewright

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tilewright;
  onnx::ImportOptions options;
  options.max_bytes = int64_t{1} << 24;
  const auto graph = onnx::import_bytes(std::as_bytes(std::span(data, size)), {}, options);
  if (!graph) {
    if (graph.error().message.empty()) std::abort();
    return 0;
  }
  if (graph->nodes().size() <= kMaxNodes) plan(*graph);
  return 0;
}
