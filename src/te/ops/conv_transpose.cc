#include "te/ops/conv_transpose.h"

#include <fmt/format.h>

#include <algorithm>

#include "te/ops/conv_window.h"

namespace tilewright::te {
namespace {

constexpr std::string_view kName = "conv2d_transpose";
constexpr size_t kRank = 2;

Status check(const ConvTransposeShape& shape) {
  if (const Status number = require_number(kName, shape.element); !number) return number;
  if (shape.output_padding >= shape.stride) {
    return fail(ErrorKind::BadInput, fmt::format("{}: output_padding={} must be below stride={}",
                                                 kName, shape.output_padding, shape.stride));
  }
  if (shape.output(0) < 1 || shape.output(1) < 1) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: pad={} leaves nothing of the {}x{} elements that {}x{} grows to",
                            kName, shape.pad, shape.output(0) + 2 * shape.pad,
                            shape.output(1) + 2 * shape.pad, shape.input[0], shape.input[1]));
  }
  return {};
}

// Zeros before and after a dimension of X, as the least and largest tap need them.
BorderedDim border_of(const ConvTransposeShape& shape, size_t dim) {
  const int64_t below = shape.taps(dim) - 1;
  const int64_t extent = (shape.output(dim) - 1 + shape.pad) / shape.stride + shape.taps(dim);
  return {.axis = spatial_axis_names(kRank)[dim],
          .inside = shape.input[dim],
          .below = below,
          .above = extent - below - shape.input[dim]};
}

// Pairs of an output position and a tap inside the kernel: k / s taps each, and one more where
// (y + pad) mod s is less than k mod s.
double useful_taps(const ConvTransposeShape& shape, size_t dim) {
  const int64_t each = shape.kernel[dim] / shape.stride;
  const int64_t more = shape.kernel[dim] % shape.stride;
  const auto with_more = [&](int64_t end) {  // of the positions below end
    return end / shape.stride * more + std::min(end % shape.stride, more);
  };
  const int64_t output = shape.output(dim);
  return static_cast<double>(output) * static_cast<double>(each) +
         static_cast<double>(with_more(output + shape.pad) - with_more(shape.pad));
}

TensorId add_sums(DagBuilder& builder, TensorId bordered, TensorId weight,
                  const ConvTransposeShape& shape) {
  // Unrolled, (y + pad) mod stride of a tile of outputs folds to constants.
  const AxisHints unrolled = {.always_unroll_inner = true};
  const Axis n = builder.axis("n", shape.n);
  const Axis c = builder.axis("c", shape.co);
  const Axis rc = builder.axis("rc", shape.ci);
  std::vector<Axis> at, taps;
  std::vector<ir::Expr> from = {n.var}, factor;
  ir::Expr inside;
  for (size_t d = 0; d < kRank; ++d) {
    const std::string_view name = spatial_axis_names(kRank)[d];
    at.push_back(builder.axis(name, shape.output(d), unrolled));
    taps.push_back(builder.axis(fmt::format("t{}", name), shape.taps(d), unrolled));
    const ir::Expr position = shape.pad == 0 ? at[d].var : at[d].var + shape.pad;
    from.push_back(quotient(position, shape.stride) + (shape.taps(d) - 1) - taps[d].var);
    factor.push_back(shape.stride == 1 ? taps[d].var
                                       : position % shape.stride + taps[d].var * shape.stride);
    if (shape.kernel[d] % shape.stride == 0) continue;
    const ir::Expr exists = factor[d] < shape.kernel[d];
    inside = inside.defined() ? inside && exists : exists;
  }
  from.push_back(rc.var);
  factor.insert(factor.end(), {rc.var, c.var});
  const ir::Scalar sum = accumulator_of(shape.element);
  ir::Expr product =
      ir::cast(sum, builder.read(bordered, from)) * ir::cast(sum, builder.read(weight, factor));
  if (inside.defined()) product = ir::select(inside, product, ir::imm(0, product.type()));
  return builder.reduce("Y", {n, at[0], at[1], c}, {taps[0], taps[1], rc}, ir::BinaryOp::Add,
                        product, result_of(shape.element));
}

Result<std::shared_ptr<const Dag>> build(const Arguments& arguments) {
  auto kernel = kernel_of(kName, arguments, kRank);
  if (!kernel) return std::unexpected(kernel.error());
  return conv2d_transpose({.n = arguments.integer("n"),
                           .input = input_of(arguments, kRank),
                           .kernel = *std::move(kernel),
                           .ci = arguments.integer("ci"),
                           .co = arguments.integer("co"),
                           .stride = arguments.integer("stride"),
                           .pad = arguments.integer("pad"),
                           .output_padding = arguments.integer("output_padding"),
                           .element = arguments.scalar("dtype")});
}

}  // namespace

int64_t ConvTransposeShape::output(size_t dim) const {
  return (input[dim] - 1) * stride - 2 * pad + kernel[dim] + output_padding;
}

int64_t ConvTransposeShape::taps(size_t dim) const { return (kernel[dim] + stride - 1) / stride; }

Result<std::shared_ptr<const Dag>> conv2d_transpose(const ConvTransposeShape& shape) {
  if (const Status legal = check(shape); !legal) return std::unexpected(legal.error());
  DagBuilder builder;
  const TensorId x =
      builder.placeholder("X", {shape.n, shape.input[0], shape.input[1], shape.ci}, shape.element);
  const TensorId weight = builder.placeholder(
      "W", {shape.kernel[0], shape.kernel[1], shape.ci, shape.co}, shape.element);
  const TensorId bordered = add_border(builder, x,
                                       {{.axis = "n", .inside = shape.n},
                                        border_of(shape, 0),
                                        border_of(shape, 1),
                                        {.axis = "c", .inside = shape.ci}},
                                       shape.element);
  const TensorId sums = add_sums(builder, bordered, weight, shape);
  builder.set_flop(sums, 2 * static_cast<double>(shape.n) * static_cast<double>(shape.co) *
                             static_cast<double>(shape.ci) * useful_taps(shape, 0) *
                             useful_taps(shape, 1));
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
