#include "feature/rows_arith.h"

#include <algorithm>
#include <array>
#include <optional>

#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/visit.h"
#include "te/iterations.h"

namespace tilewright::feature {
namespace {

using ir::BinaryOp;
using ir::Expr;
using schedule::kNone;
using schedule::LoopTree;
using schedule::StageIndex;
using schedule::StageKind;

constexpr int64_t kFewValues = 64;

// Values v in [0, extent) with 0 <= constant + coefficient * v < size.
int64_t count_inside(IndexTerm term, int64_t constant, int64_t size) {
  if (term.coefficient < 0) {
    constant += term.coefficient * (term.extent - 1);
    term.coefficient = -term.coefficient;
  }
  if (term.coefficient == 0) return constant >= 0 && constant < size ? term.extent : 0;
  const int64_t first = std::max<int64_t>(0, -ir::floor_div(constant, term.coefficient));
  const int64_t last =
      std::min(term.extent - 1, ir::floor_div(size - 1 - constant, term.coefficient));
  return std::max<int64_t>(0, last - first + 1);
}

// Assumes that every value between the smallest and the largest sum is equally frequent.
double hull_share(std::span<const IndexTerm> terms, int64_t constant, int64_t size) {
  int64_t low = constant;
  int64_t high = constant;
  for (const IndexTerm& term : terms) {
    const int64_t reach = term.coefficient * (term.extent - 1);
    (reach < 0 ? low : high) += reach;
  }
  const int64_t inside = std::min(high, size - 1) - std::max<int64_t>(low, 0) + 1;
  return static_cast<double>(std::max<int64_t>(inside, 0)) / static_cast<double>(high - low + 1);
}

double share_of(std::span<const IndexTerm> terms, int64_t constant, int64_t size, int64_t budget) {
  if (terms.empty()) return constant >= 0 && constant < size ? 1 : 0;
  const IndexTerm& first = terms.front();
  if (terms.size() == 1) {
    return static_cast<double>(count_inside(first, constant, size)) /
           static_cast<double>(first.extent);
  }
  if (first.extent > budget) return hull_share(terms, constant, size);
  double sum = 0;
  for (int64_t v = 0; v < first.extent; ++v) {
    sum +=
        share_of(terms.subspan(1), constant + first.coefficient * v, size, budget / first.extent);
  }
  return sum / static_cast<double>(first.extent);
}

// Counts the operations of one operator's expressions.
class Counter {
 public:
  Counter(const te::Dag& dag, te::OpId id, bool contract, OpArithmetic* arithmetic)
      : dag_(dag), id_(id), op_(dag.op(id)), contract_(contract), arithmetic_(*arithmetic) {}

  void count(const Expr& expr, double weight, OpCounts& out) const {
    switch (expr.kind()) {
      case ir::ExprKind::Load:
        return;  // index arithmetic is not counted
      case ir::ExprKind::Binary:
        return count_binary(*expr.as<ir::Binary>(), weight, out);
      case ir::ExprKind::Fma:
        out[sort_of(expr, sort::FloatMad)] += weight;
        break;
      case ir::ExprKind::Select: {
        const auto* node = expr.as<ir::Select>();
        out[sort::Selects] += weight;
        count(node->condition, weight, out);
        count(node->if_true, weight * taken(node->if_true), out);
        count(node->if_false, weight * taken(node->if_false), out);
        return;
      }
      case ir::ExprKind::Call:
        count_call(*expr.as<ir::Call>(), weight, out);
        break;
      default:
        break;
    }
    ir::for_each_child(expr, [&](const Expr& child) { count(child, weight, out); });
  }

 private:
  // The kind of a float operation, or the corresponding integer kind.
  static size_t sort_of(const Expr& operand, size_t of_floats) {
    return ir::is_float(operand.type()) ? of_floats : of_floats + sort::IntMad;
  }

  void count_binary(const ir::Binary& node, double weight, OpCounts& out) const {
    switch (node.op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
        if (count_mad(node, weight, out)) return;
        out[sort_of(node.a, sort::FloatAdd)] += weight;
        if (weight == 1) note_added_read(node);
        break;
      case BinaryOp::Mul:
        out[sort_of(node.a, sort::FloatMul)] += weight;
        break;
      case BinaryOp::Div:
      case BinaryOp::Mod:
        out[sort_of(node.a, sort::FloatDiv)] += weight;
        break;
      case BinaryOp::And:
      case BinaryOp::Or:
        out[sort::Bools] += weight;
        break;
      case BinaryOp::Min:
      case BinaryOp::Max:
      case BinaryOp::Eq:
      case BinaryOp::Ne:
      case BinaryOp::Lt:
      case BinaryOp::Le:
      case BinaryOp::Gt:
      case BinaryOp::Ge:
        out[sort_of(node.a, sort::FloatCompare)] += weight;
        break;
      default:
        out[sort_of(node.a, sort::FloatOther)] += weight;
    }
    count(node.a, weight, out);
    count(node.b, weight, out);
  }

