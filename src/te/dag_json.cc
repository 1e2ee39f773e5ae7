#include "te/dag_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "ir/typing.h"
#include "te/check_op.h"
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

constexpr std::string_view kOpForm =
    "an operator has 'name', 'axes', and either 'placeholder' or 'elements', 'nodes' and 'body'; "
    "with a 'reduction' also 'reduce'";
constexpr std::string_view kReductionForm =
    "a reduction has 'identity', 'names', 'combine' and 'commutative'";

std::unexpected<Error> malformed(std::string message) {
  return fail(ErrorKind::BadInput, std::move(message));
}

// The error with the position that it is at in front.
std::unexpected<Error> at(const std::string& position, Error error) {
  error.message = fmt::format("{}: {}", position, error.message);
  return std::unexpected(std::move(error));
}

// The beginning of its text.
std::string shown(const Json& json) {
  constexpr size_t kMaxShown = 60;
  std::string text = print_json(json);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown - 3) + "...";
  return text;
}

// `form` says which members are legal.
Result<const Json*> required(const Json& json, std::string_view key, std::string_view form) {
  const Json* found = find_member(json, key);
  if (found == nullptr) return malformed(fmt::format("no member '{}': {}", key, form));
  return found;
}

Result<const Json*> list_in(const Json& json, std::string_view key, std::string_view form) {
  const Json* found = TRY(required(json, key, form));
  if (!found->is_array()) {
    return malformed(fmt::format("'{}' is {}, not a list", key, shown(*found)));
  }
  return found;
}

Result<std::string> text_of(const Json& json, std::string_view what) {
  if (!json.is_string()) return malformed(fmt::format("{} is {}, not a text", what, shown(json)));
  return json.get<std::string>();
}

Result<int64_t> integer_of(const Json& json, int64_t low, int64_t high, std::string_view what) {
  const bool too_large = json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX;
  const bool legal = json.is_number_integer() && !too_large && json.get<int64_t>() >= low &&
                     json.get<int64_t>() <= high;
  if (legal) return json.get<int64_t>();
  return malformed(fmt::format("{} is {}, not an integer {}", what, shown(json),
                               high == INT64_MAX ? fmt::format("of at least {}", low)
                                                 : fmt::format("in [{}, {}]", low, high)));
}

// A number of one of `count` things.
Result<size_t> number_of(const Json& json, size_t count, std::string_view what) {
  if (count == 0) return malformed(fmt::format("{} {}: there is none yet", what, shown(json)));
  return static_cast<size_t>(TRY(integer_of(json, 0, static_cast<int64_t>(count) - 1, what)));
}

Result<ir::Scalar> scalar_of(const Json& json) {
  const std::string name = TRY(text_of(json, "a type"));
  if (const auto scalar = ir::scalar_named(name)) return *scalar;
  std::vector<std::string_view> names;
  for (int k = 0; k <= static_cast<int>(ir::Scalar::U32); ++k) {
    names.push_back(ir::name_of(static_cast<ir::Scalar>(k)));
  }
  return malformed(fmt::format("'{}' is not a type; types are {}", name, fmt::join(names, ", ")));
}

// [name, extent], [name, extent, hints] or [name, largest extent, hints, smallest extent, symbol]
Result<Axis> axis_of(DagBuilder& builder, const Json& json) {
  if (!json.is_array() || (json.size() != 2 && json.size() != 3 && json.size() != 5)) {
    return malformed(
        fmt::format("axis {} is not of the form [name, extent], [name, extent, hints] "
                    "or [name, extent, hints, smallest extent, symbol]",
                    shown(json)));
  }
  const std::string name = TRY(text_of(json[0], "the name of an axis"));
  if (!is_plain_name(name)) {
    return malformed(
        fmt::format("'{}' is not a name for an axis: letters, digits and '_' are", name));
  }
  AxisHints hints;
  if (json.size() > 2) {
    const int64_t bits = TRY(integer_of(json[2], 0, (1 << kHints) - 1, "hints of an axis"));
    hints = {.always_unroll_inner = (bits & 1) != 0,
             .no_split_at_inner = (bits & 2) != 0,
             .simplify_const_index = (bits & 4) != 0};
  }
  const int64_t high =
      TRY(integer_of(json[1], 1, INT64_MAX, fmt::format("the extent of axis {}", name)));
  if (json.size() < 5) return builder.axis(name, high, hints);
  const int64_t low =
      TRY(integer_of(json[3], 1, high, fmt::format("the smallest extent of axis {}", name)));
  const std::string symbol = TRY(text_of(json[4], fmt::format("the symbol of axis {}", name)));
  if (symbol.empty()) return malformed(fmt::format("the symbol of axis {} is empty", name));
  return builder.axis(name, Extent::named(Name(symbol), low, high), hints);
}

