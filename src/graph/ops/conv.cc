// Convolutions over one to three spatial dimensions. Lists have one number per spatial dimension.
//
//   conv(x, w; stride=1, dilation=1, pad_begin=0, pad_end=0, groups=1, channels_last=0)
//     channels_last=0   x[n, ci, s..] w[co, ci/groups, k..] -> y[n, co, s..]
//     channels_last=1   x[n, s.., ci] w[k.., ci/groups, co] -> y[n, s.., co], the Dag of te's conv;
//                       with groups = ci = co that of its depthwise_conv, where w may also be
//                       [k.., co]
//   conv_transpose(x, w; stride=1, dilation=1, pad_begin=0, pad_end=0, output_padding=0, groups=1,
//                  channels_last=0)
//     channels_last=0   x[n, ci, s..] w[ci, co/groups, k..] -> y[n, co, s..]
//     channels_last=1   x[n, s.., ci] w[k.., ci, co/groups] -> y[n, s.., co]
//
// u8 times i8 and narrow integers give i32.
#include "te/ops/conv.h"

#include <fmt/format.h>

#include "graph/ops/common.h"
#include "graph/ops/families.h"
#include "te/ops/conv_transpose.h"
#include "te/ops/depthwise.h"

namespace tilewright::graph {
namespace {

// The positions of channels and spatial extents in x and w.
struct Layout {
  size_t rank = 0;  // spatial dimensions
  bool channels_last = false;

