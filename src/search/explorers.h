// The table of explorers, selected by a text: `NAME[:OPTION=VALUE,...]`.
#pragma once

#include <memory>

#include "base/table.h"
#include "search/explorer.h"

namespace tilewright::search {

using ExplorerTable = Table<std::unique_ptr<Explorer>, ExplorerContext>;
using ExplorerRow = ExplorerTable::Row;

// The built-in explorers.
const ExplorerTable& explorers();

}  // namespace tilewright::search
