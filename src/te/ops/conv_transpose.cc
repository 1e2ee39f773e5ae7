#include "te/ops/conv_transpose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "te/ops/conv_window.h"
#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

constexpr std::string_view kName = "conv2d_transpose";
constexpr size_t kRank = 2;  // of the operator of the table

Status check(const ConvTransposeShape& shape) {
  TRY(require_number(kName, shape.element));
  if (shape.ci % shape.groups != 0 || shape.co % shape.groups != 0) {
    return fail(ErrorKind::BadInput, fmt::format("{}: groups={} must divide ci={} and co={}", kName,
                                                 shape.groups, shape.ci, shape.co));
  }
  std::vector<int64_t> grown;
  bool something = true;
  for (size_t d = 0; d < shape.rank(); ++d) {
    grown.push_back(shape.output(d) + shape.below(d) + shape.above(d));
    something = something && shape.output(d) >= 1;
  }
  if (something) return {};
  return fail(ErrorKind::BadInput,
              fmt::format("{}: pad={} leaves nothing of the {} elements that {} grows to", kName,
                          shape.below(0), fmt::join(grown, "x"), fmt::join(shape.input, "x")));
}

// Zeros before and after a dimension of X, for the smallest and largest tap.
BorderedDim border_of(const ConvTransposeShape& shape, size_t dim) {
  const int64_t below = shape.taps(dim) - 1;
  const int64_t extent =
      (shape.output(dim) - 1 + shape.below(dim)) / shape.stride_of(dim) + shape.taps(dim);
  return {.axis = spatial_axis_names(shape.rank())[dim],
          .inside = shape.input[dim],
          .below = below,
          .above = extent - below - shape.input[dim]};
}

// Pairs of an output position and a tap inside the kernel: k / s taps each, and one more where
// (y + pad) mod s is less than k mod s.
double useful_taps(const ConvTransposeShape& shape, size_t dim) {
  const int64_t stride = shape.stride_of(dim), kernel = shape.kernel[dim];
  if (shape.is_dilated())
    return static_cast<double>(shape.input[dim]) * static_cast<double>(kernel);
  const int64_t each = kernel / stride;
  const int64_t more = kernel % stride;
  const auto with_more = [&](int64_t end) {  // of the positions below end
    return end / stride * more + std::min(end % stride, more);
  };
  const int64_t output = shape.output(dim);
  return static_cast<double>(output) * static_cast<double>(each) +
         static_cast<double>(with_more(output + shape.below(dim)) - with_more(shape.below(dim)));
}

// `spatial` between n and the channels, or after both.
template <class T>
std::vector<T> arranged(const T& n, const std::vector<T>& spatial, const T& channel,
                        bool channels_first) {
  std::vector<T> all = {n};
  if (channels_first) all.push_back(channel);
  all.insert(all.end(), spatial.begin(), spatial.end());
  if (!channels_first) all.push_back(channel);
  return all;
}

// One dimension of the loops: the indices of X and W for an output position and a tap, and the
// condition that the pair exists (undefined: always).
struct Meeting {
  ir::Expr from, factor, exists;
};

Meeting meet(const ConvTransposeShape& shape, size_t d, const ir::Expr& at, const ir::Expr& tap) {
  const int64_t stride = shape.stride_of(d);
  const ir::Expr position = shape.below(d) == 0 ? at : at + shape.below(d);
  if (shape.is_dilated()) {
    const ir::Expr spread = position - times(tap, shape.dilation_of(d));
    const ir::Expr element = quotient(spread, stride);
    ir::Expr exists = element >= 0 && element < shape.input[d];
    if (stride > 1) {
      exists = exists && ir::binary(ir::BinaryOp::Eq, spread % stride, ir::int_imm(0));
    }
    return {.from = element, .factor = tap, .exists = exists};
  }
  const ir::Expr factor = stride == 1 ? tap : position % stride + tap * stride;
  return {.from = quotient(position, stride) + (shape.taps(d) - 1) - tap,
          .factor = factor,
          .exists = shape.kernel[d] % stride == 0 ? ir::Expr{} : factor < shape.kernel[d]};
}

