// What the operators of a Graph share: checks of attributes and shapes, and broadcasting. Messages
// begin with the operator's name.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op_table.h"
#include "te/ops/dimensions.h"

namespace tilewright::graph {

using DagResult = Result<std::shared_ptr<const te::Dag>>;
using Shape = std::vector<int64_t>;

std::unexpected<Error> bad(const OpDef& op, const std::string& message);
std::unexpected<Error> unsupported(const OpDef& op, const std::string& message);

// Reads attributes and checks their values, which come from files. The first that is wrong is
// remembered; what is read after it is of no use.
//
//   Reader read(op, attributes);
//   const Shape stride = read.list("stride", rank, 1, te::kMaxParameter, 1);
//   if (!read) return read.error();
class Reader {
 public:
  Reader(const OpDef& op, const Attributes& attributes) : op_(op), attributes_(attributes) {}

  // `size` numbers within [low, high]; without a fallback the list must be there.
  Shape list(std::string_view name, size_t size, int64_t low, int64_t high,
             std::optional<int64_t> fallback = {});
  int64_t integer(std::string_view name, int64_t fallback, int64_t low, int64_t high);
  bool flag(std::string_view name, bool fallback = false);  // 0 or not
  // A dimension of `rank`; -1 is the last.
  size_t axis(std::string_view name, int64_t fallback, size_t rank);
  // Dimensions, each once, ascending; -1 is the last.
  std::vector<size_t> axes(std::string_view name, size_t rank);
  // Which of `names` the text is.
  size_t choice(std::string_view name, std::string_view fallback,
                std::span<const std::string_view> names);
  ir::Scalar scalar(std::string_view name);               // a type by its name
  double number(std::string_view name, double fallback);  // finite

  explicit operator bool() const { return !error_; }
  std::unexpected<Error> error() const { return std::unexpected(*error_); }

 private:
  void wrong(const std::string& message);
  const OpDef& op_;
  const Attributes& attributes_;
  std::optional<Error> error_;
};

bool has(OperandTypes operands, size_t k);          // given, and not left out
std::string print(std::span<const int64_t> shape);  // `[2,3]`

Status require_float(const OpDef& op, ir::Scalar element);
Status require_number(const OpDef& op, ir::Scalar element);
Status require_integer(const OpDef& op, ir::Scalar element);
// A shape that a result is to have: no more dimensions and elements than values may have, and at
// least one of each extent.
Status require_result(const OpDef& op, std::span<const int64_t> shape);

// The shape that all broadcast to, as NumPy does.
Result<Shape> broadcast_shape(const OpDef& op, std::span<const Shape> shapes);
bool broadcasts_to(std::span<const int64_t> from, std::span<const int64_t> to);
// The element of `tensor` that stands at the place `axes` of a result that it broadcasts to: an
// axis where both have its extent, else 0.
ir::Expr read_broadcast(const te::DagBuilder& builder, te::TensorId tensor,
                        std::span<const te::Axis> axes);

te::TensorId placeholder(te::DagBuilder& builder, std::string_view name, const TensorType& type);

// Y[shape] = value(indices), stored as `element`, and the Dag of it all.
std::shared_ptr<const te::Dag> finish(te::DagBuilder builder, const std::vector<te::Axis>& axes,
                                      const ir::Expr& value, ir::Scalar element);

ir::Expr number(double value, const ir::Expr& like);
ir::Expr equal(const ir::Expr& a, const ir::Expr& b);
ir::Expr call(ir::Intrinsic function, const ir::Expr& x);
ir::Expr clamped(const ir::Expr& index, int64_t extent);             // into [0, extent)
ir::Expr also(const ir::Expr& conditions, const ir::Expr& another);  // `conditions` may be null

}  // namespace tilewright::graph