  // a * b + c
  bool count_mad(const ir::Binary& node, double weight, OpCounts& out) const {
    if (ir::is_float(node.type) && !contract_) return false;
    const auto product_of = [](const Expr& expr) {
      const auto* product = expr.as<ir::Binary>();
      return product != nullptr && product->op == BinaryOp::Mul ? product : nullptr;
    };
    const ir::Binary* product = product_of(node.a);
    const Expr& other = product != nullptr ? node.b : node.a;
    if (product == nullptr) product = product_of(node.b);
    if (product == nullptr) return false;
    out[sort_of(node.a, sort::FloatMad)] += weight;
    count(product->a, weight, out);
    count(product->b, weight, out);
    count(other, weight, out);
    return true;
  }

  void note_added_read(const ir::Binary& node) const {
    const std::vector<te::Access>& reads = dag_.access(id_).reads;
    for (const Expr* operand : {&node.a, &node.b}) {
      const auto* load = operand->as<ir::Load>();
      if (load == nullptr) continue;
      const auto found = std::ranges::find(reads, load->buffer, &te::Access::tensor);
      if (found == reads.end()) continue;
      const te::OpId producer = dag_.tensor(load->buffer).op;
      if (dag_.op(producer).kind == te::OpKind::Placeholder) continue;
      arithmetic_.added_reads.push_back(static_cast<size_t>(found - reads.begin()));
      return;
    }
  }

  static void count_call(const ir::Call& call, double weight, OpCounts& out) {
    using enum ir::Intrinsic;
    switch (call.function) {
      case Not:
        out[sort::Bools] += weight;
        return;
      case Neg:
      case Abs:
      case Floor:
      case Round:
      case Ldexp:
      case Bitcast:
        out[sort_of(call.args[0], sort::FloatOther)] += weight;
        return;
      default:
        out[sort_of(call.args[0], sort::FloatMath)] += weight;
    }
  }

  // The share of the iterations in which the first read of a branch is within its tensor.
  double taken(const Expr& branch) const {
    const ir::Load* load = first_load(branch);
    if (load == nullptr) return 1;
    double share = 1;
    for (size_t d = 0; d < load->indices.size(); ++d) {
      const std::optional<arith::Affine> form = arith::affine_of(load->indices[d]);
      if (!form) continue;
      InlineVector<IndexTerm, arith::Affine::kMaxTerms> terms;
      for (const arith::Term& term : form->terms) {
        terms.push_back({term.coefficient, extent_of(term.var)});
      }
      share *= inside_share({terms.begin(), terms.size()}, form->constant,
                            dag_.tensor(load->buffer).shape[d].high);
    }
    return share;
  }

  static const ir::Load* first_load(const Expr& expr) {
    if (const auto* load = expr.as<ir::Load>()) return load;
    if (expr.as<ir::Select>() != nullptr) return nullptr;  // contains branches itself
    const ir::Load* found = nullptr;
    ir::for_each_child(expr, [&](const Expr& child) {
      if (found == nullptr) found = first_load(child);
    });
    return found;
  }

  int64_t extent_of(ir::VarId id) const {
    for (const auto* axes : {&op_.axes, &op_.reduce_axes}) {
      for (const te::Axis& axis : *axes) {
        if (axis.id() == id) return axis.extent.high;
      }
    }
    return 1;
  }

