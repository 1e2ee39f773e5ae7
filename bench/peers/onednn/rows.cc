#include "bench/peers/onednn/rows.h"

#include "bench/peers/onednn/products.h"

namespace onednn_peer {
namespace {

// --- the norm of whole matrices, three ways ---

dnnl::reduction::primitive_desc reduction(Context& context, dnnl::algorithm algorithm,
                                          const memory::desc& from, const memory::desc& to) {
  return {context.engine(), algorithm, from, to, 2.0f, 0.0f};  // p = 2, epsilon = 0
}

template <class Primitive>
Step unary_step(const typename Primitive::primitive_desc& desc, const memory& from,
                const memory& to) {
  return {Primitive(desc), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}}, desc.impl_info_str()};
}

Program norm_at_once(Context& context, const Dims& shape) {
  const memory::desc x = row_major({shape[0], shape[1] * shape[2]}), y = row_major({shape[0], 1});
  const auto desc = reduction(context, dnnl::algorithm::reduction_norm_lp_sum, x, y);
  const memory out(y, context.engine());
  return {{unary_step<dnnl::reduction>(desc, context.load("X", x), out)}, laid_out(out, y)};
}

Program norm_of_norms(Context& context, const Dims& shape) {
  const memory::desc x = row_major(shape), rows = row_major({shape[0], shape[1], 1}),
                     y = row_major({shape[0], 1, 1});
  const auto by_row = reduction(context, dnnl::algorithm::reduction_norm_lp_sum, x, rows);
  const auto of_rows = reduction(context, dnnl::algorithm::reduction_norm_lp_sum, rows, y);
  const memory middle(rows, context.engine()), out(y, context.engine());
  return {{unary_step<dnnl::reduction>(by_row, context.load("X", x), middle),
           unary_step<dnnl::reduction>(of_rows, middle, out)},
          laid_out(out, y)};
}

Program norm_by_product(Context& context, const Dims& shape) {
  const memory::dim count = shape[1] * shape[2];
  const Product dot{row_major({shape[0], 1, count}), row_major({shape[0], count, 1}),
                    row_major({shape[0], 1, 1})};
  const memory x = context.load("X", dot.a);
  const memory same_x(dot.b, context.engine(), x.get_data_handle());
  const PlannedProduct planned = plan_product(context, dot, x, same_x, Layout::Plain);
  const dnnl::eltwise_forward::primitive_desc root(
      context.engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_sqrt, dot.c,
      dot.c, 0.0f, 0.0f);
  return {{planned.step(), unary_step<dnnl::eltwise_forward>(root, planned.c, planned.c)},
          laid_out(planned.c, dot.c)};
}

}  // namespace

Step softmax_over_last(Context& context, const memory& from, const memory& to) {
  const int axis = static_cast<int>(from.get_desc().get_dims().size()) - 1;
  const dnnl::softmax_forward::primitive_desc desc(
      context.engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate,
      from.get_desc(), to.get_desc(), axis);
  return unary_step<dnnl::softmax_forward>(desc, from, to);
}

std::vector<Variant> softmax(const Request& request) {
  const memory::desc rows = row_major(request.shape("X"));
  return {{"plain layouts", [rows](Context& context) -> Program {
             const memory y(rows, context.engine());
             return {{softmax_over_last(context, context.load("X", rows), y)}, laid_out(y, rows)};
           }}};
}

std::vector<Variant> layer_norm(const Request& request) {
  constexpr float kEpsilon = 1e-5f;
  const memory::desc rows = row_major(request.shape("X"));
  const memory::desc row = row_major(request.shape("scale"));
  return {{"plain layouts", [rows, row](Context& context) -> Program {
             const auto flags =
                 dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
             const dnnl::layer_normalization_forward::primitive_desc desc(
                 context.engine(), dnnl::prop_kind::forward_inference, rows, rows, kEpsilon, flags);
             const memory y(rows, context.engine());
             Step step{dnnl::layer_normalization_forward(desc),
                       {{DNNL_ARG_SRC, context.load("X", rows)},
                        {DNNL_ARG_SCALE, context.load("scale", row)},
                        {DNNL_ARG_SHIFT, context.load("shift", row)},
                        {DNNL_ARG_DST, y}},
                       desc.impl_info_str()};
             return {{step}, laid_out(y, rows)};
           }}};
}

std::vector<Variant> norm(const Request& request) {
  const Dims shape = request.shape("X");
  return {{"one reduction", [shape](Context& context) { return norm_at_once(context, shape); }},
          {"rows, then their norms",
           [shape](Context& context) { return norm_of_norms(context, shape); }},
          {"dot product and root",
           [shape](Context& context) { return norm_by_product(context, shape); }}};
}

std::vector<Variant> relu(const Request& request) {
  const memory::desc all = row_major(request.shape("X"));
  return {{"plain layouts", [all](Context& context) -> Program {
             const dnnl::eltwise_forward::primitive_desc desc(
                 context.engine(), dnnl::prop_kind::forward_inference,
                 dnnl::algorithm::eltwise_relu, all, all, 0.0f, 0.0f);
             const memory y(all, context.engine());
             return {{unary_step<dnnl::eltwise_forward>(desc, context.load("X", all), y)},
                     laid_out(y, all)};
           }}};
}

}  // namespace onednn_peer
