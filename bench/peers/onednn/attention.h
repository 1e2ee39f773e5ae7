// Attention, and its first half: products of queries and keys, with or without a softmax.
#pragma once

#include "bench/peers/onednn/variant.h"

namespace onednn_peer {

std::vector<Variant> scores(const Request& request);
std::vector<Variant> attention(const Request& request);

}  // namespace onednn_peer
