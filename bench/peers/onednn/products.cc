#include "bench/peers/onednn/products.h"

namespace onednn_peer {

PlannedProduct plan_product(Context& context, const Product& product, const memory& a,
                            const memory& b, Layout layout) {
  dnnl::primitive_attr attributes;
  if (product.scale != 1.0f) {
    dnnl::post_ops post;
    post.append_eltwise(dnnl::algorithm::eltwise_linear, product.scale, 0.0f);
    attributes.set_post_ops(post);
  }
  const dnnl::matmul::primitive_desc desc(context.engine(), activation(product.a, layout),
                                          weight(product.b, layout), activation(product.c, layout),
                                          attributes);
  return {desc, context.lay_out(a, desc.src_desc()), context.lay_out(b, desc.weights_desc()),
          memory(desc.dst_desc(), context.engine())};
}

std::vector<Variant> matmul(const Request& request) {
  const Product product{row_major(request.shape("A")), row_major(request.shape("B")),
                        row_major(request.shape("C"))};
  return in_all_layouts([product](Context& context, Layout layout) -> Program {
    const PlannedProduct planned = plan_product(context, product, context.load("A", product.a),
                                                context.load("B", product.b), layout);
    return {{planned.step()}, laid_out(planned.c, product.c)};
  });
}

}  // namespace onednn_peer
