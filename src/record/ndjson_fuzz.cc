// Any bytes as lines of an import: each is malformed, or its printed form reads back
// identically.

#include <cstdlib>
#include <string>

#include "record/codec.h"
#include "record/line.h"
#include "record/parse_line.h"
#include "record/print_line.h"

namespace tilewright::record {
namespace {

void check_line(std::string_view text) {
  const Result<Line> line = parse_line(text);
  if (!line) {
    if (line.error().message.empty()) std::abort();
    return;
  }
  const std::string printed = print_line(*line);
  if (printed.find('\n') != std::string::npos) std::abort();
  const Result<Line> again = parse_line(printed);
  if (!again || *again != *line || print_line(*again) != printed) std::abort();
}

void check_codec(std::string_view text) {
  CompactTrace compact;
  compact_trace(text, &compact);
  if (expand_trace(compact.shape, compact.numbers) != text) std::abort();
  expand_trace(text.substr(0, text.size() / 2), text.substr(text.size() / 2));
  if (const auto samples = expand_samples(text)) {
    std::string bytes;
    compact_samples(*samples, &bytes);
  }
}

}  // namespace
}  // namespace tilewright::record

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tilewright::record;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (std::string_view rest = bytes; !rest.empty();) {
    const size_t end = rest.find('\n');
    check_line(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  check_codec(bytes);
  return 0;
}
