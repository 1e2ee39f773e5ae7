// Float permissions as text, as records store them: `reassociate,contract`. The words are those of
// FloatPermissions, in a fixed order; no word is the empty text.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "task/workload.h"

namespace tilewright::record {

std::string print_permissions(const FloatPermissions& permissions);
// Unsupported: a word that this version does not know.
Result<FloatPermissions> parse_permissions(std::string_view text);

}  // namespace tilewright::record
