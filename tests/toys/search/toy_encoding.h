// A toy encoding: the splits of the trace, one row each: log2 of the last factor, its square,
// and 1.
#pragma once

#include "feature/encoding.h"

namespace tilewright::toys {

feature::EncodingRow toy_encoding();

}  // namespace tilewright::toys