  const te::Dag& dag_;
  te::OpId id_;
  const te::Op& op_;
  bool contract_;
  OpArithmetic& arithmetic_;
};

void find_root(const te::Op& op, const te::OpAccess& access, OpArithmetic* out) {
  if (op.body.size() != 1) return;
  const Expr* root = op.body.data();
  while (const auto* cast = root->as<ir::Cast>()) root = &cast->value;
  if (const auto* node = root->as<ir::Binary>()) {
    if (node->op != BinaryOp::Mul) return;
    out->root = ir::is_float(node->type) ? Root::FloatMul : Root::IntMul;
  }
  const auto* load = root->as<ir::Load>();
  if (load == nullptr) return;
  for (size_t k = 0; k < access.reads.size(); ++k) {
    if (access.reads[k].tensor != load->buffer) continue;
    out->root = Root::Read;
    out->root_read = k;
  }
}

OpArithmetic arithmetic_of(const te::Dag& dag, te::OpId id, bool contract) {
  const te::Op& op = dag.op(id);
  OpArithmetic out;
  const Counter counter(dag, id, contract, &out);
  for (const Expr& value : op.body) counter.count(value, 1, out.body);
  if (op.reduction) {
    for (const Expr& value : op.reduction->combine) counter.count(value, 1, out.combine);
    out.adds = op.reduction->simple_op() == BinaryOp::Add;
  }
  find_root(op, dag.access(id), &out);
  out.elements = te::trip_count(op.axes);
  return out;
}

// A multiplication and an addition become one mad.
void contract_one(Root root, bool floats, OpCounts* counts) {
  if (root != Root::IntMul && !(root == Root::FloatMul && floats)) return;
  const size_t shift = root == Root::IntMul ? size_t{sort::IntMad} : 0;
  (*counts)[sort::FloatMul + shift] -= 1;
  (*counts)[sort::FloatAdd + shift] -= 1;
  (*counts)[sort::FloatMad + shift] += 1;
}

void add_counts(const OpCounts& counts, OpCounts* sum) {
  for (size_t k = 0; k < counts.size(); ++k) (*sum)[k] += counts[k];
}

}  // namespace

double inside_share(std::span<IndexTerm> terms, int64_t constant, int64_t size) {
  std::ranges::sort(terms, {}, &IndexTerm::extent);
  return share_of(terms, constant, size, kFewValues);
}

DagArithmetic::DagArithmetic(const te::Dag& dag, bool contract) : dag_(&dag), contract_(contract) {
  for (te::OpId id = 0; id < dag.ops().size(); ++id) {
    ops_.push_back(arithmetic_of(dag, id, contract));
  }
}

DagArithmetic::Statement DagArithmetic::of(const LoopTree& tree, StageIndex index,
                                           bool updates) const {
  const schedule::Stage& stage = tree.stage(index);
  Statement statement;
  Root root = Root::Other;
  if (stage.kind == StageKind::Copy) {
    add_read(tree, index, tree.buffer(stage.first_buffer).tensor, kNone, &statement);
  } else if (stage.kind != StageKind::Combine) {
    root = add_body(tree, index, stage.op, kNone, &statement);
  }
  if (!updates) return statement;
  const OpArithmetic& op = ops_[stage.op];
  add_counts(op.combine, &statement.counts);
  if (op.adds) contract_one(root, contract_, &statement.counts);
  return statement;
}

// The body of an operator, including inlined bodies.
Root DagArithmetic::add_body(const LoopTree& tree, StageIndex stage, te::OpId id, StageIndex via,
                             Statement* statement) const {
  const OpArithmetic& op = ops_[id];
  add_counts(op.body, &statement->counts);
  Root root = op.root;
  const std::vector<te::Access>& reads = dag_->access(id).reads;
  for (size_t k = 0; k < reads.size(); ++k) {
    const Root inner = add_read(tree, stage, reads[k].tensor, via, statement);
    for (const size_t added : op.added_reads) {
      if (added == k) contract_one(inner, contract_, &statement->counts);
    }
    if (op.root == Root::Read && op.root_read == k) root = inner;
  }
  return root;
}

// Adds nothing if the tensor is read from a buffer; otherwise the body of its operator.
Root DagArithmetic::add_read(const LoopTree& tree, StageIndex stage, te::TensorId tensor,
                             StageIndex via, Statement* statement) const {
  const te::OpId producer = dag_->tensor(tensor).op;
  if (dag_->op(producer).kind == te::OpKind::Placeholder) return Root::Other;
  for (const schedule::Access& access : tree.reads_of(tree.stage(stage))) {
    if (access.via == via && tree.buffer(access.buffer).tensor == tensor) return Root::Other;
  }
  const double elements = ops_[producer].elements;
  if (statement->min_inlined == 0 || elements < statement->min_inlined) {
    statement->min_inlined = elements;
  }
  return add_body(tree, stage, producer, static_cast<StageIndex>(producer), statement);
}

}  // namespace tilewright::feature
