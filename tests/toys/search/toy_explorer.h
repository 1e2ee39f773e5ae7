// A toy explorer: from the fastest program so far to its neighbors, hole by hole; if all of them
// were proposed, random samples.
#pragma once

#include "search/explorers.h"

namespace tilewright::toys {

// Another `salt` draws other samples: a different explorer with the same name.
search::ExplorerRow toy_explorer(uint64_t salt = 0);

}  // namespace tilewright::toys
