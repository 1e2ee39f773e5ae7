#include "te/check_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <unordered_set>
#include <utility>

#include "ir/visit.h"

namespace tilewright::te {
namespace {

template <class... Args>
std::unexpected<Error> broken(fmt::format_string<Args...> text, Args&&... args) {
  return fail(ErrorKind::BadInput, fmt::format(text, std::forward<Args>(args)...));
}

// Checks the expressions of an operator: known variables, and loads of existing tensors with their
// element type and one I64 index per dimension. Keeps the first error.
class BodyChecker : public ir::Visitor {
 public:
  BodyChecker(const Name& op, std::unordered_set<ir::VarId> vars,
              const std::vector<Tensor>& tensors)
      : op_(op.text()), vars_(std::move(vars)), tensors_(tensors) {}

  void visit(const ir::Expr& expr) override {
    if (!status_) return;
    status_ = check(expr);
    ir::Visitor::visit(expr);
  }
  const Status& status() const { return status_; }

 private:
  Status check(const ir::Expr& expr) const {
    if (const auto* node = expr.as<ir::Var>(); node != nullptr && !vars_.contains(node->id)) {
      return broken("{}: variable {} is not an axis of it", op_, node->name.text());
    }
    const auto* load = expr.as<ir::Load>();
    if (load == nullptr) return {};
    if (load->buffer >= tensors_.size()) {
      return broken("{}: reads tensor {}, which is not defined yet", op_, load->buffer);
    }
    const Tensor& tensor = tensors_[load->buffer];
    if (load->type != ir::Type(tensor.element, 1)) {
      return broken("{}: reads {} as {}, not {}", op_, tensor.name.text(),
                    ir::to_string(load->type), ir::name_of(tensor.element));
    }
    if (load->indices.size() != tensor.shape.size()) {
      return broken("{}: reads {} with {} indices, not {}", op_, tensor.name.text(),
                    load->indices.size(), tensor.shape.size());
    }
    for (const ir::Expr& index : load->indices) {
      if (index.type() == ir::kIndex) continue;
      return broken("{}: an index of {} is {}, not {}", op_, tensor.name.text(),
                    ir::to_string(index.type()), ir::to_string(ir::kIndex));
    }
    return {};
  }

  const std::string& op_;
  std::unordered_set<ir::VarId> vars_;
  const std::vector<Tensor>& tensors_;
  Status status_;
};

Status check_axes(const Op& op) {
  std::unordered_set<uint32_t> names;
  std::unordered_set<ir::VarId> vars;
  for (const auto* axes : {&op.axes, &op.reduce_axes}) {
    for (const Axis& axis : *axes) {
      if (axis.extent.low < 1)
        return broken("{}: axis {} is empty", op.name.text(), axis.name.text());
      if (!names.insert(axis.name.id()).second) {
        return broken("{}: two axes are called {}", op.name.text(), axis.name.text());
      }
      if (!vars.insert(axis.id()).second) {
        return broken("{}: axis {} twice", op.name.text(), axis.name.text());
      }
    }
  }
  if (vars.size() > kMaxOpAxes) {
    return broken("{}: {} axes; {} are supported", op.name.text(), vars.size(), kMaxOpAxes);
  }
  return {};
}

Status check_reduction(const Op& op, const std::vector<Tensor>& tensors) {
  const Reduction& reduction = *op.reduction;
  const size_t width = op.body.size();
  if (op.reduce_axes.empty()) return broken("{}: a reduction over no axis", op.name.text());
  if (reduction.identity.size() != width || reduction.lhs.size() != width ||
      reduction.rhs.size() != width || reduction.combine.size() != width) {
    return broken("{}: a reduction of {} values with {}, {}, {} and {} parts", op.name.text(),
                  width, reduction.identity.size(), reduction.lhs.size(), reduction.rhs.size(),
                  reduction.combine.size());
  }
  std::unordered_set<ir::VarId> sides;
  for (size_t k = 0; k < width; ++k) {
    const ir::Type type = op.body[k].type();
    if (ir::arithmetic_type(type.scalar) != type.scalar) {
      return broken("{}: {} cannot accumulate", op.name.text(), ir::to_string(type));
    }
    if (reduction.identity[k].type() != type || reduction.lhs[k].type() != type ||
        reduction.rhs[k].type() != type || reduction.combine[k].type() != type) {
      return broken("{}: part {} of the reduction is not {}", op.name.text(), k,
                    ir::to_string(type));
    }
    sides.insert(reduction.lhs[k].as<ir::Var>()->id);
    sides.insert(reduction.rhs[k].as<ir::Var>()->id);
  }
  if (sides.size() != 2 * width) return broken("{}: lhs and rhs share a variable", op.name.text());
  BodyChecker combine(op.name, sides, tensors);
  for (const ir::Expr& part : reduction.combine) combine.visit(part);
  TRY(combine.status());
  BodyChecker identity(op.name, {}, tensors);
  for (const ir::Expr& part : reduction.identity) identity.visit(part);
  return identity.status();
}

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

Status check_op(const Op& op, const std::vector<ir::Scalar>& elements,
                const std::vector<Tensor>& tensors) {
  if (!is_plain_name(op.name.text())) {
    return broken("'{}' is not a name for an operator: letters, digits and '_' are",
                  op.name.text());
  }
  TRY(check_axes(op));
  if (op.kind == OpKind::Placeholder) return {};
  if (op.body.empty() || op.body.size() != elements.size()) {
    return broken("{}: {} values for {} tensors", op.name.text(), op.body.size(), elements.size());
  }
  std::unordered_set<ir::VarId> vars;
  for (const Axis& axis : op.axes) vars.insert(axis.id());
  for (const Axis& axis : op.reduce_axes) vars.insert(axis.id());
  BodyChecker checker(op.name, std::move(vars), tensors);
  for (size_t k = 0; k < op.body.size(); ++k) {
    if (op.body[k].type().is_vector()) return broken("{}: a vector value", op.name.text());
    if (!op.reduction && op.body[k].type().scalar != elements[k]) {
      return broken("{}: {} stored as {}", op.name.text(), ir::to_string(op.body[k].type()),
                    ir::name_of(elements[k]));
    }
    checker.visit(op.body[k]);
  }
  TRY(checker.status());
  return op.reduction ? check_reduction(op, tensors) : Status{};
}

}  // namespace tilewright::te
