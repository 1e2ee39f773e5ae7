// Code shared by the operators of a Graph: checks of attributes and shapes, and broadcasting.
// Messages begin with the operator's name.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op_table.h"
#include "graph/shape_text.h"
#include "te/ops/dimensions.h"

namespace tilewright::graph {

using DagResult = Result<std::shared_ptr<const te::Dag>>;
using Shape = std::vector<int64_t>;

std::unexpected<Error> bad(const OpDef& op, const std::string& message);
std::unexpected<Error> unsupported(const OpDef& op, const std::string& message);

// Reads attributes, which come from files, and checks their values. Keeps the first error; values
// read after it are meaningless.
//
//   Reader read(op, attributes);
//   const Shape stride = read.list("stride", rank, 1, te::kMaxParameter, 1);
//   TRY(read.status());
class Reader {
 public:
  Reader(const OpDef& op, const Attributes& attributes) : op_(op), attributes_(attributes) {}

  // `size` numbers within [low, high]; required without a fallback.
  Shape list(std::string_view name, size_t size, int64_t low, int64_t high,
             std::optional<int64_t> fallback = {});
  int64_t integer(std::string_view name, int64_t fallback, int64_t low, int64_t high);
  bool flag(std::string_view name, bool fallback = false);  // false is 0
  // A dimension of `rank`; -1 is the last.
  size_t axis(std::string_view name, int64_t fallback, size_t rank);
  // Dimensions, each once, ascending; -1 is the last.
  std::vector<size_t> axes(std::string_view name, size_t rank);
  // The index of the text in `names`.
  size_t choice(std::string_view name, std::string_view fallback,
                std::span<const std::string_view> names);
  ir::Scalar scalar(std::string_view name);               // a type by its name
  double number(std::string_view name, double fallback);  // finite

  const Status& status() const { return status_; }

 private:
  void wrong(const std::string& message);
  const OpDef& op_;
  const Attributes& attributes_;
  Status status_;
};

bool has(OperandTypes operands, size_t k);  // operand k is given

Status require_float(const OpDef& op, ir::Scalar element);
Status require_number(const OpDef& op, ir::Scalar element);
Status require_integer(const OpDef& op, ir::Scalar element);
// Fails unless a result may have this shape: extents of at least 1, and not too many dimensions or
// elements.
Status require_result(const OpDef& op, std::span<const int64_t> shape);

// The shape that all broadcast to, by NumPy's rules.
Result<Shape> broadcast_shape(const OpDef& op, std::span<const Shape> shapes);
bool broadcasts_to(std::span<const int64_t> from, std::span<const int64_t> to);
// The element of `tensor` at `axes` of a result that it broadcasts to: an index is the axis if the
// extents are equal, else 0.
ir::Expr read_broadcast(const te::DagBuilder& builder, te::TensorId tensor,
                        std::span<const te::Axis> axes);

te::TensorId placeholder(te::DagBuilder& builder, std::string_view name, const TensorType& type);

// Adds the stage Y = value over `axes`, stored as `element`, and builds the Dag.
std::shared_ptr<const te::Dag> finish(te::DagBuilder builder, const std::vector<te::Axis>& axes,
                                      const ir::Expr& value, ir::Scalar element);

ir::Expr number(double value, const ir::Expr& like);
ir::Expr equal(const ir::Expr& a, const ir::Expr& b);
ir::Expr call(ir::Intrinsic function, const ir::Expr& x);
ir::Expr clamped(const ir::Expr& index, int64_t extent);             // into [0, extent)
ir::Expr also(const ir::Expr& conditions, const ir::Expr& another);  // `conditions` may be null

}  // namespace tilewright::graph
