// What a user means by the beginning of an id.
#pragma once

#include <string_view>

#include "base/result.h"
#include "record/store.h"

namespace tilewright::cli {

// The one attempt whose id begins with these digits. An error of kind BadInput when there is none,
// or when there are several: it lists them.
Result<record::Attempt> find_attempt(record::Store& store, std::string_view prefix);

}  // namespace tilewright::cli
