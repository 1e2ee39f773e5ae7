// Products of matrices, alone and as parts of other operators.
#pragma once

#include "bench/peers/onednn/variant.h"

namespace onednn_peer {

// C = scale * A B, of matrices or batches of them, in the layouts of `a`, `b` and `c`; the last two
// dimensions are rows and columns.
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

// `a` and `b` have the layouts of `product`; they are reordered into those that oneDNN selects.
PlannedProduct plan_product(Context& context, const Product& product, const memory& a,
                            const memory& b, Layout layout);

std::vector<Variant> matmul(const Request& request);

}  // namespace onednn_peer
