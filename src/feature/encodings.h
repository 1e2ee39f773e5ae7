// The table of the built-in encodings, in the order in which documents list them. An encoding is
// one row.
#pragma once

#include "feature/encoding.h"

namespace tilewright::feature {

const EncodingTable& encodings();

}  // namespace tilewright::feature
