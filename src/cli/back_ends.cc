#include "cli/back_ends.h"

#include <fmt/format.h>

#include <array>
#include <exception>

namespace tilewright::cli {

std::span<const BackEnd> all_back_ends() {
  static constexpr std::array<BackEnd, 2> kBackEnds = {{
      {.name = "interp",
       .purpose = "the loop IR interpreted, slowly; the reference",
       .probe = nullptr,
       .remedy = "./dev test"},
      {.name = "llvm",
       .purpose = "machine code for this CPU",
       .probe = nullptr,
       .remedy = "apt-get install llvm-19-dev && ./dev test"},
  }};
  return kBackEnds;
}

Status probe(const BackEnd& back_end) {
  if (back_end.probe == nullptr) return fail(ErrorKind::Unsupported, "not in this build");
  try {
    return back_end.probe();
  } catch (const std::exception& error) {  // a doctor reports a broken organ and goes on
    return fail(ErrorKind::Build, error.what());
  }
}

}  // namespace tilewright::cli
