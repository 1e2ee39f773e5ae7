#include "te/dag_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/json.h"
#include "te/dag_builder.h"

namespace tilewright::te {
namespace {

constexpr size_t kMaxNodes = 100000;  // of one operator
constexpr int kHints = 3;

// --- writing ----------------------------------------------------------------------------------

Json axis_to_json(const Axis& axis) {
  Json json = Json::array({axis.name.text(), axis.extent.high});
  const int hints = (axis.hints.always_unroll_inner ? 1 : 0) |
                    (axis.hints.no_split_at_inner ? 2 : 0) |
                    (axis.hints.simplify_const_index ? 4 : 0);
  if (hints != 0 || !axis.extent.is_constant()) json.push_back(hints);
  if (!axis.extent.is_constant()) {
    json.push_back(axis.extent.low);
    json.push_back(axis.extent.symbol.text());
  }
  return json;
}

Json axes_to_json(const std::vector<Axis>& axes) {
  Json json = Json::array();
  for (const Axis& axis : axes) json.push_back(axis_to_json(axis));
  return json;
}

// The expressions of one operator as a list of nodes.
class NodeWriter {
 public:
  explicit NodeWriter(const Op& op) {
    for (const auto* axes : {&op.axes, &op.reduce_axes}) {
      for (const Axis& axis : *axes) number(axis.id());
    }
    if (!op.reduction) return;
    for (const auto* side : {&op.reduction->lhs, &op.reduction->rhs}) {
      for (const ir::Expr& var : *side) number(var.as<ir::Var>()->id);
    }
  }

  size_t add(const ir::Expr& expr) {
    const auto known = written_.find(expr.get());
    if (known != written_.end()) return known->second;
    Json node = node_of(expr);
    nodes_.push_back(std::move(node));
    return written_[expr.get()] = nodes_.size() - 1;
  }
  Json add_all(const std::vector<ir::Expr>& exprs) {
    Json json = Json::array();
    for (const ir::Expr& expr : exprs) json.push_back(add(expr));
    return json;
  }
  Json take() { return std::move(nodes_); }

 private:
  void number(ir::VarId id) { vars_.emplace(id, vars_.size()); }

  Json node_of(const ir::Expr& expr) {
    const std::string type(ir::name_of(expr.type().scalar));
    switch (expr.kind()) {
      case ir::ExprKind::IntImm:
        return Json::array({type, expr.as<ir::IntImm>()->value});
      case ir::ExprKind::FloatImm:
        return float_to_json(type, expr.as<ir::FloatImm>()->value);
      case ir::ExprKind::Var:
        return Json::array({"var", vars_.at(expr.as<ir::Var>()->id)});
      case ir::ExprKind::Cast:
        return Json::array({"cast", type, add(expr.as<ir::Cast>()->value)});
      case ir::ExprKind::Binary: {
        const auto* node = expr.as<ir::Binary>();
        const size_t a = add(node->a);
        return Json::array({ir::name_of(node->op), a, add(node->b)});
      }
      case ir::ExprKind::Fma: {
        const auto* node = expr.as<ir::Fma>();
        const size_t a = add(node->a), b = add(node->b);
        return Json::array({"fma", a, b, add(node->c)});
      }
      case ir::ExprKind::Select: {
        const auto* node = expr.as<ir::Select>();
        const size_t condition = add(node->condition), if_true = add(node->if_true);
        return Json::array({"select", condition, if_true, add(node->if_false)});
      }
      case ir::ExprKind::Call: {
        const auto* node = expr.as<ir::Call>();
        Json json = Json::array({ir::name_of(node->function), type});
        for (const ir::Expr& arg : node->args) json.push_back(add(arg));
        return json;
      }
      case ir::ExprKind::Load: {
        const auto* node = expr.as<ir::Load>();
        Json json = Json::array({"load", node->buffer});
        for (const ir::Expr& index : node->indices) json.push_back(add(index));
        return json;
      }
      default:
        CHECK(false, "a vector expression in a Dag");
    }
  }

  // JSON has no infinities, which are identities of reductions.
  static Json float_to_json(const std::string& type, double value) {
    return Json::array({type, fmt::format("{:a}", value)});
  }

