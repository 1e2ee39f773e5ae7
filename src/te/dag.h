// te::Dag: a tensor computation without its schedule, like Halide's algorithm or TVM's ComputeDAG.
// Immutable once built (te/dag_builder.h); threads may share it.
//
// A Dag is a list of operators in topological order. A placeholder is an input tensor. A compute
// operator defines one or more tensors of the same shape by an expression per element, optionally
// reduced over further axes:
//
//   C[i, j] = sum over k of A[i, k] * B[k, j]
//
// Reductions are tuple-valued monoids: `identity`, and `combine`, which maps (lhs..., rhs...) to
// one tuple. Sum and max have tuples of one, argmax of two, online softmax of three. Accumulator
// types may differ from element types; the final tuple is cast to the latter.
//
// Expressions refer to axes by Var and to tensors by Load, whose BufferId is a TensorId. An axis
// belongs to one operator; its name is unique there. A body has the element type of its tensor, or
// the type of its accumulator if there is a reduction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/name.h"
#include "ir/expr.h"
#include "te/access.h"

namespace tilewright::te {

inline constexpr size_t kMaxTensorRank = 10;  // what schedules and operators of any rank hold

// The extent of an axis or dimension: a constant, or a named symbol in [low, high].
struct Extent {
  int64_t low = 1;
  int64_t high = 1;
  Name symbol;  // empty: a constant, low == high

  Extent() = default;
  Extent(int64_t value) : low(value), high(value) {}  // NOLINT: a number is an extent
  static Extent named(Name symbol, int64_t low, int64_t high);

  bool is_constant() const { return symbol.empty(); }
  std::optional<int64_t> constant() const;
  bool operator==(const Extent&) const = default;
};

// Hints of an operator's author about an axis; Ansor has the same ones as attributes of operators
// (Zheng et al., OSDI 2020).
struct AxisHints {
  bool always_unroll_inner = false;
  bool no_split_at_inner = false;
  bool simplify_const_index = false;  // fully unrolled, so that reads of constant tensors fold

  bool operator==(const AxisHints&) const = default;
};

struct Axis {
  Name name;
  ir::Expr var;  // an I64 Var in [0, extent)
  Extent extent;
  AxisHints hints;

  ir::VarId id() const { return var.as<ir::Var>()->id; }
};

using TensorId = ir::BufferId;
using OpId = uint32_t;

enum class OpKind : uint8_t { Placeholder, Compute, Scan, Extern };

struct Reduction {
  std::vector<ir::Expr> identity;  // constants, of the accumulator types
  std::vector<ir::Expr> lhs, rhs;  // Vars of the accumulator types
  std::vector<ir::Expr> combine;   // over lhs and rhs
  bool commutative = true;         // always associative; so parts may be combined in any order

  // The operator, if this is a one-tuple `lhs op rhs` with Add, Mul, Min, Max, And or Or.
  std::optional<ir::BinaryOp> simple_op() const;
};

// The one-tuple reduction `lhs op rhs` with its identity: 0, 1, the smallest or the largest value.
// Op is Add, Mul, Min, Max, or And, Or on Bool.
Reduction make_reduction(ir::BinaryOp op, ir::Scalar accumulator);

struct Op {
  Name name;
  OpKind kind = OpKind::Compute;
  std::vector<Axis> axes;         // one per dimension of the outputs
  std::vector<Axis> reduce_axes;  // empty unless `reduction`
  std::vector<ir::Expr> body;     // one per output: its value, or the term that is reduced
  std::optional<Reduction> reduction;
  std::vector<TensorId> outputs;
  std::optional<double> flop_override;  // the FLOP hint

  bool has_reduction() const { return reduction.has_value(); }
};

struct Tensor {
  Name name;  // the operator's, or `name.k` for output k of several
  OpId op = 0;
  uint32_t output = 0;
  ir::Scalar element = ir::Scalar::F32;
  std::vector<Extent> shape;
};

class Dag {
 public:
  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Op& op(OpId id) const { return ops_[id]; }
  const Tensor& tensor(TensorId id) const { return tensors_[id]; }
  const std::vector<TensorId>& inputs() const { return inputs_; }    // placeholders, in order
  const std::vector<TensorId>& outputs() const { return outputs_; }  // without readers or discard
  std::optional<OpId> find_op(Name name) const;

  // Access analysis, computed once by the builder.
  const OpAccess& access(OpId id) const { return access_[id]; }
  std::span<const OpId> consumers(OpId id) const { return consumers_[id]; }  // ascending, unique
  std::span<const OpId> producers(OpId id) const { return producers_[id]; }

  // FLOP as te/flop.h counts them; a symbolic extent counts as its largest value.
  double flop() const { return flop_; }  // of the whole Dag
  double flop(OpId id) const;            // of one operator
  std::string to_string() const;         // one line per operator

 private:
  friend class DagBuilder;
  std::vector<Op> ops_;
  std::vector<Tensor> tensors_;
  std::vector<TensorId> inputs_, outputs_;
  std::vector<OpAccess> access_;
  std::vector<std::vector<OpId>> consumers_, producers_;
  double flop_ = 0;
};

}  // namespace tilewright::te
