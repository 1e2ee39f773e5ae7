// Expressions: dispatch, sharing, lazy Select, reductions, functions.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "codegen/c/emitter.h"
#include "ir/visit.h"

namespace tilewright::codegen {
namespace {

constexpr size_t kLongText = 90;  // beyond it a value gets a name

// The scalar condition of a Select whose lanes all decide alike, or null.
const ir::Expr* uniform_condition(const ir::Expr& condition) {
  if (const auto* b = condition.as<ir::Broadcast>()) return &b->value;
  return condition.type().is_vector() ? nullptr : &condition;
}

std::string integer_text(int64_t value, ir::Scalar type) {
  if (type == ir::Scalar::Bool) return value != 0 ? "true" : "false";
  if (value == INT64_MIN) return "INT64_MIN";
  if (value == INT32_MIN && type == ir::Scalar::I32) return "INT32_MIN";
  return std::to_string(value);
}

std::string float_text(double value, ir::Scalar type) {
  const auto narrow = static_cast<float>(value);
  if (type == ir::Scalar::F16) return fmt::format("{:#x}", ir::f16_from_f32(narrow));
  if (type == ir::Scalar::BF16) return fmt::format("{:#x}", ir::bf16_from_f32(narrow));
  const bool f32 = type == ir::Scalar::F32;
  const char* end = f32 ? "f" : "";
  if (std::isnan(value)) return fmt::format("__builtin_nan{}(\"\")", end);
  const char* sign = value < 0 ? "-" : "";
  if (std::isinf(value)) return fmt::format("{}__builtin_inf{}()", sign, end);
  // The shortest digits that read back as the same value of the type.
  std::string text = f32 ? fmt::format("{}", narrow) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + end;
}

const char* reduction_of(ir::BinaryOp op) {
  switch (op) {
    case ir::BinaryOp::Add:
      return "reduce_add";
    case ir::BinaryOp::Mul:
      return "reduce_mul";
    case ir::BinaryOp::Min:
      return "reduce_min";
    case ir::BinaryOp::Max:
      return "reduce_max";
    case ir::BinaryOp::And:
      return "reduce_and";
    default:
      return "reduce_or";
  }
}

}  // namespace

void CEmitter::count_uses(const ir::Expr& expr) {
  if (++uses_[expr.get()] > 1) return;
  ir::for_each_child(expr, [this](const ir::Expr& child) { count_uses(child); });
}

// Expressions are dags: a node with several uses is written once for a statement.
CValue CEmitter::emit(const ir::Expr& expr) {
  const auto uses = uses_.find(expr.get());
  const bool shared = uses != uses_.end() && uses->second > 1;
  if (shared) {
    const auto known =
        std::ranges::find(frame_->shared, expr.get(), &std::pair<const ir::Node*, CValue>::first);
    if (known != frame_->shared.end()) return known->second;
  }
  CValue value = error_.empty() ? emit_node(expr) : unsupported(error_, expr.type());
  const bool is_long = std::ranges::any_of(
      value.pieces, [](const Piece& piece) { return piece.text.size() > kLongText; });
  if (shared || is_long) value = bound(std::move(value));
  if (shared) frame_->shared.emplace_back(expr.get(), value);
  return value;
}

CValue CEmitter::emit_node(const ir::Expr& expr) {
  const ir::Type type = expr.type();
  switch (expr.kind()) {
    case ir::ExprKind::IntImm: {
      const int64_t value = expr.as<ir::IntImm>()->value;
      return {
          .type = type, .pieces = {{integer_text(value, type.scalar)}}, .range = {value, value}};
    }
    case ir::ExprKind::FloatImm:
      return {.type = type, .pieces = {{float_text(expr.as<ir::FloatImm>()->value, type.scalar)}}};
    case ir::ExprKind::Var: {
      const auto* var = expr.as<ir::Var>();
      const auto found = frame_->vars.find(var->id);
      if (found != frame_->vars.end()) return found->second;
      return unsupported("variable `" + var->name.text() + "` is not bound", type);
    }
    case ir::ExprKind::Cast:
      return cast(emit(expr.as<ir::Cast>()->value), type.scalar);
    case ir::ExprKind::Binary:
      return emit_binary(*expr.as<ir::Binary>());
    case ir::ExprKind::Fma: {
      const auto* fma = expr.as<ir::Fma>();
      const CValue a = emit(fma->a);
      const CValue b = emit(fma->b);
      const CValue c = emit(fma->c);
      return map(type, a, [&](size_t k, CType piece) -> Piece {
        return {call("fma", piece, {a.pieces[k].text, b.pieces[k].text, c.pieces[k].text})};
      });
    }
    case ir::ExprKind::Select:
      return emit_select(*expr.as<ir::Select>());
    case ir::ExprKind::Call:
      return emit_call(*expr.as<ir::Call>());
    case ir::ExprKind::Load:
      return load(*expr.as<ir::Load>());
    case ir::ExprKind::Ramp:
      return emit_ramp(*expr.as<ir::Ramp>());
    case ir::ExprKind::Broadcast:
      return emit_broadcast(emit_uniform(expr.as<ir::Broadcast>()->value), type.lanes);
    case ir::ExprKind::VectorReduce:
      return emit_reduce(*expr.as<ir::VectorReduce>());
    case ir::ExprKind::Dot:
      return emit_dot(*expr.as<ir::Dot>());
  }
  return unsupported("an expression that C does not know", type);
}

CValue CEmitter::emit_broadcast(const CValue& scalar, unsigned lanes) {
  constexpr int kMaskBytes = 4;  // what float conditions have
  CValue result{.type = scalar.type.with_lanes(lanes), .pieces = {}};
  if (ir::is_bool(scalar.type)) result.mask_bytes = kMaskBytes;
  const std::vector<unsigned> pieces = lanes_of(result.type);
  const CValue value = pieces.size() > 1 ? bound(scalar) : scalar;
  result.pieces.resize(pieces.size());
  for (size_t k = 0; k < pieces.size(); ++k) {
    const CType type = piece_type(result, k);
    const Piece& one = value.pieces[0];
    if (!type.is_vector()) {
      result.pieces[k] = one;
    } else {
      const bool is_mask = ir::is_bool(scalar.type);
      result.pieces[k] = {call("splat", type, {is_mask ? "-(int32_t)" + one.text : one.text})};
    }
  }
  return result;
}

// base + {0, stride, 2 * stride, ...}
CValue CEmitter::emit_ramp(const ir::Ramp& ramp) {
  const CValue base = bound(emit_uniform(ramp.base));
  const CValue start = emit_broadcast(base, ramp.type.lanes);
  uint64_t lane = 0;
  return map(ramp.type, start, [&](size_t k, CType type) -> Piece {
    std::vector<std::string> steps;
    for (unsigned n = 0; n < type.lanes; ++n, ++lane) {
      const auto step = static_cast<int64_t>(static_cast<uint64_t>(ramp.stride) * lane);
      steps.push_back(integer_text(ir::wrap_integer(step, ramp.type.scalar), ramp.type.scalar));
    }
    const std::string offsets =
        type.is_vector() ? fmt::format("({}){{{}}}", helpers_.type(type), fmt::join(steps, ", "))
                         : steps[0];
    return {call("add", type, {start.pieces[k].text, offsets})};
  });
}

CValue CEmitter::emit_select(const ir::Select& select) {
  if (const ir::Expr* condition = uniform_condition(select.condition)) {
    return emit_branches(
        emit_uniform(*condition).pieces[0].text, select.type, [&] { return emit(select.if_true); },
        [&] { return emit(select.if_false); });
  }
  const CValue condition = bound(emit(select.condition));
  const auto emit_arm = [&](const ir::Expr& arm, const CValue& taken) {
    if (!may_fault(arm)) return emit(arm);
    return emit_masked(frame_->mask ? both(taken, frame_->mask->value) : taken,
                       [&] { return emit(arm); });
  };
  const CValue if_true = emit_arm(select.if_true, condition);
  CValue if_false = emit_arm(select.if_false, negated(condition));
  if (ir::is_bool(select.type)) if_false = as_mask(if_false, if_true.mask_bytes);
  const int bytes =
      ir::is_bool(select.type) ? if_true.mask_bytes : bytes_of(c_base(select.type.scalar));
  const CValue mask = as_mask(condition, bytes);
  CValue result = map(select.type, if_true, [&](size_t k, CType type) -> Piece {
    const std::string& m = mask.pieces[k].text;
    const std::string& x = if_true.pieces[k].text;
    const std::string& y = if_false.pieces[k].text;
    if (!type.is_vector()) return {fmt::format("({} ? {} : {})", m, x, y)};
    return {call("select", type, {m, x, y})};
  });
  result.mask_bytes = if_true.mask_bytes;
  return result;
}

// What an arm writes, and its value; the text is yet to be put somewhere.
std::pair<std::string, CValue> CEmitter::captured(const std::function<CValue()>& arm) {
  const size_t shared = frame_->shared.size();
  std::string outside = std::exchange(frame_->text, {});
  CValue value = arm();
  forget_shared(shared);
  return {std::exchange(frame_->text, std::move(outside)), std::move(value)};
}

// `condition ? a : b` where neither arm needs statements of its own, else an if.
CValue CEmitter::emit_branches(const std::string& condition, ir::Type type,
                               const std::function<CValue()>& if_true,
                               const std::function<CValue()>& if_false) {
  ++frame_->depth;
  const auto [true_text, true_value] = captured(if_true);
  const auto [false_text, false_value] = captured(if_false);
  --frame_->depth;
  if (true_text.empty() && false_text.empty() && !type.is_vector()) {
    return {.type = type,
            .pieces = {{fmt::format("({} ? {} : {})", condition, true_value.pieces[0].text,
                                    false_value.pieces[0].text)}},
            .range = arith::hull(true_value.range, false_value.range)};
  }
  const CValue result = declared(type, true_value.mask_bytes);
  const auto write_arm = [&](const std::string& text, const CValue& value) {
    frame_->text += text;
    ++frame_->depth;
    assign(result, ir::is_bool(type) ? as_mask(value, result.mask_bytes) : value);
    --frame_->depth;
  };
  line(fmt::format("if ({}) {{", bare(condition)));
  write_arm(true_text, true_value);
  line("} else {");
  write_arm(false_text, false_value);
  line("}");
  return result;
}

CValue CEmitter::emit_masked(const CValue& mask, const std::function<CValue()>& arm) {
  Mask named{.value = mask};
  for (Piece& piece : named.value.pieces) piece = {fresh("t")};
  std::optional<Mask> outer = std::exchange(frame_->mask, named);
  auto [text, value] = captured(arm);
  const bool used = frame_->mask->used;
  frame_->mask = std::move(outer);
  for (size_t k = 0; used && k < mask.pieces.size(); ++k) {
    line(fmt::format("const {} {} = {};", helpers_.type(piece_type(mask, k)),
                     named.value.pieces[k].text, bare(mask.pieces[k].text)));
  }
  if (used && frame_->mask) frame_->mask->used = true;  // `mask` is a part of it
  frame_->text += text;
  return value;
}

const CValue& CEmitter::used_mask() {
  frame_->mask->used = true;
  return frame_->mask->value;
}

// A scalar inside a vector expression: under a mask it is evaluated if any lane is.
CValue CEmitter::emit_uniform(const ir::Expr& scalar) {
  if (!frame_->mask || !may_fault(scalar)) return emit(scalar);
  const std::string condition = any(used_mask());
  std::optional<Mask> outer = std::exchange(frame_->mask, std::nullopt);
  CValue value = emit_branches(
      condition, scalar.type(), [&] { return emit(scalar); },
      [&] { return CValue{.type = scalar.type(), .pieces = {{"0"}}}; });
  frame_->mask = std::move(outer);
  return value;
}

// Halves of a power of two lanes are folded piece by piece, then within the last one.
CValue CEmitter::emit_reduce(const ir::VectorReduce& reduce) {
  const CValue value = bound(emit(reduce.value));
  const unsigned lanes = reduce.value.type().lanes;
  CValue result{.type = reduce.type, .pieces = {}};
  if (std::has_single_bit(lanes)) {
    std::vector<Piece> pieces = value.pieces;
    const CType type = piece_type(value, 0);
    for (; pieces.size() > 1; pieces.resize(pieces.size() / 2)) {
      const size_t half = pieces.size() / 2;
      for (size_t k = 0; k < half; ++k) {
        pieces[k] = combine(reduce.op, type, pieces[k], pieces[k + half]);
      }
    }
    const std::string folded = call(reduction_of(reduce.op), type, {pieces[0].text});
    result.pieces.push_back({ir::is_bool(reduce.type) ? "(" + folded + " != 0)" : folded});
    return result;
  }
  std::vector<Piece> folded;
  folded.reserve(lanes);
  for (unsigned k = 0; k < lanes; ++k) folded.push_back({lane(value, k)});
  while (folded.size() > 1) {
    const size_t half = std::bit_floor(folded.size() - 1);
    for (size_t k = 0; k + half < folded.size(); ++k) {
      folded[k] = combine(reduce.op, {c_base(reduce.type.scalar), 1}, folded[k], folded[k + half]);
      CValue one{.type = reduce.type, .pieces = {folded[k]}};
      folded[k] = bound(std::move(one)).pieces[0];
    }
    folded.resize(half);
  }
  result.pieces = std::move(folded);
  return result;
}

CValue CEmitter::emit_call(const ir::Call& node) {
  const ir::Type type = node.type;
  const CValue x = emit(node.args[0]);
  const auto helper = [&](const char* name) {
    return map(type, x, [&](size_t k, CType piece) -> Piece {
      return {call(name, piece, {x.pieces[k].text})};
    });
  };
  switch (node.function) {
    case ir::Intrinsic::Neg:
      if (!ir::is_float(type)) return helper("neg");
      return map(type, x, [&](size_t k, CType) -> Piece {
        return {fmt::format("(-{})", at_most(x.pieces[k], Level::Atom))};
      });
    case ir::Intrinsic::Abs:
      return type.scalar == ir::Scalar::U8 ? x : helper("abs");
    case ir::Intrinsic::Not:
      return negated(x);
    case ir::Intrinsic::Floor:
      return helper("floor");
    case ir::Intrinsic::Round:
      return helper("round");
    case ir::Intrinsic::Sqrt:
      return helper("sqrt");
    case ir::Intrinsic::Ldexp: {
      const CValue n = emit(node.args[1]);
      return map(type, x, [&](size_t k, CType piece) -> Piece {
        return {call("ldexp", piece, {x.pieces[k].text, n.pieces[k].text})};
      });
    }
    case ir::Intrinsic::Bitcast: {
      if (ir::is_bool(type) || ir::is_bool(x.type)) break;
      const CType to{c_base(type.scalar), 1};
      return map(type, x, [&](size_t k, CType piece) -> Piece {
        return {call("bits", piece, {x.pieces[k].text}, to.with_lanes(piece.lanes))};
      });
    }
    default:
      break;
  }
  return unsupported("`" + std::string(ir::name_of(node.function)) + "` of " + ir::to_string(type) +
                         " was not expanded by the pass expand_functions",
                     type);
}

bool CEmitter::may_fault(const ir::Expr& expr) {
  if (const auto known = faults_.find(expr.get()); known != faults_.end()) return known->second;
  bool may = false;
  if (const auto* load = expr.as<ir::Load>()) {
    may = function_.buffers[load->buffer].scope != ir::Scope::Register;
  }
  if (const auto* binary = expr.as<ir::Binary>()) {
    const bool divides = binary->op == ir::BinaryOp::Div || binary->op == ir::BinaryOp::Mod;
    const int64_t* divisor = ir::as_int(binary->b);
    may = divides && !ir::is_float(binary->type) && (divisor == nullptr || *divisor == 0);
  }
  ir::for_each_child(expr, [&](const ir::Expr& child) { may = may || may_fault(child); });
  faults_[expr.get()] = may;
  return may;
}

}  // namespace tilewright::codegen
