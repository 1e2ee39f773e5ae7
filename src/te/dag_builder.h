// DagBuilder: builds a Dag operator by operator. Names must be unique and plain (letters, digits,
// '_'). Misuse (a wrong number or type of indices, an unknown tensor; te/check_op.h) is a CHECK:
// callers are operator definitions, which validate the user's parameters first. `add` and `finish`
// are for operators that a file defines: there it is an Error. Not thread-safe; `build` and
// `finish` consume it.
//
//   DagBuilder builder;
//   const TensorId x = builder.placeholder("X", {8, 16}, ir::Scalar::F32);
//   const Axis i = builder.axis("i", 8), k = builder.axis("k", 16);
//   builder.reduce("Y", {i}, {k}, ir::BinaryOp::Add, builder.read(x, {i.var, k.var}),
//                  ir::Scalar::F32);
//   const std::shared_ptr<const Dag> dag = std::move(builder).build();
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "te/dag.h"

namespace tilewright::te {

class DagBuilder {
 public:
  TensorId placeholder(std::string_view name, std::vector<Extent> shape, ir::Scalar element);

  // A new axis for the calls below.
  Axis axis(std::string_view name, Extent extent, AxisHints hints = {});

  // The element of a tensor at the given indices, in its arithmetic type: F16 and BF16 are cast to
  // F32 here.
  ir::Expr read(TensorId tensor, std::vector<ir::Expr> indices) const;

  // A tensor defined by an expression per element, stored as `element`, by default the value's
  // type: F16 and BF16 values are computed in F32 and cast here.
  TensorId compute(std::string_view name, std::vector<Axis> axes, ir::Expr value,
                   std::optional<ir::Scalar> element = {});

  // Sum, product, min, max, and, or of `value` (of the accumulator type) over `reduce_axes`; the
  // result is cast to `element`.
  TensorId reduce(std::string_view name, std::vector<Axis> axes, std::vector<Axis> reduce_axes,
                  ir::BinaryOp op, const ir::Expr& value, ir::Scalar element);

  std::vector<TensorId> reduce_tuple(std::string_view name, std::vector<Axis> axes,
                                     std::vector<Axis> reduce_axes, Reduction reduction,
                                     std::vector<ir::Expr> values,
                                     const std::vector<ir::Scalar>& elements);

  void set_flop(TensorId tensor, double flop);  // of the operator that defines the tensor

  // Marks a tensor of a tuple that only the reduction needs (the values of an argmax): it is not an
  // output although it has no readers.
  void discard(TensorId tensor);

  const Tensor& tensor(TensorId id) const { return dag_.tensors_.at(id); }  // defined so far

  std::shared_ptr<const Dag> build() &&;  // analyzes accesses and checks the Dag

  // An operator with its axes and expressions, and without outputs; the tensors it defines.
  Result<std::vector<TensorId>> add(Op op, const std::vector<ir::Scalar>& elements);
  Result<std::shared_ptr<const Dag>> finish() &&;

 private:
  TensorId add_op(Op op, const std::vector<ir::Scalar>& elements);
  Dag dag_;
  std::vector<TensorId> discarded_;
};

}  // namespace tilewright::te