  std::unordered_map<ir::VarId, size_t> vars_;
  std::unordered_map<const ir::Node*, size_t> written_;
  Json nodes_ = Json::array();
};

Json op_to_json(const Dag& dag, const Op& op) {
  Json json = {{"name", op.name.text()}, {"axes", axes_to_json(op.axes)}};
  if (op.kind == OpKind::Placeholder) {
    json["placeholder"] = ir::name_of(dag.tensor(op.outputs[0]).element);
    return json;
  }
  CHECK(op.kind == OpKind::Compute, "{} has no JSON form", op.name.text());
  NodeWriter nodes(op);
  json["body"] = nodes.add_all(op.body);
  Json elements = Json::array(), discarded = Json::array();
  for (const TensorId tensor : op.outputs) {
    elements.push_back(ir::name_of(dag.tensor(tensor).element));
    const bool kept = std::ranges::find(dag.outputs(), tensor) != dag.outputs().end();
    const bool read = std::ranges::any_of(dag.ops(), [&](const Op& reader) {
      const auto& reads = dag.access(static_cast<OpId>(&reader - dag.ops().data())).reads;
      return std::ranges::any_of(reads, [&](const Access& a) { return a.tensor == tensor; });
    });
    if (!kept && !read) discarded.push_back(tensor - op.outputs[0]);
  }
  json["elements"] = std::move(elements);
  if (!discarded.empty()) json["discarded"] = std::move(discarded);
  if (op.flop_override) json["flop"] = *op.flop_override;
  if (op.reduction) {
    json["reduce"] = axes_to_json(op.reduce_axes);
    Json names = Json::array();  // of lhs, then rhs
    for (const auto* side : {&op.reduction->lhs, &op.reduction->rhs}) {
      for (const ir::Expr& var : *side) names.push_back(var.as<ir::Var>()->name.text());
    }
    json["reduction"] = {{"names", std::move(names)},
                         {"identity", nodes.add_all(op.reduction->identity)},
                         {"combine", nodes.add_all(op.reduction->combine)},
                         {"commutative", op.reduction->commutative}};
  }
  json["nodes"] = nodes.take();
  return json;
}

// --- reading ----------------------------------------------------------------------------------
// Malformed input throws; dag_from_json returns an error.

Axis axis_from_json(DagBuilder& builder, const Json& json) {
  AxisHints hints;
  if (json.size() > 2) {
    const auto bits = json.at(2).get<unsigned>();
    CHECK(bits < (1U << kHints), "hints {}", bits);
    hints = {.always_unroll_inner = (bits & 1U) != 0,
             .no_split_at_inner = (bits & 2U) != 0,
             .simplify_const_index = (bits & 4U) != 0};
  }
  const auto high = json.at(1).get<int64_t>();
  const Extent extent = json.size() > 4 ? Extent::named(Name(json.at(4).get<std::string>()),
                                                        json.at(3).get<int64_t>(), high)
                                        : Extent(high);
  return builder.axis(json.at(0).get<std::string>(), extent, hints);
}

ir::Scalar scalar_from(const Json& json) {
  const auto name = json.get<std::string>();
  const auto scalar = ir::scalar_named(name);
  CHECK(scalar.has_value(), "'{}' is not a type", name);
  return *scalar;
}

class NodeReader {
 public:
  NodeReader(const std::vector<ir::Expr>& vars, const std::vector<ir::Scalar>& tensors)
      : vars_(vars), tensors_(tensors) {}

  void read(const Json& nodes) {
    CHECK(nodes.is_array() && nodes.size() <= kMaxNodes, "no list of nodes");
    for (const Json& node : nodes) made_.push_back(expr_of(node));
  }
  ir::Expr at(const Json& number) const { return made_.at(number.get<size_t>()); }
  std::vector<ir::Expr> all(const Json& numbers, size_t from = 0) const {
    std::vector<ir::Expr> exprs;
    for (size_t k = from; k < numbers.size(); ++k) exprs.push_back(at(numbers.at(k)));
    return exprs;
  }

 private:
  ir::Expr expr_of(const Json& node) const {
    const auto what = node.at(0).get<std::string>();
    if (what == "var") return vars_.at(node.at(1).get<size_t>());
    if (what == "cast") return ir::cast(scalar_from(node.at(1)), at(node.at(2)));
    if (what == "fma") return ir::fma(at(node.at(1)), at(node.at(2)), at(node.at(3)));
    if (what == "select") return ir::select(at(node.at(1)), at(node.at(2)), at(node.at(3)));
    if (what == "load") {
      const auto tensor = node.at(1).get<size_t>();
      return ir::load(tensors_.at(tensor), static_cast<TensorId>(tensor), all(node, 2));
    }
    if (const auto scalar = ir::scalar_named(what)) return constant(*scalar, node.at(1));
    for (int k = 0; k <= static_cast<int>(ir::BinaryOp::ShiftRight); ++k) {
      const auto op = static_cast<ir::BinaryOp>(k);
      if (what == ir::name_of(op)) return ir::binary(op, at(node.at(1)), at(node.at(2)));
    }
    for (int k = 0; k <= static_cast<int>(ir::Intrinsic::Bitcast); ++k) {
      const auto function = static_cast<ir::Intrinsic>(k);
      if (what != ir::name_of(function)) continue;
      if (function == ir::Intrinsic::Bitcast) {
        return ir::bitcast(scalar_from(node.at(1)), at(node.at(2)));
      }
      return ir::call(function, all(node, 2));
    }
    CHECK(false, "'{}' is not a node", what);
  }

