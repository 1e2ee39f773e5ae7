#include "te/ops/broadcast.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

using ir::BinaryOp;
using ir::Expr;

enum class Operands : uint8_t { Numbers, Integers, Floats, Any, Bools };

struct BinaryKind {
  std::string_view name;
  Operands operands = Operands::Numbers;
  Expr (*apply)(const Expr& a, const Expr& b) = nullptr;
};

template <BinaryOp op>
Expr apply_binary(const Expr& a, const Expr& b) {
  return ir::binary(op, a, b);
}

Expr apply_pow(const Expr& a, const Expr& b) { return ir::call(ir::Intrinsic::Pow, {a, b}); }

constexpr BinaryKind kBinary[] = {
    {"add", Operands::Numbers, apply_binary<BinaryOp::Add>},
    {"sub", Operands::Numbers, apply_binary<BinaryOp::Sub>},
    {"mul", Operands::Numbers, apply_binary<BinaryOp::Mul>},
    {"div", Operands::Numbers, apply_binary<BinaryOp::Div>},
    {"mod", Operands::Integers, apply_binary<BinaryOp::Mod>},
    {"pow", Operands::Floats, apply_pow},
    {"max", Operands::Numbers, apply_binary<BinaryOp::Max>},
    {"min", Operands::Numbers, apply_binary<BinaryOp::Min>},
    {"equal", Operands::Any, apply_binary<BinaryOp::Eq>},
    {"not_equal", Operands::Any, apply_binary<BinaryOp::Ne>},
    {"less", Operands::Numbers, apply_binary<BinaryOp::Lt>},
    {"less_equal", Operands::Numbers, apply_binary<BinaryOp::Le>},
    {"greater", Operands::Numbers, apply_binary<BinaryOp::Gt>},
    {"greater_equal", Operands::Numbers, apply_binary<BinaryOp::Ge>},
    {"and", Operands::Bools, apply_binary<BinaryOp::And>},
    {"or", Operands::Bools, apply_binary<BinaryOp::Or>},
};

Result<const BinaryKind*> kind_named(std::string_view op) {
  std::vector<std::string_view> names;
  for (const BinaryKind& kind : kBinary) names.push_back(kind.name);
  const auto at = TRY(choose("binary", "op", op, names));
  return &kBinary[at];
}

Status check_type(const BinaryKind& kind, ir::Scalar element) {
  const auto require = [&](bool legal, std::string_view what) -> Status {
    if (legal) return {};
    return fail(ErrorKind::Unsupported, fmt::format("binary: {} is for {}, not for {}", kind.name,
                                                    what, ir::name_of(element)));
  };
  switch (kind.operands) {
    case Operands::Numbers:
      return require(element != ir::Scalar::Bool, "numbers");
    case Operands::Integers:
      return require(ir::is_integer(element), "integers");
    case Operands::Floats:
      return require(ir::is_float(element), "floats");
    case Operands::Bools:
      return require(element == ir::Scalar::Bool, "bool");
    case Operands::Any:
      break;
  }
  return {};
}

// The extent of dimension `d` of `shape` in a result of `rank` dimensions: 1 where it is missing.
int64_t aligned_extent(std::span<const int64_t> shape, size_t d, size_t rank) {
  const size_t missing = rank - shape.size();
  return d < missing ? 1 : shape[d - missing];
}

Result<std::vector<int64_t>> common_shape(std::span<const int64_t> a, std::span<const int64_t> b) {
  const size_t rank = std::max(a.size(), b.size());
  std::vector<int64_t> shape;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t left = aligned_extent(a, d, rank), right = aligned_extent(b, d, rank);
    if (left != right && left != 1 && right != 1) {
      return fail(ErrorKind::BadInput,
                  fmt::format("binary: {} and {} do not fit: dimension {} is {} and {}",
                              fmt::join(a, "x"), fmt::join(b, "x"), d, left, right));
    }
    shape.push_back(left == 1 ? right : left);
  }
  return shape;
}

Expr read_broadcast(DagBuilder& builder, TensorId tensor, std::span<const int64_t> shape,
                    const std::vector<Axis>& axes) {
  std::vector<Expr> indices;
  for (size_t d = axes.size() - shape.size(); d < axes.size(); ++d) {
    const bool repeated = aligned_extent(shape, d, axes.size()) == 1;
    indices.push_back(repeated ? ir::int_imm(0) : axes[d].var);
  }
  return builder.read(tensor, std::move(indices));
}

}  // namespace

Result<std::shared_ptr<const Dag>> binary(std::string_view op, std::span<const int64_t> a,
                                          std::span<const int64_t> b, ir::Scalar element) {
  const auto kind = TRY(kind_named(op));
  TRY(check_type(*kind, element));
  for (const auto& shape : {a, b}) {
    TRY(require_dimensions("binary", shape));
  }
  const auto shape = TRY(common_shape(a, b));
  DagBuilder builder;
  const TensorId left = builder.placeholder("A", extents_of(a), element);
  const TensorId right = builder.placeholder("B", extents_of(b), element);
  const std::vector<Axis> axes = axes_of(builder, shape);
  const Expr value =
      kind->apply(read_broadcast(builder, left, a, axes), read_broadcast(builder, right, b, axes));
  const bool compares = value.type() == ir::kBool;
  builder.compute("Y", axes, value, compares ? ir::Scalar::Bool : element);
  return std::move(builder).build();
}

Result<std::shared_ptr<const Dag>> broadcast(std::span<const int64_t> shape,
                                             std::span<const int64_t> to, ir::Scalar element) {
  TRY(require_dimensions("broadcast", to, 0));
  bool fits = shape.size() <= to.size();
  for (size_t d = 0; fits && d < to.size(); ++d) {
    const int64_t extent = aligned_extent(shape, d, to.size());
    fits = extent == 1 || extent == to[d];
  }
  if (!fits) {
    return fail(ErrorKind::BadInput, fmt::format("broadcast: {} cannot become {}",
                                                 fmt::join(shape, "x"), fmt::join(to, "x")));
  }
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", extents_of(shape), element);
  const std::vector<Axis> axes = axes_of(builder, to);
  builder.compute("Y", axes, read_broadcast(builder, x, shape, axes), element);
  return std::move(builder).build();
}

Operator binary_operator() {
  return {.name = "binary",
          .doc = "A[a] B[b] -> Y of the shape both broadcast to",
          .parameters =
              {{.name = "op",
                .doc = "add sub mul div mod pow max min equal not_equal less less_equal "
                       "greater greater_equal and or",
                .kind = ParameterKind::Text},
               {.name = "a", .doc = "extents of A, such as 4x1x6", .kind = ParameterKind::Shape},
               {.name = "b", .doc = "extents of B, such as 5x1", .kind = ParameterKind::Shape},
               dtype_parameter()},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) {
            return binary(arguments.text("op"), arguments.shape("a"), arguments.shape("b"),
                          arguments.scalar("dtype"));
          }};
}

Operator broadcast_operator() {
  return {.name = "broadcast",
          .doc = "X[shape] -> Y[to], repeated along dimensions of extent 1",
          .parameters = {shape_parameter("extents of X, such as 5x1"),
                         {.name = "to",
                          .doc = "extents of Y, such as 4x5x6",
                          .kind = ParameterKind::Shape},
                         dtype_parameter()},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) {
            return broadcast(arguments.shape("shape"), arguments.shape("to"),
                             arguments.scalar("dtype"));
          }};
}

}  // namespace tilewright::te
