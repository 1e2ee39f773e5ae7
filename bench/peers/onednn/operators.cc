#include "bench/peers/onednn/operators.h"

#include <stdexcept>

#include "bench/peers/onednn/attention.h"
#include "bench/peers/onednn/convolutions.h"
#include "bench/peers/onednn/products.h"
#include "bench/peers/onednn/rows.h"

namespace onednn_peer {

std::vector<Variant> variants_of(const Json& spec) {
  using Make = std::vector<Variant> (*)(const Request&);
  static const std::unordered_map<std::string, Make> operators = {
      {"matmul", matmul},
      {"batch_matmul", matmul},
      {"conv1d", convolution},
      {"conv2d", convolution},
      {"conv3d", convolution},
      {"depthwise_conv2d", convolution},
      {"conv2d_transpose", transposed_convolution},
      {"conv2d_capsule", capsule_convolution},
      {"conv2d_bias_bn_relu", convolution_bias_bn_relu},
      {"norm", norm},
      {"softmax", softmax},
      {"layer_norm", layer_norm},
      {"transpose_batch_matmul", scores},
      {"transpose_batch_matmul_softmax", scores},
      {"attention", attention},
      {"relu", relu},
  };
  const Request request(spec);
  const auto found = operators.find(request.op);
  if (found == operators.end()) throw std::runtime_error("this worker has no " + request.op);
  return found->second(request);
}

}  // namespace onednn_peer