Result<std::vector<Axis>> axes_of(DagBuilder& builder, const Json& op, std::string_view key) {
  const Json* list = TRY(list_in(op, key, kOpForm));
  std::vector<Axis> axes;
  for (const Json& axis : *list) axes.push_back(TRY(axis_of(builder, axis)));
  return axes;
}

// Fails if a node with these members, whose operands are well typed, is not.
template <class Node, class... Members>
Status check_types(const Members&... members) {
  const Node node(members...);
  if (const char* fault = ir::type_fault(node)) return malformed(fault);
  return {};
}

class NodeReader {
 public:
  NodeReader(const std::vector<ir::Expr>& vars, const std::vector<ir::Scalar>& tensors)
      : vars_(vars), tensors_(tensors) {}

  Status read(const Json& nodes) {
    if (nodes.size() > kMaxNodes) {
      return malformed(fmt::format("{} nodes; {} are supported", nodes.size(), kMaxNodes));
    }
    for (const Json& node : nodes) {
      auto expr = expr_of(node);
      if (!expr) {
        return at(fmt::format("nodes[{}] = {}", made_.size(), shown(node)),
                  std::move(expr).error());
      }
      made_.push_back(*std::move(expr));
    }
    return {};
  }
  Result<ir::Expr> expr(const Json& number) const {
    return made_[TRY(number_of(number, made_.size(), "the number of a node"))];
  }
  // The items from `from` on are numbers of nodes.
  Result<std::vector<ir::Expr>> exprs(const Json& numbers, size_t from = 0) const {
    std::vector<ir::Expr> exprs;
    for (size_t k = from; k < numbers.size(); ++k) exprs.push_back(TRY(expr(numbers[k])));
    return exprs;
  }

 private:
  Result<ir::Expr> expr_of(const Json& node) const {
    if (!node.is_array() || node.empty())
      return malformed("a node is a list that begins with a name");
    const std::string what = TRY(text_of(node[0], "the name of a node"));
    if (what == "var") {
      TRY(check_size(node, 2));
      return vars_[TRY(number_of(node[1], vars_.size(), "the number of a variable"))];
    }
    if (what == "cast") {
      TRY(check_size(node, 3));
      const ir::Scalar to = TRY(scalar_of(node[1]));
      const ir::Expr value = TRY(expr(node[2]));
      return ir::cast(to, value);
    }
    if (what == "fma") {
      TRY(check_size(node, 4));
      const auto args = TRY(exprs(node, 1));
      TRY(check_types<ir::Fma>(args[0], args[1], args[2]));
      return ir::fma(args[0], args[1], args[2]);
    }
    if (what == "select") {
      TRY(check_size(node, 4));
      const auto args = TRY(exprs(node, 1));
      TRY(check_types<ir::Select>(args[0], args[1], args[2]));
      return ir::select(args[0], args[1], args[2]);
    }
    if (what == "load") return load(node);
    if (const auto scalar = ir::scalar_named(what)) return constant(*scalar, node);
    for (int k = 0; k <= static_cast<int>(ir::BinaryOp::ShiftRight); ++k) {
      const auto op = static_cast<ir::BinaryOp>(k);
      if (what == ir::name_of(op)) return binary(op, node);
    }
    for (int k = 0; k <= static_cast<int>(ir::Intrinsic::Bitcast); ++k) {
      const auto function = static_cast<ir::Intrinsic>(k);
      if (what == ir::name_of(function)) return call(function, node);
    }
    return malformed(
        fmt::format("'{}' is not the name of a node: var, cast, fma, select, load, types of "
                    "constants (f32), operators (+, min) and functions (exp) are",
                    what));
  }

  static Status check_size(const Json& node, size_t size) {
    if (node.size() == size) return {};
    return malformed(fmt::format("{} items, not {}", node.size(), size));
  }

