// Where the program puts files that nobody keeps: a folder below TMPDIR, which goes with its owner.
#pragma once

#include <string_view>

#include "base/temporary_folder.h"

namespace tilewright::cli {

Result<TemporaryFolder> make_scratch_folder(std::string_view prefix);

}  // namespace tilewright::cli
