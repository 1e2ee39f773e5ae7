#include "bench/peers/onednn/convolutions.h"

namespace onednn_peer {
namespace {

struct Convolution {
  memory::desc x, w, y;  // as the files have them
  Dims stride, dilation, pad;
};

Convolution convolution_of(const Request& request, const Dims& x, const Dims& w, const Dims& y,
                           memory::dim groups) {
  const std::size_t spatial = x.size() - 2;
  return {channels_last(x),
          grouped_weights(w, groups),
          channels_last(y),
          Dims(spatial, request.param("stride", 1)),
          Dims(spatial, request.param("dilation", 1) - 1),
          Dims(spatial, request.param("pad", 0))};
}

struct PlannedConvolution {
  Step step;
  memory y;
};

PlannedConvolution plan_convolution(Context& context, const Convolution& conv, const memory& x,
                                    const memory& w, Layout layout) {
  const dnnl::convolution_forward::primitive_desc desc(
      context.engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      activation(conv.x, layout), weight(conv.w, layout), activation(conv.y, layout), conv.stride,
      conv.dilation, conv.pad, conv.pad);
  const memory y(desc.dst_desc(), context.engine());
  return {{dnnl::convolution_forward(desc),
           {{DNNL_ARG_SRC, context.lay_out(x, desc.src_desc())},
            {DNNL_ARG_WEIGHTS, context.lay_out(w, desc.weights_desc())},
            {DNNL_ARG_DST, y}},
           desc.impl_info_str()},
          y};
}

// The batch norm is folded into weights and bias, which are constants:
// (conv(W) + bias) * scale + shift -> conv(W * scale) + (bias * scale + shift).
struct FoldedNorm {
  memory w, bias;
};

FoldedNorm fold_norm(Context& context, const memory::desc& w_desc, memory::dim channels) {
  const memory::desc per_channel = row_major({channels});
  FoldedNorm folded{context.load("W", w_desc), context.load("bias", per_channel)};
  const memory scale = context.load("scale", per_channel);
  const memory shift = context.load("shift", per_channel);
  auto* w = static_cast<float*>(folded.w.get_data_handle());
  auto* bias = static_cast<float*>(folded.bias.get_data_handle());
  const auto* factor = static_cast<const float*>(scale.get_data_handle());
  const auto* offset = static_cast<const float*>(shift.get_data_handle());
  const auto count = static_cast<std::size_t>(channels);
  for (std::size_t k = 0; k < w_desc.get_size() / sizeof(float); ++k) w[k] *= factor[k % count];
  for (std::size_t c = 0; c < count; ++c) bias[c] = bias[c] * factor[c] + offset[c];
  return folded;
}

}  // namespace

std::vector<Variant> convolution(const Request& request) {
  const bool depthwise = request.op == "depthwise_conv2d";
  Dims w = request.shape("W");
  if (depthwise) w.insert(w.end() - 1, 1);  // [kh, kw, c] -> [kh, kw, 1, c]
  const memory::dim groups = depthwise ? w.back() : request.param("groups", 1);
  const Convolution conv =
      convolution_of(request, request.shape("X"), w, request.shape("Y"), groups);
  return in_all_layouts([conv](Context& context, Layout layout) -> Program {
    const PlannedConvolution planned = plan_convolution(context, conv, context.load("X", conv.x),
                                                        context.load("W", conv.w), layout);
    return {{planned.step}, laid_out(planned.y, conv.y)};
  });
}

std::vector<Variant> convolution_bias_bn_relu(const Request& request) {
  const memory::dim channels = request.shape("bias").front();
  const Convolution conv = convolution_of(request, request.shape("X"), request.shape("W"),
                                          request.shape("Y"), request.param("groups", 1));
  return in_all_layouts([conv, channels](Context& context, Layout layout) -> Program {
    dnnl::post_ops relu;
    relu.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(relu);
    const dnnl::convolution_forward::primitive_desc desc(
        context.engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        activation(conv.x, layout), weight(conv.w, layout), row_major({channels}),
        activation(conv.y, layout), conv.stride, conv.dilation, conv.pad, conv.pad, attributes);
    const FoldedNorm folded = fold_norm(context, conv.w, channels);
    const memory y(desc.dst_desc(), context.engine());
    Step step{dnnl::convolution_forward(desc),
              {{DNNL_ARG_SRC, context.lay_out(context.load("X", conv.x), desc.src_desc())},
               {DNNL_ARG_WEIGHTS, context.lay_out(folded.w, desc.weights_desc())},
               {DNNL_ARG_BIAS, folded.bias},
               {DNNL_ARG_DST, y}},
              desc.impl_info_str()};
    return {{step}, laid_out(y, conv.y)};
  });
}

// W[kh, kw, ci, co] as for a convolution from ci to co.
std::vector<Variant> transposed_convolution(const Request& request) {
  const Convolution conv =
      convolution_of(request, request.shape("X"), request.shape("W"), request.shape("Y"), 1);
  return in_all_layouts([conv](Context& context, Layout layout) -> Program {
    const dnnl::deconvolution_forward::primitive_desc desc(
        context.engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct,
        activation(conv.x, layout), weight(conv.w, layout), activation(conv.y, layout), conv.stride,
        conv.pad, conv.pad);
    const memory y(desc.dst_desc(), context.engine());
    Step step{dnnl::deconvolution_forward(desc),
              {{DNNL_ARG_SRC, context.lay_out(context.load("X", conv.x), desc.src_desc())},
               {DNNL_ARG_WEIGHTS, context.lay_out(context.load("W", conv.w), desc.weights_desc())},
               {DNNL_ARG_DST, y}},
              desc.impl_info_str()};
    return {{step}, laid_out(y, conv.y)};
  });
}

// A capsule's rows i are images of a batch, its columns are channels:
//   X[n, h, w, i, k, c]    -> [n i, h, w, k c]
//   W[kh, kw, k, j, c, co] -> [kh, kw, k c, j co]
//   Y[n i, y, x, j co]     -> [n, y, x, i, j, co]
std::vector<Variant> capsule_convolution(const Request& request) {
  const Dims x = request.shape("X"), w = request.shape("W"), y = request.shape("Y");
  const Dims x_images = {x[0] * x[3], x[1], x[2], x[4] * x[5]};
  const Dims w_channels = {w[0], w[1], w[2] * w[4], w[3] * w[5]};
  const Dims y_images = {y[0] * y[3], y[1], y[2], y[4] * y[5]};
  const Convolution conv = convolution_of(request, x_images, w_channels, y_images, 1);
  return in_all_layouts([=](Context& context, Layout layout) -> Program {
    const memory images =
        context.transpose(context.load("X", row_major(x)), x, {0, 3, 1, 2, 4, 5}, conv.x);
    const memory weights =
        context.transpose(context.load("W", row_major(w)), w, {0, 1, 2, 4, 3, 5}, conv.w);
    const PlannedConvolution planned = plan_convolution(context, conv, images, weights, layout);
    const memory result = planned.y;
    const auto output = [=](Context& after) {
      const Dims rows = {y[0], y[3], y[1], y[2], y[4], y[5]};
      return after.transpose(after.lay_out(result, conv.y), rows, {0, 2, 3, 1, 4, 5}, row_major(y));
    };
    return {{planned.step}, output};
  });
}

}  // namespace onednn_peer