  Result<ir::Expr> load(const Json& node) const {
    if (node.size() < 2) return malformed("a load without the number of a tensor");
    const size_t tensor = TRY(number_of(node[1], tensors_.size(), "the number of a tensor"));
    const auto indices = TRY(exprs(node, 2));
    const auto id = static_cast<TensorId>(tensor);
    TRY(check_types<ir::Load>(ir::Type(tensors_[tensor], 1), id, indices));
    return ir::load(tensors_[tensor], id, indices);
  }

  Result<ir::Expr> binary(ir::BinaryOp op, const Json& node) const {
    TRY(check_size(node, 3));
    const auto args = TRY(exprs(node, 1));
    TRY(check_types<ir::Binary>(ir::result_type(op, args[0].type()), op, args[0], args[1]));
    return ir::binary(op, args[0], args[1]);
  }

  // [function, type, arguments]: the type is that of the first argument, except for a bitcast.
  Result<ir::Expr> call(ir::Intrinsic function, const Json& node) const {
    if (node.size() < 3) return malformed("a function without a type and arguments");
    const ir::Scalar scalar = TRY(scalar_of(node[1]));
    const auto args = TRY(exprs(node, 2));
    const bool is_bitcast = function == ir::Intrinsic::Bitcast;
    const ir::Type type = is_bitcast ? ir::Type(scalar, 1) : args[0].type();
    TRY(check_types<ir::Call>(type, function, args));
    return is_bitcast ? ir::bitcast(scalar, args[0]) : ir::call(function, args);
  }

  // An integer, or a float as a text, which also has infinities.
  static Result<ir::Expr> constant(ir::Scalar scalar, const Json& node) {
    TRY(check_size(node, 2));
    if (!ir::is_float(scalar)) {
      const int64_t value = TRY(integer_of(node[1], INT64_MIN, INT64_MAX, "a constant"));
      if (ir::wrap_integer(value, scalar) != value) {
        return malformed(fmt::format("{} is out of the range of {}", value, ir::name_of(scalar)));
      }
      return ir::int_imm(value, {scalar, 1});
    }
    const std::string text = TRY(text_of(node[1], "a float constant"));
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size()) {
      return malformed(fmt::format("'{}' is not a number such as 0x1.8p+1, 3.0 or inf", text));
    }
    return ir::float_imm(value, {scalar, 1});
  }

  const std::vector<ir::Expr>& vars_;
  const std::vector<ir::Scalar>& tensors_;
  std::vector<ir::Expr> made_;
};

class DagReader {
 public:
  Status add(const Json& json) {
    const Json* name = TRY(required(json, "name", kOpForm));
    Op op;
    op.name = Name(TRY(text_of(*name, "the name of an operator")));
    if (const Json* element = find_member(json, "placeholder")) {
      return add_placeholder(std::move(op), json, TRY(scalar_of(*element)));
    }
    return add_compute(std::move(op), json);
  }
  Result<std::shared_ptr<const Dag>> finish() && { return std::move(builder_).finish(); }

 private:
  Status add_placeholder(Op op, const Json& json, ir::Scalar element) {
    op.kind = OpKind::Placeholder;
    for (const Axis& axis : TRY(axes_of(builder_, json, "axes"))) {
      op.axes.push_back(builder_.axis(fmt::format("d{}", op.axes.size()), axis.extent));
    }
    TRY(builder_.add(std::move(op), {element}));
    tensors_.push_back(element);
    return {};
  }

