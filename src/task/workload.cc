#include "task/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "base/check.h"
#include "ir/equal.h"
#include "te/shape_of.h"

namespace tilewright {
namespace {

constexpr uint64_t kKeyVersion = 1;

// Adds the content of a Dag to a hasher. Axes, accumulators and symbols are numbered in order of
// appearance, so that names and identities do not matter.
class DagHasher {
 public:
  DagHasher(Hasher& hasher, const te::Dag& dag) : hasher_(hasher), dag_(dag) {}

  void add_dag() {
    hasher_.add(dag_.ops().size());
    for (const te::Op& op : dag_.ops()) add_op(op);
  }

 private:
  void add_op(const te::Op& op) {
    hasher_.add(static_cast<uint64_t>(op.kind)).add(op.outputs.size());
    for (const te::TensorId id : op.outputs) {
      hasher_.add(static_cast<uint64_t>(dag_.tensor(id).element));
    }
    vars_.clear();
    add_axes(op.axes);
    add_axes(op.reduce_axes);
    add_exprs(op.body);
    hasher_.add(op.reduction ? 1 : 0);
    if (op.reduction) add_reduction(*op.reduction);
  }

  void add_axes(const std::vector<te::Axis>& axes) {
    hasher_.add(axes.size());
    for (const te::Axis& axis : axes) {
      hasher_.add_signed(axis.extent.low).add_signed(axis.extent.high);
      hasher_.add(axis.extent.is_constant() ? 0 : symbol_number(axis.extent.symbol));
      number_var(axis.var);
    }
  }

  void add_reduction(const te::Reduction& reduction) {
    for (const auto* side : {&reduction.lhs, &reduction.rhs}) {
      for (const ir::Expr& var : *side) number_var(var);
    }
    add_exprs(reduction.identity);
    add_exprs(reduction.combine);
    hasher_.add(reduction.commutative ? 1 : 0);
  }

  void add_exprs(const std::vector<ir::Expr>& exprs) {
    hasher_.add(exprs.size());
    for (const ir::Expr& expr : exprs) {
      ir::hash_into(hasher_, expr, [this](ir::VarId id) { return vars_.at(id); });
    }
  }

  void number_var(const ir::Expr& var) { vars_.emplace(var.as<ir::Var>()->id, vars_.size()); }
  uint64_t symbol_number(Name symbol) {
    return symbols_.emplace(symbol, symbols_.size() + 1).first->second;
  }

