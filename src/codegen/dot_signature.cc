#include "codegen/dot_signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/print.h"

namespace tilewright::codegen {

std::unexpected<Error> no_instruction_for(const ir::Dot& dot,
                                          const std::vector<std::string>& known) {
  const std::string what = fmt::format("a dot product of {} and {}", ir::to_string(dot.a.type()),
                                       ir::to_string(dot.b.type()));
  const std::string& name = dot.intrinsic.text();
  const std::string list = fmt::format("{}", fmt::join(known, ", "));
  std::string text = fmt::format("no instruction for the intrinsic {}, {}", name, what);
  if (dot.intrinsic.empty()) text = "no instruction for " + what;
  if (std::ranges::count(known, name) > 0) text = fmt::format("{} does not compute {}", name, what);
  return fail(ErrorKind::Unsupported,
              fmt::format("{}; this back end has instructions for {}", text, list));
}

}  // namespace tilewright::codegen
