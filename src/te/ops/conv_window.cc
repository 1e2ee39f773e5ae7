#include "te/ops/conv_window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"

namespace tilewright::te {
namespace {

constexpr size_t kMaxRank = 3;
constexpr std::string_view kAxisNames[kMaxRank] = {"z", "y", "x"};

struct DimParameters {
  std::string_view input, input_doc;
  std::string_view kernel, kernel_doc;
};
constexpr DimParameters kDims[kMaxRank] = {
    {"d", "depth of the input", "kd", "depth of the kernel, without kernel"},
    {"h", "height of the input", "kh", "height of the kernel, without kernel"},
    {"w", "width of the input", "kw", "width of the kernel, without kernel"},
};
constexpr DimParameters kLine = {"l", "length of the input", "kernel", "length of the kernel"};

std::span<const DimParameters> dims_of(size_t rank) {
  CHECK(rank >= 1 && rank <= kMaxRank, "a window of {} dimensions", rank);
  if (rank == 1) return {&kLine, 1};
  return std::span(kDims).last(rank);
}

ir::Expr inside_of(const Axis& axis, const BorderedDim& dim, ir::Expr others) {
  const auto also = [&others](const ir::Expr& condition) {
    others = others.defined() ? others && condition : condition;
  };
  if (dim.below > 0) also(axis.var >= dim.below);
  if (dim.above > 0) also(axis.var < dim.inside + dim.below);
  return others;
}

}  // namespace

int64_t Window::output(size_t dim) const {
  const int64_t room =
      input[dim] + below(dim) + above(dim) - dilation_of(dim) * (kernel[dim] - 1) - 1;
  return room < 0 ? 0 : room / stride_of(dim) + 1;
}

ir::Expr Window::index(size_t dim, const ir::Expr& position, const ir::Expr& tap) const {
  return times(position, stride_of(dim)) + times(tap, dilation_of(dim));
}

Status require_fit(std::string_view op, const Window& window) {
  for (size_t d = 0; d < window.rank(); ++d) {
    if (window.output(d) >= 1) continue;
    return fail(ErrorKind::BadInput,
                fmt::format("{}: a {} kernel with dilation={} does not fit into {} with pad={}", op,
                            fmt::join(window.kernel, "x"), window.dilation_of(d),
                            fmt::join(window.input, "x"), window.below(d)));
  }
  return {};
}

std::span<const std::string_view> spatial_axis_names(size_t rank) {
  CHECK(rank >= 1 && rank <= kMaxRank, "a window of {} dimensions", rank);
  return std::span(kAxisNames).last(rank);
}

std::vector<Axis> output_axes(DagBuilder& builder, const Window& window) {
  const auto names = spatial_axis_names(window.rank());
  std::vector<Axis> axes;
  axes.reserve(window.rank());
  for (size_t d = 0; d < window.rank(); ++d) {
    axes.push_back(builder.axis(names[d], window.output(d)));
  }
  return axes;
}

std::vector<Axis> tap_axes(DagBuilder& builder, const std::vector<int64_t>& taps,
                           std::string_view prefix) {
  const auto names = spatial_axis_names(taps.size());
  std::vector<Axis> axes;
  axes.reserve(taps.size());
  for (size_t d = 0; d < taps.size(); ++d) {
    axes.push_back(builder.axis(fmt::format("{}{}", prefix, names[d]), taps[d]));
  }
  return axes;
}

ir::Expr times(const ir::Expr& position, int64_t step) {
  return step == 1 ? position : position * step;
}

ir::Expr quotient(const ir::Expr& position, int64_t step) {
  return step == 1 ? position : position / step;
}

TensorId add_border(DagBuilder& builder, TensorId x, const std::vector<BorderedDim>& dims,
                    ir::Scalar element) {
  std::vector<Axis> axes;
  std::vector<ir::Expr> indices;
  ir::Expr inside;
  for (const BorderedDim& dim : dims) {
    axes.push_back(builder.axis(dim.axis, dim.below + dim.inside + dim.above));
    const Axis& axis = axes.back();
    indices.push_back(dim.below == 0 ? axis.var : axis.var - dim.below);
    inside = inside_of(axis, dim, inside);
  }
  if (!inside.defined()) return x;
  const ir::Expr value = builder.read(x, std::move(indices));
  return builder.compute("P", std::move(axes), ir::select(inside, value, ir::imm(0, value.type())),
                         element);
}

TensorId add_border(DagBuilder& builder, TensorId x, int64_t batch, const Window& window,
                    const std::vector<BorderedDim>& channels, ir::Scalar element,
                    bool channels_first) {
  const auto names = spatial_axis_names(window.rank());
  std::vector<BorderedDim> dims = {{.axis = "n", .inside = batch}};
  if (channels_first) dims.insert(dims.end(), channels.begin(), channels.end());
  for (size_t d = 0; d < window.rank(); ++d) {
    dims.push_back({.axis = names[d],
                    .inside = window.input[d],
                    .below = window.below(d),
                    .above = window.above(d)});
  }
  if (!channels_first) dims.insert(dims.end(), channels.begin(), channels.end());
  return add_border(builder, x, dims, element);
}

std::vector<Parameter> input_parameters(size_t rank) {
  std::vector<Parameter> parameters = {{.name = "n", .doc = "batch", .fallback = "1"}};
  for (const DimParameters& dim : dims_of(rank)) {
    parameters.push_back({.name = dim.input, .doc = dim.input_doc});
  }
  return parameters;
}

std::vector<Parameter> channel_parameters() {
  return {{.name = "ci", .doc = "input channels"}, {.name = "co", .doc = "output channels"}};
}

std::vector<Parameter> kernel_parameters(size_t rank) {
  const auto dims = dims_of(rank);
  if (rank == 1) return {{.name = dims[0].kernel, .doc = dims[0].kernel_doc}};
  std::vector<Parameter> parameters = {{.name = "kernel",
                                        .doc = "extent of the kernel along each dimension",
                                        .fallback = "0",
                                        .low = 0,
                                        .quiet = true}};
  for (const DimParameters& dim : dims) {
    parameters.push_back(
        {.name = dim.kernel, .doc = dim.kernel_doc, .fallback = "0", .low = 0, .quiet = true});
  }
  return parameters;
}

std::vector<Parameter> step_parameters() {
  return {{.name = "stride", .doc = "step of the output", .fallback = "1"},
          {.name = "pad", .doc = "zeros on each side", .fallback = "0", .low = 0},
          {.name = "dilation", .doc = "step inside the kernel", .fallback = "1"}};
}

std::vector<Parameter> joined(std::initializer_list<std::vector<Parameter>> parts) {
  std::vector<Parameter> all;
  for (const std::vector<Parameter>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<int64_t> input_of(const Arguments& arguments, size_t rank) {
  std::vector<int64_t> extents;
  for (const DimParameters& dim : dims_of(rank)) extents.push_back(arguments.integer(dim.input));
  return extents;
}

Result<std::vector<int64_t>> kernel_of(std::string_view op, const Arguments& arguments,
                                       size_t rank) {
  const int64_t kernel = arguments.integer("kernel");
  if (rank == 1) return std::vector{kernel};
  std::vector<std::string_view> names;
  std::vector<int64_t> extents;
  for (const DimParameters& dim : dims_of(rank)) {
    names.push_back(dim.kernel);
    extents.push_back(arguments.integer(dim.kernel));
  }
  const auto given =
      static_cast<size_t>(std::ranges::count_if(extents, [](int64_t e) { return e > 0; }));
  if (kernel > 0 && given > 0) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: kernel and {} exclude each other; kernel={} is {}={}", op,
                            fmt::join(names, ", "), kernel,
                            fmt::join(names, fmt::format("={},", kernel)), kernel));
  }
  if (kernel == 0 && given < rank) {
    return fail(
        ErrorKind::BadInput,
        fmt::format("{} needs parameter kernel, or {} {} instead of it", op,
                    rank == 2 ? "both" : "all of", fmt::join(names, rank == 2 ? " and " : ", ")));
  }
  return kernel > 0 ? std::vector<int64_t>(rank, kernel) : extents;
}

Result<Window> window_of(std::string_view op, const Arguments& arguments, size_t rank) {
  auto kernel = TRY(kernel_of(op, arguments, rank));
  return Window{.input = input_of(arguments, rank),
                .kernel = std::move(kernel),
                .stride = arguments.integer("stride"),
                .pad = arguments.integer("pad"),
                .dilation = arguments.integer("dilation")};
}

}  // namespace tilewright::te
