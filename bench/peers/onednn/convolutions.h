// All convolutions of the suite; channels last in the files.
#pragma once

#include "bench/peers/onednn/variant.h"

namespace onednn_peer {

std::vector<Variant> convolution(const Request& request);  // 1 to 3 dimensions, groups, depthwise
std::vector<Variant> convolution_bias_bn_relu(const Request& request);
std::vector<Variant> transposed_convolution(const Request& request);
std::vector<Variant> capsule_convolution(const Request& request);

}  // namespace onednn_peer