  Hasher& hasher_;
  const te::Dag& dag_;
  std::unordered_map<ir::VarId, uint64_t> vars_;
  std::unordered_map<Name, uint64_t> symbols_;  // from 1
};

uint64_t permission_bits(const FloatPermissions& permissions) {
  const bool bits[] = {permissions.reassociate,       permissions.contract,
                       permissions.approximate,       permissions.fold,
                       permissions.online_softmax,    permissions.winograd,
                       permissions.reduced_precision, permissions.denormals};
  uint64_t word = 0;
  for (size_t k = 0; k < std::size(bits); ++k) word |= uint64_t{bits[k]} << k;
  return word;
}

layout::Layout row_major_of(const te::Tensor& tensor) {
  return layout::Layout::row_major(shape_of(tensor));
}

// True if its digits are the dimensions of some array, in order.
bool is_row_major(const layout::Layout& layout) {
  std::vector<int64_t> shape;
  shape.reserve(layout.digits.size());
  for (const layout::Digit& digit : layout.digits) shape.push_back(digit.extent);
  return layout.is_row_major(shape);
}

// Row-major operands and parts of row-major arrays are hashed by the array alone; any other layout
// is marked, so that no padded layout has the key of a part. Also of operands that no schedule
// takes: the caller refuses them with an error that names them.
void add_storage(Hasher& hasher, const Operand& operand, const layout::Layout& row_major) {
  constexpr uint64_t kOwnLayout = 0x1a, kPartWithOwnLayout = 0x1b;
  if (operand.is_part() && !is_row_major(operand.layout)) {
    hasher.add(kPartWithOwnLayout).add(operand.within.size());
    for (const int64_t extent : operand.within) hasher.add_signed(extent);
    operand.layout.hash_into(hasher);
    return;
  }
  operand.storage().hash_into(hasher);
  if (!operand.layout.free && operand.layout != row_major) {
    hasher.add(kOwnLayout);
    operand.layout.hash_into(hasher);
  }
}

// True if the number of elements does not overflow.
bool is_countable(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  return std::ranges::all_of(extents, [&](int64_t extent) {
    return extent >= 1 && !__builtin_mul_overflow(product, extent, &product) &&
           product <= (int64_t{1} << 48);
  });
}

}  // namespace

Hash128 Workload::key() const {
  Hasher hasher;
  hasher.add(kKeyVersion);
  DagHasher(hasher, *dag).add_dag();
  hasher.add(permission_bits(permissions)).add(operands.size());
  for (const Operand& operand : operands) {
    hasher.add(operand.tensor).add(static_cast<uint64_t>(operand.role));
    hasher.add_signed(operand.alignment);
    add_storage(hasher, operand, row_major_of(dag->tensor(operand.tensor)));
  }
  return hasher.finish();
}

layout::Layout Operand::storage() const {
  if (!is_part()) return layout;
  CHECK(is_row_major(layout), "a part of a larger array has the layout {}", layout.to_string());
  return layout::Layout::row_major(within);
}

const Operand& Workload::operand_of(te::TensorId tensor) const {
  const auto found = std::ranges::find(operands, tensor, &Operand::tensor);
  CHECK(found != operands.end(), "tensor {} is not an operand", tensor);
  return *found;
}

Workload make_workload(std::shared_ptr<const te::Dag> dag,
                       const std::vector<std::string>& constants, std::string text,
                       FloatPermissions permissions) {
  Workload workload{
      .dag = std::move(dag), .permissions = permissions, .operands = {}, .text = std::move(text)};
  size_t found = 0;
  for (const te::TensorId id : workload.dag->inputs()) {
    const te::Tensor& tensor = workload.dag->tensor(id);
    const bool constant = std::ranges::find(constants, tensor.name.text()) != constants.end();
    found += constant ? 1 : 0;
    workload.operands.push_back(
        {.tensor = id,
         .role = constant ? Role::Constant : Role::Input,
         .layout = constant ? layout::Layout::undecided() : row_major_of(tensor)});
  }
  CHECK(found == constants.size(), "{} of {} constants are placeholders", found, constants.size());
  for (const te::TensorId id : workload.dag->outputs()) {
    workload.operands.push_back(
        {.tensor = id, .role = Role::Output, .layout = row_major_of(workload.dag->tensor(id))});
  }
  return workload;
}

Status set_part(Workload& workload, const OperandPart& part) {
  const auto found = std::ranges::find_if(workload.operands, [&](const Operand& operand) {
    return workload.dag->tensor(operand.tensor).name.text() == part.tensor;
  });
  if (found == workload.operands.end() || found->role == Role::Constant) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} is not an input or output: it cannot be a part", part.tensor));
  }
  const std::vector<int64_t> shape = shape_of(workload.dag->tensor(found->tensor));
  const bool fits = part.extents.size() == shape.size() && is_countable(part.extents) &&
                    std::ranges::equal(shape, part.extents, std::ranges::less_equal());
  if (!fits) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} of {} is not a part of {}", part.tensor, fmt::join(shape, "x"),
                            fmt::join(part.extents, "x")));
  }
  if (part.alignment < 1 || part.alignment > 64 || (part.alignment & (part.alignment - 1)) != 0) {
    return fail(ErrorKind::BadInput, fmt::format("{}: an alignment of {} bytes; it should be a "
                                                 "power of two up to 64",
                                                 part.tensor, part.alignment));
  }
  found->within = part.extents == shape ? std::vector<int64_t>() : part.extents;
  found->alignment = part.alignment;
  return {};
}

Hash128 Task::key() const {
  const Hash128 work = workload.key();
  return Hasher().add(work.high).add(work.low).add_text(print_target(target)).finish();
}

}  // namespace tilewright