  static ir::Expr constant(ir::Scalar scalar, const Json& value) {
    if (!ir::is_float(scalar)) return ir::int_imm(value.get<int64_t>(), {scalar, 1});
    return ir::float_imm(std::stod(value.get<std::string>()), {scalar, 1});
  }

  const std::vector<ir::Expr>& vars_;
  const std::vector<ir::Scalar>& tensors_;
  std::vector<ir::Expr> made_;
};

class DagReader {
 public:
  void add(const Json& json) {
    const auto name = json.at("name").get<std::string>();
    if (json.contains("placeholder")) {
      std::vector<Extent> shape;
      for (const Json& axis : json.at("axes")) {
        shape.push_back(axis_from_json(builder_, axis).extent);
      }
      tensors_.push_back(scalar_from(json.at("placeholder")));
      builder_.placeholder(name, std::move(shape), tensors_.back());
      return;
    }
    add_compute(name, json);
  }
  std::shared_ptr<const Dag> finish() && { return std::move(builder_).build(); }

 private:
  void add_compute(const std::string& name, const Json& json) {
    std::vector<Axis> axes, reduce_axes;
    for (const Json& axis : json.at("axes")) axes.push_back(axis_from_json(builder_, axis));
    std::vector<ir::Scalar> elements;
    for (const Json& element : json.at("elements")) elements.push_back(scalar_from(element));
    std::vector<ir::Expr> vars;
    vars.reserve(axes.size());
    for (const Axis& axis : axes) vars.push_back(axis.var);
    std::vector<TensorId> made;
    if (json.contains("reduction")) {
      for (const Json& axis : json.at("reduce")) {
        reduce_axes.push_back(axis_from_json(builder_, axis));
        vars.push_back(reduce_axes.back().var);
      }
      made = add_reduction(name, json, std::move(axes), std::move(reduce_axes), vars, elements);
    } else {
      CHECK(elements.size() == 1, "{}: {} tensors without a reduction", name, elements.size());
      NodeReader nodes(vars, tensors_);
      nodes.read(json.at("nodes"));
      made = {
          builder_.compute(name, std::move(axes), nodes.at(json.at("body").at(0)), elements[0])};
    }
    tensors_.insert(tensors_.end(), elements.begin(), elements.end());
    if (json.contains("flop")) builder_.set_flop(made.at(0), json.at("flop").get<double>());
    for (const Json& k : json.value("discarded", Json::array())) {
      builder_.discard(made.at(k.get<size_t>()));
    }
  }

  std::vector<TensorId> add_reduction(const std::string& name, const Json& json,
                                      std::vector<Axis> axes, std::vector<Axis> reduce_axes,
                                      std::vector<ir::Expr>& vars,
                                      const std::vector<ir::Scalar>& elements) {
    const Json& from = json.at("reduction");
    Reduction reduction;
    reduction.commutative = from.at("commutative").get<bool>();
    // The types of the accumulators are those of the identity, which has constants only.
    const Json& nodes_json = json.at("nodes");
    std::vector<ir::Scalar> accumulators;
    for (const Json& number : from.at("identity")) {
      accumulators.push_back(scalar_from(nodes_json.at(number.get<size_t>()).at(0)));
    }
    const size_t first = vars.size();
    for (auto* side : {&reduction.lhs, &reduction.rhs}) {
      for (size_t k = 0; k < accumulators.size(); ++k) {
        const Json& name = from.at("names").at(vars.size() - first);
        side->push_back(ir::var(name.get<std::string>(), {accumulators[k], 1}));
        vars.push_back(side->back());
      }
    }
    NodeReader nodes(vars, tensors_);
    nodes.read(nodes_json);
    reduction.identity = nodes.all(from.at("identity"));
    reduction.combine = nodes.all(from.at("combine"));
    return builder_.reduce_tuple(name, std::move(axes), std::move(reduce_axes),
                                 std::move(reduction), nodes.all(json.at("body")), elements);
  }

  DagBuilder builder_;
  std::vector<ir::Scalar> tensors_;
};

}  // namespace

Json dag_to_json(const Dag& dag) {
  Json json = Json::array();
  for (const Op& op : dag.ops()) json.push_back(op_to_json(dag, op));
  return json;
}

Result<std::shared_ptr<const Dag>> dag_from_json(const Json& json) {
  // DagBuilder and the factory functions of expressions check everything. Here a failed CHECK means
  // malformed input.
  try {
    CHECK(json.is_array(), "no list of operators");
    DagReader reader;
    for (const Json& op : json) reader.add(op);
    return std::move(reader).finish();
  } catch (const std::exception& problem) {
    return fail(ErrorKind::BadInput, fmt::format("not a Dag: {}", problem.what()));
  }
}

}  // namespace tilewright::te
