// The encoding `features`: one row of feature/rows.h for each innermost statement.
#pragma once

#include "feature/encoding.h"

namespace tilewright::feature {

EncodingRow features_encoding();

}  // namespace tilewright::feature
