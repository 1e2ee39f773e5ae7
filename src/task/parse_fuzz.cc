// Any bytes as a workload: an error or a workload whose text parses to the same key.

#include <cstdlib>

#include "task/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tilewright;
  const auto workload = parse_workload({reinterpret_cast<const char*>(data), size});
  if (!workload) return 0;
  const auto again = parse_workload(workload->text);
  if (!again || again->key() != workload->key()) std::abort();
  return 0;
}
