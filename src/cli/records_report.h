// The summary of an import or a merge, as text and as JSON.
#pragma once

#include <string_view>

#include "cli/verb.h"
#include "record/ndjson.h"

namespace tilewright::cli {

void print_import(const Context& context, std::string_view source,
                  const record::ImportReport& report);

}  // namespace tilewright::cli
