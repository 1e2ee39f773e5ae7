#include "te/ops/winograd.h"

#include <fmt/format.h>

#include <array>

#include "te/ops/conv_window.h"
#include "te/ops/winograd_matrices.h"

namespace tilewright::te {
namespace {

constexpr std::string_view kName = "conv2d_winograd";
constexpr int64_t kKernel = 3;
constexpr std::array<std::string_view, 2> kWeights = {"raw", "transformed"};

Window window_of(const WinogradShape& shape) {
  return {.input = {shape.h, shape.w}, .kernel = {kKernel, kKernel}, .pad = shape.pad};
}

Status check(const WinogradShape& shape) {
  if (shape.element != ir::Scalar::F32 && shape.element != ir::Scalar::F64) {
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: dtype {} is not supported; types are f32, f64", kName,
                            ir::name_of(shape.element)));
  }
  if (shape.m != 2 && shape.m != 4) {
    return fail(ErrorKind::BadInput, fmt::format("{}: m={} must be 2 or 4", kName, shape.m));
  }
  const Window window = window_of(shape);
  TRY(require_fit(kName, window));
  if (window.output(0) > kMaxElements / window.output(1)) {
    return fail(
        ErrorKind::BadInput,
        fmt::format("{}: an output of {}x{} is too large; at most {} elements are supported", kName,
                    window.output(0), window.output(1), kMaxElements));
  }
  return {};
}

// The stages over one shape, each a function of the tensors before it.
class WinogradBuilder {
 public:
  explicit WinogradBuilder(const WinogradShape& shape)
      : shape_(shape),
        matrices_(winograd_matrices(shape.m)),
        rows_(window_of(shape).output(0)),
        columns_(window_of(shape).output(1)),
        tiles_y_((rows_ + shape.m - 1) / shape.m),
        tiles_x_((columns_ + shape.m - 1) / shape.m) {}

  std::shared_ptr<const Dag> build() && {
    const TensorId x =
        builder_.placeholder("X", {shape_.n, shape_.h, shape_.w, shape_.ci}, shape_.element);
    const int64_t side = shape_.transformed ? alpha() : kKernel;
    const TensorId weight =
        builder_.placeholder("W", {side, side, shape_.ci, shape_.co}, shape_.element);
    const TensorId tiles = add_tiles(add_zeros(x));
    const TensorId data = add_transform("V", tiles, matrices_.b_transposed,
                                        {{"n", shape_.n}, {"p", count()}, {"c", shape_.ci}});
    const TensorId kernel =
        shape_.transformed
            ? weight
            : add_transform("U", weight, matrices_.g, {{"i", shape_.ci}, {"c", shape_.co}});
    const TensorId products = add_products(data, kernel);
    add_output(add_transform("I", products, matrices_.a_transposed,
                             {{"n", shape_.n}, {"p", count()}, {"c", shape_.co}}));
    return std::move(builder_).build();
  }

 private:
  struct NamedExtent {
    std::string_view name;
    int64_t extent;
  };

  int64_t alpha() const { return shape_.m + kKernel - 1; }
  int64_t count() const { return tiles_y_ * tiles_x_; }

  TensorId add_zeros(TensorId x) {
    const auto dim = [this](std::string_view axis, int64_t inside, int64_t tiles) {
      const int64_t extent = tiles * shape_.m + kKernel - 1;
      return BorderedDim{.axis = axis,
                         .inside = inside,
                         .below = shape_.pad,
                         .above = extent - shape_.pad - inside};
    };
    return add_border(builder_, x,
                      {{.axis = "n", .inside = shape_.n},
                       dim("y", shape_.h, tiles_y_),
                       dim("x", shape_.w, tiles_x_),
                       {.axis = "c", .inside = shape_.ci}},
                      shape_.element);
  }

  TensorId add_tiles(TensorId bordered) {
    const Axis a = builder_.axis("a", alpha());
    const Axis b = builder_.axis("b", alpha());
    const Axis n = builder_.axis("n", shape_.n);
    const Axis p = builder_.axis("p", count());
    const Axis c = builder_.axis("c", shape_.ci);
    const ir::Expr row = quotient(p.var, tiles_x_) * shape_.m + a.var;
    const ir::Expr column = p.var % tiles_x_ * shape_.m + b.var;
    return builder_.compute("T", {a, b, n, p, c},
                            builder_.read(bordered, {n.var, row, column, c.var}));
  }

