// Products of matrices, alone and as parts of other operators.
#pragma once

#include "bench/peers/onednn/variant.h"

namespace onednn_peer {

// C = A B of matrices or batches of them, wherever `a`, `b` and `c` say that they lie; the last
// dimensions are rows and columns. `scale` multiplies C.
struct Product {
  memory::desc a, b, c;
  float scale = 1.0f;
};

struct PlannedProduct {
  dnnl::matmul::primitive_desc desc;
  memory a, b, c;

  Step step() const {
    return {dnnl::matmul(desc),
            {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}},
            desc.impl_info_str()};
  }
};

// `a` and `b` lie as the product says; they are laid out as oneDNN wants them.
PlannedProduct plan_product(Context& context, const Product& product, const memory& a,
                            const memory& b, Layout layout);

std::vector<Variant> matmul(const Request& request);

}  // namespace onednn_peer
