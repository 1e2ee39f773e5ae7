// Operators on rows: softmax, layer norm, and the norm of whole matrices.
#pragma once

#include "bench/peers/onednn/variant.h"

namespace onednn_peer {

// Over the last dimension; `from` and `to` may be the same memory.
Step softmax_over_last(Context& context, const memory& from, const memory& to);

std::vector<Variant> softmax(const Request& request);
std::vector<Variant> layer_norm(const Request& request);
std::vector<Variant> norm(const Request& request);
std::vector<Variant> relu(const Request& request);  // of a few elements: the overhead of a call

}  // namespace onednn_peer