  // name[a, b, rest] = sum over ra, rb of matrix[a][ra] * matrix[b][rb] * from[ra, rb, rest]
  TensorId add_transform(std::string_view name, TensorId from, const Matrix& matrix,
                         const std::vector<NamedExtent>& rest) {
    const AxisHints unrolled = {.simplify_const_index = true};
    const auto to_extent = static_cast<int64_t>(matrix.size());
    const auto from_extent = static_cast<int64_t>(matrix.front().size());
    const Axis ra = builder_.axis("ra", from_extent, unrolled);
    const Axis rb = builder_.axis("rb", from_extent, unrolled);
    std::vector<Axis> axes = {builder_.axis("a", to_extent, unrolled),
                              builder_.axis("b", to_extent, unrolled)};
    std::vector<ir::Expr> indices = {ra.var, rb.var};
    for (const NamedExtent& dim : rest) {
      axes.push_back(builder_.axis(dim.name, dim.extent));
      indices.push_back(axes.back().var);
    }
    const ir::Expr value = builder_.read(from, std::move(indices));
    const ir::Expr factor = constant_entry(matrix, axes[0].var, ra.var, value.type()) *
                            constant_entry(matrix, axes[1].var, rb.var, value.type());
    const TensorId transformed = builder_.reduce(name, std::move(axes), {ra, rb}, ir::BinaryOp::Add,
                                                 factor * value, shape_.element);
    builder_.set_flop(transformed, 0);
    return transformed;
  }

  TensorId add_products(TensorId data, TensorId kernel) {
    const Axis a = builder_.axis("a", alpha());
    const Axis b = builder_.axis("b", alpha());
    const Axis n = builder_.axis("n", shape_.n);
    const Axis p = builder_.axis("p", count());
    const Axis c = builder_.axis("c", shape_.co);
    const Axis rc = builder_.axis("rc", shape_.ci);
    const TensorId products =
        builder_.reduce("M", {a, b, n, p, c}, {rc}, ir::BinaryOp::Add,
                        builder_.read(data, {a.var, b.var, n.var, p.var, rc.var}) *
                            builder_.read(kernel, {a.var, b.var, rc.var, c.var}),
                        shape_.element);
    double direct = 2;
    for (const int64_t extent :
         {shape_.n, rows_, columns_, shape_.ci, shape_.co, kKernel * kKernel}) {
      direct *= static_cast<double>(extent);
    }
    builder_.set_flop(products, direct);
    return products;
  }

  void add_output(TensorId inverse) {
    const int64_t m = shape_.m;
    const Axis n = builder_.axis("n", shape_.n);
    const Axis y = builder_.axis("y", rows_);
    const Axis x = builder_.axis("x", columns_);
    const Axis c = builder_.axis("c", shape_.co);
    const ir::Expr tile = times(y.var / m, tiles_x_) + x.var / m;
    builder_.compute("Y", {n, y, x, c},
                     builder_.read(inverse, {y.var % m, x.var % m, n.var, tile, c.var}));
  }

  const WinogradShape& shape_;
  const WinogradMatrices& matrices_;
  int64_t rows_, columns_;     // of the output
  int64_t tiles_y_, tiles_x_;  // of one image
  DagBuilder builder_;
};

Result<std::shared_ptr<const Dag>> build(const Arguments& arguments) {
  const auto weight = TRY(choose(kName, "weight", arguments.text("weight"), kWeights));
  return conv2d_winograd({.n = arguments.integer("n"),
                          .h = arguments.integer("h"),
                          .w = arguments.integer("w"),
                          .ci = arguments.integer("ci"),
                          .co = arguments.integer("co"),
                          .pad = arguments.integer("pad"),
                          .m = arguments.integer("m"),
                          .transformed = kWeights[weight] == "transformed",
                          .element = arguments.scalar("dtype")});
}

}  // namespace

Result<std::shared_ptr<const Dag>> conv2d_winograd(const WinogradShape& shape) {
  TRY(check(shape));
  return WinogradBuilder(shape).build();
}

Operator conv2d_winograd_operator() {
  return {.name = kName,
          .doc =
              "X[n,h,w,ci] W[3,3,ci,co], or W[m+2,m+2,ci,co] transformed -> Y[n,ho,wo,co] by "
              "F(m x m, 3x3), stride 1; W is constant by default",
          .parameters = joined(
              {input_parameters(2),
               channel_parameters(),
               {{.name = "pad", .doc = "zeros on each side", .fallback = "0", .low = 0},
                {.name = "m", .doc = "rows and columns of an output tile: 2 or 4", .fallback = "4"},
                {.name = "weight",
                 .doc = "raw (3x3) or transformed (m+2 x m+2)",
                 .fallback = "raw",
                 .kind = ParameterKind::Text},
                dtype_parameter()}}),
          .operands = {{.name = "W", .alias = "weight", .constant = true}},
          .batch = "n",
          .build = build,
          .winograd = true};
}

}  // namespace tilewright::te