TensorId add_sums(DagBuilder& builder, TensorId bordered, TensorId weight,
                  const ConvTransposeShape& shape) {
  // Unrolled, (y + pad) mod stride of a tile of outputs folds to constants.
  const AxisHints unrolled = {.always_unroll_inner = true};
  const int64_t group_in = shape.ci / shape.groups, group_out = shape.co / shape.groups;
  const Axis n = builder.axis("n", shape.n);
  const Axis c = builder.axis("c", shape.co);
  const Axis rc = builder.axis("rc", group_in);
  std::vector<Axis> at, taps;
  std::vector<ir::Expr> from, factor;
  ir::Expr inside;
  for (size_t d = 0; d < shape.rank(); ++d) {
    const std::string_view name = spatial_axis_names(shape.rank())[d];
    at.push_back(builder.axis(name, shape.output(d), unrolled));
    taps.push_back(builder.axis(fmt::format("t{}", name), shape.taps(d), unrolled));
    Meeting meeting = meet(shape, d, at[d].var, taps[d].var);
    from.push_back(std::move(meeting.from));
    factor.push_back(std::move(meeting.factor));
    if (!meeting.exists.defined()) continue;
    inside = inside.defined() ? inside && meeting.exists : meeting.exists;
  }
  const bool grouped = shape.groups > 1;
  const ir::Expr channel = grouped ? times(quotient(c.var, group_out), group_in) + rc.var : rc.var;
  const ir::Expr within = !grouped ? c.var : group_out == 1 ? ir::int_imm(0) : c.var % group_out;
  from = arranged(n.var, from, channel, shape.channels_first);
  factor.insert(shape.channels_first ? factor.begin() : factor.end(), {channel, within});
  std::vector<Axis> reduce_axes = taps;
  reduce_axes.push_back(rc);
  const ir::Scalar sum = accumulator_of(shape.element);
  ir::Expr product =
      ir::cast(sum, builder.read(bordered, from)) * ir::cast(sum, builder.read(weight, factor));
  if (inside.defined()) product = ir::select(inside, product, ir::imm(0, product.type()));
  return builder.reduce("Y", arranged(n, at, c, shape.channels_first), reduce_axes,
                        ir::BinaryOp::Add, product, result_of(shape.element));
}

Result<std::shared_ptr<const Dag>> build(const Arguments& arguments) {
  auto kernel = TRY(kernel_of(kName, arguments, kRank));
  const int64_t stride = arguments.integer("stride"), more = arguments.integer("output_padding");
  if (more >= stride) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: output_padding={} must be below stride={}", kName, more, stride));
  }
  return conv_transpose({.n = arguments.integer("n"),
                         .input = input_of(arguments, kRank),
                         .kernel = std::move(kernel),
                         .ci = arguments.integer("ci"),
                         .co = arguments.integer("co"),
                         .stride = arguments.integer("stride"),
                         .pad = arguments.integer("pad"),
                         .output_padding = arguments.integer("output_padding"),
                         .element = arguments.scalar("dtype")});
}

}  // namespace

bool ConvTransposeShape::is_dilated() const {
  return std::ranges::any_of(dilations, [](int64_t dilation) { return dilation > 1; });
}

int64_t ConvTransposeShape::output(size_t dim) const {
  const int64_t more = output_paddings.empty() ? output_padding : output_paddings[dim];
  return (input[dim] - 1) * stride_of(dim) - below(dim) - above(dim) +
         dilation_of(dim) * (kernel[dim] - 1) + 1 + more;
}

int64_t ConvTransposeShape::taps(size_t dim) const {
  return is_dilated() ? kernel[dim] : (kernel[dim] + stride_of(dim) - 1) / stride_of(dim);
}

Result<std::shared_ptr<const Dag>> conv_transpose(const ConvTransposeShape& shape) {
  TRY(check(shape));
  DagBuilder builder;
  const TensorId x = builder.placeholder(
      "X", arranged<Extent>(shape.n, extents_of(shape.input), shape.ci, shape.channels_first),
      shape.element);
  std::vector<Extent> kernel = extents_of(shape.kernel);
  kernel.insert(shape.channels_first ? kernel.begin() : kernel.end(),
                {shape.ci, shape.co / shape.groups});
  const TensorId weight = builder.placeholder("W", std::move(kernel), shape.element);
  TensorId bordered = x;
  if (!shape.is_dilated()) {
    std::vector<BorderedDim> spatial;
    spatial.reserve(shape.rank());
    for (size_t d = 0; d < shape.rank(); ++d) spatial.push_back(border_of(shape, d));
    bordered =
        add_border(builder, x,
                   arranged<BorderedDim>({.axis = "n", .inside = shape.n}, spatial,
                                         {.axis = "c", .inside = shape.ci}, shape.channels_first),
                   shape.element);
  }
  const TensorId sums = add_sums(builder, bordered, weight, shape);
  const int64_t group_in = shape.ci / shape.groups;
  double flop = 2 * static_cast<double>(shape.n) * static_cast<double>(shape.co) *
                static_cast<double>(group_in);
  for (size_t d = 0; d < shape.rank(); ++d) flop *= useful_taps(shape, d);
  builder.set_flop(sums, flop);
  return std::move(builder).build();
}

Operator conv2d_transpose_operator() {
  return {.name = kName,
          .doc =
              "X[n,h,w,ci] W[kh,kw,ci,co] -> Y[n,(h-1)stride-2pad+kh+output_padding,..,co]; W "
              "is constant by default",
          .parameters = joined(
              {input_parameters(kRank),
               channel_parameters(),
               kernel_parameters(kRank),
               {{.name = "stride", .doc = "step between elements of the input", .fallback = "1"},
                {.name = "pad", .doc = "cut off on each side", .fallback = "0", .low = 0},
                {.name = "output_padding",
                 .doc = "rows and columns more at the end, below stride",
                 .fallback = "0",
                 .low = 0},
                dtype_parameter()}}),
          .operands = {{.name = "W", .alias = "weight", .constant = true}},
          .batch = "n",
          .build = build};
}

}  // namespace tilewright::te
