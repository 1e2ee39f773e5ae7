#include "graph/ops/common.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "te/ops/operator.h"

namespace tilewright::graph {

using ir::Expr;

std::unexpected<Error> bad(const OpDef& op, const std::string& message) {
  return fail(ErrorKind::BadInput, fmt::format("{}: {}", op.name, message));
}

std::unexpected<Error> unsupported(const OpDef& op, const std::string& message) {
  return fail(ErrorKind::Unsupported, fmt::format("{}: {}", op.name, message));
}

void Reader::wrong(const std::string& message) {
  if (status_) status_ = bad(op_, message);
}

Shape Reader::list(std::string_view name, size_t size, int64_t low, int64_t high,
                   std::optional<int64_t> fallback) {
  Shape numbers(size, fallback.value_or(std::max<int64_t>(low, 1)));
  if (!attributes_.has(name)) {
    if (!fallback) wrong(fmt::format("{} is missing", name));
    return numbers;
  }
  const Shape& given = attributes_.list(name);
  if (given.size() != size) {
    wrong(fmt::format("{}={} should have {} numbers", name, shape_text(given), size));
    return numbers;
  }
  for (const int64_t one : given) {
    if (one >= low && one <= high) continue;
    wrong(fmt::format("{}={} has {}; legal are {} to {}", name, shape_text(given), one, low, high));
    return numbers;
  }
  return given;
}

int64_t Reader::integer(std::string_view name, int64_t fallback, int64_t low, int64_t high) {
  const int64_t given = attributes_.integer(name, fallback);
  if (given >= low && given <= high) return given;
  wrong(fmt::format("{}={}; legal are {} to {}", name, given, low, high));
  return low;
}

bool Reader::flag(std::string_view name, bool fallback) {
  return attributes_.integer(name, fallback ? 1 : 0) != 0;
}

size_t Reader::axis(std::string_view name, int64_t fallback, size_t rank) {
  const int64_t given = attributes_.integer(name, fallback);
  const auto dimensions = static_cast<int64_t>(rank);
  if (given >= -dimensions && given < dimensions) {
    return static_cast<size_t>(given < 0 ? given + dimensions : given);
  }
  wrong(fmt::format("there is no axis {} among {} dimensions", given, rank));
  return 0;
}

std::vector<size_t> Reader::axes(std::string_view name, size_t rank) {
  std::vector<size_t> axes;
  const auto dimensions = static_cast<int64_t>(rank);
  for (const int64_t given : attributes_.list(name, {})) {
    if (given < -dimensions || given >= dimensions) {
      wrong(fmt::format("there is no axis {} among {} dimensions", given, rank));
      return {};
    }
    axes.push_back(static_cast<size_t>(given < 0 ? given + dimensions : given));
  }
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) {
    wrong(fmt::format("{} names a dimension twice", name));
    return {};
  }
  return axes;
}

size_t Reader::choice(std::string_view name, std::string_view fallback,
                      std::span<const std::string_view> names) {
  const std::string given = attributes_.text(name, fallback);
  const auto at = std::ranges::find(names, given);
  if (at != names.end()) return static_cast<size_t>(at - names.begin());
  wrong(fmt::format("{}={} is unknown; legal are {}", name, given, fmt::join(names, ", ")));
  return 0;
}

ir::Scalar Reader::scalar(std::string_view name) {
  const std::string given = attributes_.text(name, "");
  const auto scalar = ir::scalar_named(given);
  if (!scalar) wrong(fmt::format("{}={} is not a type", name, given));
  return scalar.value_or(ir::Scalar::F32);
}

double Reader::number(std::string_view name, double fallback) {
  const double given = attributes_.number(name, fallback);
  if (std::isfinite(given)) return given;
  wrong(fmt::format("{}={} is not finite", name, given));
  return fallback;
}

bool has(OperandTypes operands, size_t k) { return k < operands.size() && operands[k]; }

