// The operators of the suite that this worker supports.
#pragma once

#include "bench/peers/onednn/variant.h"

namespace onednn_peer {

// `spec` is the request of `prepare`. Throws std::runtime_error for an unsupported operator.
std::vector<Variant> variants_of(const Json& spec);

}  // namespace onednn_peer
