#include "base/system_error.h"

#include <fmt/format.h>

#include <system_error>

namespace tilewright {

std::string system_reason(int code) { return std::generic_category().message(code); }

std::unexpected<Error> system_error(std::string_view what, int code) {
  return fail(ErrorKind::Io, fmt::format("{}: {}", what, system_reason(code)));
}

}  // namespace tilewright