Status require_float(const OpDef& op, ir::Scalar element) {
  if (ir::is_float(element)) return {};
  return unsupported(op, fmt::format("is for floats, not for {}", ir::name_of(element)));
}

Status require_number(const OpDef& op, ir::Scalar element) {
  if (element != ir::Scalar::Bool) return {};
  return unsupported(op, "is for numbers, not for bool");
}

Status require_integer(const OpDef& op, ir::Scalar element) {
  if (ir::is_integer(element)) return {};
  return unsupported(op, fmt::format("is for integers, not for {}", ir::name_of(element)));
}

Status require_result(const OpDef& op, std::span<const int64_t> shape) {
  if (shape.size() > kMaxRank) {
    return unsupported(op, fmt::format("the result has {} dimensions; up to {} are supported",
                                       shape.size(), kMaxRank));
  }
  for (const int64_t extent : shape) {
    if (extent == 0) {
      return unsupported(
          op, fmt::format("not supported: empty tensor (the result is {})", shape_text(shape)));
    }
    if (extent < 0) return bad(op, fmt::format("the result would be {}", shape_text(shape)));
  }
  const TensorType type{.element = ir::Scalar::Bool, .shape = {shape.begin(), shape.end()}};
  if (type.elements() <= te::kMaxElements) return {};
  return unsupported(op, fmt::format("the result would be {}; tensors of up to {} elements are "
                                     "supported",
                                     shape_text(shape), te::kMaxElements));
}

Result<Shape> broadcast_shape(const OpDef& op, std::span<const Shape> shapes) {
  size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  Shape common(rank, 1);
  for (const Shape& shape : shapes) {
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t& extent = common[rank - shape.size() + d];
      if (extent != shape[d] && extent != 1 && shape[d] != 1) {
        std::vector<std::string> all;
        for (const Shape& one : shapes) all.push_back(shape_text(one));
        return bad(op, fmt::format("shapes {} do not broadcast", fmt::join(all, " and ")));
      }
      extent = std::max(extent, shape[d]);
    }
  }
  return common;
}

bool broadcasts_to(std::span<const int64_t> from, std::span<const int64_t> to) {
  if (from.size() > to.size()) return false;
  const std::span<const int64_t> aligned = to.last(from.size());
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1 && from[d] != aligned[d]) return false;
  }
  return true;
}

Expr read_broadcast(const te::DagBuilder& builder, te::TensorId tensor,
                    std::span<const te::Axis> axes) {
  const std::vector<te::Extent>& shape = builder.tensor(tensor).shape;
  const std::span<const te::Axis> aligned = axes.last(shape.size());
  std::vector<Expr> indices;
  indices.reserve(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    indices.push_back(shape[d] == aligned[d].extent ? aligned[d].var : ir::int_imm(0));
  }
  return builder.read(tensor, std::move(indices));
}

te::TensorId placeholder(te::DagBuilder& builder, std::string_view name, const TensorType& type) {
  return builder.placeholder(name, te::extents_of(type.shape), type.element);
}

std::shared_ptr<const te::Dag> finish(te::DagBuilder builder, const std::vector<te::Axis>& axes,
                                      const Expr& value, ir::Scalar element) {
  builder.compute("Y", axes, value, element);
  return std::move(builder).build();
}

Expr number(double value, const Expr& like) { return ir::imm(value, like.type()); }

Expr equal(const Expr& a, const Expr& b) { return ir::binary(ir::BinaryOp::Eq, a, b); }

Expr call(ir::Intrinsic function, const Expr& x) { return ir::call(function, {x}); }

Expr clamped(const Expr& index, int64_t extent) {
  return ir::min(ir::max(index, ir::int_imm(0)), ir::int_imm(extent - 1));
}

Expr also(const Expr& conditions, const Expr& another) {
  return conditions.defined() ? conditions && another : another;
}

}  // namespace tilewright::graph