  Status add_compute(Op op, const Json& json) {
    op.axes = TRY(axes_of(builder_, json, "axes"));
    const Json* element_list = TRY(list_in(json, "elements", kOpForm));
    std::vector<ir::Scalar> elements;
    for (const Json& element : *element_list) elements.push_back(TRY(scalar_of(element)));
    const Json* nodes_json = TRY(list_in(json, "nodes", kOpForm));
    const Json* body = TRY(list_in(json, "body", kOpForm));
    std::vector<ir::Expr> vars;
    vars.reserve(op.axes.size());
    for (const Axis& axis : op.axes) vars.push_back(axis.var);
    const Json* reduction = find_member(json, "reduction");
    if (reduction != nullptr) {
      op.reduce_axes = TRY(axes_of(builder_, json, "reduce"));
      for (const Axis& axis : op.reduce_axes) vars.push_back(axis.var);
      op.reduction = TRY(reduction_of(*reduction, *nodes_json, vars));
    } else if (elements.size() != 1) {
      return malformed(fmt::format("{} tensors without a reduction, not 1", elements.size()));
    }
    NodeReader nodes(vars, tensors_);
    TRY(nodes.read(*nodes_json));
    op.body = TRY(nodes.exprs(*body));
    if (op.reduction) {
      const Json* combine = TRY(list_in(*reduction, "combine", kReductionForm));
      op.reduction->identity = TRY(nodes.exprs(*find_member(*reduction, "identity")));
      op.reduction->combine = TRY(nodes.exprs(*combine));
    } else {
      for (ir::Expr& value : op.body) value = ir::cast(elements[0], value);
    }
    if (json.contains("flop")) {
      op.flop_override = TRY(member<double>(json, "flop"));
      if (*op.flop_override < 0) return malformed("'flop' is negative");
    }
    const auto made = TRY(builder_.add(std::move(op), elements));
    tensors_.insert(tensors_.end(), elements.begin(), elements.end());
    return discard(made, json);
  }

  // A reduction with the variables of both sides, which are appended to `vars`. They have the types
  // of the identity, whose nodes are constants.
  static Result<Reduction> reduction_of(const Json& from, const Json& nodes,
                                        std::vector<ir::Expr>& vars) {
    Reduction reduction;
    const Json* commutative = TRY(required(from, "commutative", kReductionForm));
    if (!commutative->is_boolean()) return malformed("'commutative' is neither true nor false");
    reduction.commutative = commutative->get<bool>();
    const Json* identity = TRY(list_in(from, "identity", kReductionForm));
    const Json* names = TRY(list_in(from, "names", kReductionForm));
    if (names->size() != 2 * identity->size()) {
      return malformed(fmt::format("a reduction of {} values has {} names of variables, not {}",
                                   identity->size(), names->size(), 2 * identity->size()));
    }
    for (size_t k = 0; k < names->size(); ++k) {
      const Json& number = (*identity)[k % identity->size()];
      const Json& node = nodes[TRY(number_of(number, nodes.size(), "the number of a node"))];
      const bool is_constant = node.is_array() && node.size() == 2 && node[0].is_string() &&
                               ir::scalar_named(node[0].get<std::string>()).has_value();
      if (!is_constant) {
        return malformed(
            fmt::format("the identity of a reduction is {}, not a constant such as "
                        "[\"f32\",\"0\"]",
                        shown(node)));
      }
      const std::string name = TRY(text_of((*names)[k], "the name of a variable"));
      const ir::Scalar type = TRY(scalar_of(node[0]));
      vars.push_back(ir::var(name, {type, 1}));
      (k < identity->size() ? reduction.lhs : reduction.rhs).push_back(vars.back());
    }
    return reduction;
  }

  Status discard(const std::vector<TensorId>& made, const Json& json) {
    if (!json.contains("discarded")) return {};
    const Json* numbers = TRY(list_in(json, "discarded", kOpForm));
    for (const Json& number : *numbers) {
      if (made.size() < 2) return malformed("the only tensor of an operator cannot be discarded");
      builder_.discard(made[TRY(number_of(number, made.size(), "a discarded tensor"))]);
    }
    return {};
  }

  DagBuilder builder_;
  std::vector<ir::Scalar> tensors_;
};

Result<std::shared_ptr<const Dag>> read_dag(const Json& json) {
  if (!json.is_array()) return malformed(fmt::format("{} is not a list of operators", shown(json)));
  DagReader reader;
  for (size_t k = 0; k < json.size(); ++k) {
    Status added = reader.add(json[k]);
    if (!added) return at(fmt::format("ops[{}]", k), std::move(added).error());
  }
  return std::move(reader).finish();
}

}  // namespace

Json dag_to_json(const Dag& dag) {
  Json json = Json::array();
  for (const Op& op : dag.ops()) json.push_back(op_to_json(dag, op));
  return json;
}

Result<std::shared_ptr<const Dag>> dag_from_json(const Json& json) {
  auto dag = read_dag(json);
  if (!dag) return at("not a Dag", std::move(dag).error());
  return dag;
}

}  // namespace tilewright::te