  int64_t channels(const TensorType& x) const {
    return channels_last ? x.shape.back() : x.shape[1];
  }
  Shape spatial(const TensorType& x) const {
    const auto first = x.shape.begin() + (channels_last ? 1 : 2);
    return {first, first + static_cast<int64_t>(rank)};
  }
  Shape kernel(const TensorType& w) const {
    const auto first = w.shape.begin() + (channels_last ? 0 : 2);
    return {first, first + static_cast<int64_t>(rank)};
  }
  // The two extents of w that are not the kernel's, in their order.
  std::pair<int64_t, int64_t> outer(const TensorType& w) const {
    const size_t first = channels_last ? rank : 0;
    return {w.shape[first], w.shape[first + 1]};
  }
};

Result<Layout> layout_of(const OpDef& op, OperandTypes operands, bool channels_last) {
  const TensorType &x = *operands[0], &w = *operands[1];
  if (x.shape.size() < 3 || x.shape.size() > 5) {
    return unsupported(
        op, fmt::format("x is {}; one to three spatial dimensions are supported", x.to_string()));
  }
  const size_t rank = x.shape.size() - 2;
  const bool short_depthwise = op.name == "conv" && channels_last && w.shape.size() == rank + 1;
  if (w.shape.size() != rank + 2 && !short_depthwise) {
    return bad(op, fmt::format("w is {} for x of {}", w.to_string(), x.to_string()));
  }
  return Layout{.rank = rank, .channels_last = channels_last};
}

struct Lists {
  Shape stride, dilation, pad_begin, pad_end;
};

Lists lists_of(Reader& read, size_t rank) {
  return {.stride = read.list("stride", rank, 1, te::kMaxParameter, 1),
          .dilation = read.list("dilation", rank, 1, te::kMaxParameter, 1),
          .pad_begin = read.list("pad_begin", rank, 0, te::kMaxParameter, 0),
          .pad_end = read.list("pad_end", rank, 0, te::kMaxParameter, 0)};
}

te::Window window_of(const Layout& layout, const TensorType& x, const TensorType& w,
                     const Lists& lists) {
  return {.input = layout.spatial(x),
          .kernel = layout.kernel(w),
          .strides = lists.stride,
          .pads_below = lists.pad_begin,
          .pads_above = lists.pad_end,
          .dilations = lists.dilation};
}

// Fails if the padded x or the dilated kernel is too large.
Status check_window(const OpDef& op, const te::Window& window) {
  Shape bordered = window.input;
  for (size_t d = 0; d < window.rank(); ++d) {
    bordered[d] += window.below(d) + window.above(d);
    const double reach =
        static_cast<double>(window.kernel[d]) * static_cast<double>(window.dilation_of(d));
    if (reach > static_cast<double>(te::kMaxTrips) || window.output(d) < 1) {
      return bad(op, fmt::format("a kernel of {} with dilation {} does not fit into {} with pads "
                                 "{} and {}",
                                 shape_text(window.kernel), shape_text(window.dilations),
                                 shape_text(window.input), shape_text(window.pads_below),
                                 shape_text(window.pads_above)));
    }
  }
  return require_result(op, bordered);
}

DagResult build_conv(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType &x = *operands[0], &w = *operands[1];
  Reader read(op, attributes);
  const bool channels_last = read.flag("channels_last");
  const int64_t groups = read.integer("groups", 1, 1, te::kMaxParameter);
  const auto layout = TRY(layout_of(op, operands, channels_last));
  const Lists lists = lists_of(read, layout.rank);
  TRY(read.status());
  const te::Window window = window_of(layout, x, w, lists);
  TRY(check_window(op, window));
  const int64_t ci = layout.channels(x);
  const bool short_form = w.shape.size() == layout.rank + 1;
  const int64_t co = short_form      ? w.shape.back()
                     : channels_last ? layout.outer(w).second
                                     : layout.outer(w).first;
  const int64_t inner = short_form      ? 1
                        : channels_last ? layout.outer(w).first
                                        : layout.outer(w).second;
  if (ci % groups != 0 || co % groups != 0 || inner != ci / groups) {
    return bad(op, fmt::format("x of {} and w of {} do not fit together with groups={}",
                               x.to_string(), w.to_string(), groups));
  }
  const bool depthwise = groups == ci && groups == co && channels_last && x.element == w.element;
  if (short_form && !depthwise) {
    return bad(op, fmt::format("w of {} requires as many groups as channels", w.to_string()));
  }
  if (depthwise && (ci > 1 || short_form)) {
    return te::depthwise_conv({.n = x.shape[0],
                               .window = window,
                               .channels = ci,
                               .element = x.element,
                               .unit_dimension = !short_form});
  }
  return te::conv({.n = x.shape[0],
                   .window = window,
                   .ci = ci,
                   .co = co,
                   .groups = groups,
                   .element = x.element,
                   .weight_element = w.element,
                   .channels_first = !channels_last});
}

DagResult build_conv_transpose(const OpDef& op, const Attributes& attributes,
                               OperandTypes operands) {
  const TensorType &x = *operands[0], &w = *operands[1];
  Reader read(op, attributes);
  const bool channels_last = read.flag("channels_last");
  const int64_t groups = read.integer("groups", 1, 1, te::kMaxParameter);
  const auto layout = TRY(layout_of(op, operands, channels_last));
  const Lists lists = lists_of(read, layout.rank);
  const Shape more = read.list("output_padding", layout.rank, 0, te::kMaxParameter, 0);
  TRY(read.status());
  const int64_t ci = layout.channels(x);
  const auto [from, each] = layout.outer(w);
  int64_t co = 0;
  if (from != ci || ci % groups != 0 || x.element != w.element ||
      __builtin_mul_overflow(each, groups, &co)) {
    return bad(op, fmt::format("x of {} and w of {} do not fit together with groups={}",
                               x.to_string(), w.to_string(), groups));
  }
  const te::ConvTransposeShape shape{.n = x.shape[0],
                                     .input = layout.spatial(x),
                                     .kernel = layout.kernel(w),
                                     .ci = ci,
                                     .co = co,
                                     .element = x.element,
                                     .strides = lists.stride,
                                     .pads_below = lists.pad_begin,
                                     .pads_above = lists.pad_end,
                                     .output_paddings = more,
                                     .dilations = lists.dilation,
                                     .groups = groups,
                                     .channels_first = !channels_last};
  Shape result = {x.shape[0], co};
  for (size_t d = 0; d < shape.rank(); ++d) {
    const double grown =
        static_cast<double>(shape.input[d]) * static_cast<double>(lists.stride[d]) +
        static_cast<double>(shape.kernel[d]) * static_cast<double>(lists.dilation[d]);
    if (grown > static_cast<double>(te::kMaxElements)) {
      return unsupported(op, fmt::format("{} grows beyond {} elements", shape_text(shape.input),
                                         te::kMaxElements));
    }
    result.push_back(std::max<int64_t>(shape.output(d), 1));
  }
  TRY(require_result(op, result));
  return te::conv_transpose(shape);
}

constexpr OpDef kOps[] = {
    {"conv", Work::Heavy, 2, 2, build_conv},
    {"conv_transpose", Work::Heavy, 2, 2, build_conv_transpose},
};

}  // namespace

std::span<const OpDef> conv_ops() { return kOps; }

}  // namespace tilewright::graph
