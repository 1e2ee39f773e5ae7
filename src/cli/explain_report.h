// The output of `tilewright explain`, as text and as one JSON object. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "app/explain.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

std::string explanation_text(const app::Explanation& explanation);
Json explanation_json(const app::Explanation& explanation);

// The meaning of a verdict, and what to do about it.
std::string_view advice_on(record::VerdictKind kind);

}  // namespace tilewright::cli
