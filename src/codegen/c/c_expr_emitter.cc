#include "codegen/c/c_expr_emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "codegen/c/dot_helpers.h"
#include "ir/fold.h"
#include "ir/typing.h"
#include "ir/visit.h"

namespace tilewright::codegen {
namespace {

using ir::BinaryOp;

constexpr size_t kLongText = 90;  // longer text is bound to a name

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
  // The shortest digits that read back as the same value.
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

Piece plus(const Piece& base, int64_t offset) {
  if (offset == 0) return base;
  if (base.text == "0") return {std::to_string(offset)};
  return {fmt::format("{} {} {}", base.text, offset < 0 ? "-" : "+", std::abs(offset)),
          Precedence::Sum};
}

std::string address(const std::string& buffer, const Piece& index) {
  if (index.text == "0") return buffer;
  return fmt::format("{} + {}", buffer, at_most(index, Precedence::Product));
}

void CExprEmitter::begin_statement() {
  shared_.clear();
  uses_.clear();
}

// Expressions are dags: a node with several uses is emitted once per statement.
CValue CExprEmitter::emit(const ir::Expr& expr) {
  const auto uses = uses_.find(expr.get());
  const bool shared = uses != uses_.end() && uses->second > 1;
  if (shared) {
    const auto known =
        std::ranges::find(shared_, expr.get(), &std::pair<const ir::Node*, CValue>::first);
    if (known != shared_.end()) return known->second;
  }
  CValue value =
      emission_.error.empty() ? emit_node(expr) : unsupported(emission_.error, expr.type());
  const bool is_long = std::ranges::any_of(
      value.pieces, [](const Piece& piece) { return piece.text.size() > kLongText; });
  if (shared || is_long) value = values_.bound(std::move(value));
  if (shared) shared_.emplace_back(expr.get(), value);
  return value;
}

void CExprEmitter::count_uses(const ir::Expr& expr) {
  if (++uses_[expr.get()] > 1) return;
  ir::for_each_child(expr, [this](const ir::Expr& child) { count_uses(child); });
}

CValue CExprEmitter::emit_node(const ir::Expr& expr) {
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
      const auto found = frame_.vars.find(var->id);
      if (found != frame_.vars.end()) return found->second;
      return unsupported("variable `" + var->name.text() + "` is not bound", type);
    }
    case ir::ExprKind::Cast:
      return casts_.cast(emit(expr.as<ir::Cast>()->value), type.scalar);
    case ir::ExprKind::Binary:
      return emit_binary(*expr.as<ir::Binary>());
    case ir::ExprKind::Fma: {
      const auto* fma = expr.as<ir::Fma>();
      const CValue a = emit(fma->a);
      const CValue b = emit(fma->b);
      const CValue c = emit(fma->c);
      return values_.map(type, a, [&](size_t k, CType piece) -> Piece {
        return {values_.call("fma", piece, {a.pieces[k].text, b.pieces[k].text, c.pieces[k].text})};
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
      return values_.broadcast(emit_uniform(expr.as<ir::Broadcast>()->value), type.lanes);
    case ir::ExprKind::VectorReduce:
      return emit_reduce(*expr.as<ir::VectorReduce>());
    case ir::ExprKind::Dot:
      return emit_dot(*expr.as<ir::Dot>());
  }
  return unsupported("an expression without a counterpart in C", type);
}

CValue CExprEmitter::emit_binary(const ir::Binary& binary) {
  const ir::Type type = binary.a.type();
  const bool divides = binary.op == BinaryOp::Div || binary.op == BinaryOp::Mod;
  if (divides && !ir::is_float(type)) return emit_divide(binary);
  if (binary.op == BinaryOp::Mod) return unsupported("% on floats", binary.type);
  CValue a = emit(binary.a);
  CValue b = emit(binary.b);
  if (ir::is_comparison(binary.op))
    return arithmetic_.compare(binary.op, std::move(a), std::move(b));
  const bool is_index =
      type == ir::kIndex &&
      (binary.op == BinaryOp::Add || binary.op == BinaryOp::Sub || binary.op == BinaryOp::Mul);
  if (is_index) return arithmetic_.index_arithmetic(binary.op, a, b);
  if (ir::is_bool(type)) b = values_.as_mask(b, a.mask_bytes);
  CValue result = values_.map(binary.type, a, [&](size_t k, CType piece) {
    return arithmetic_.combine(binary.op, piece, a.pieces[k], b.pieces[k]);
  });
  result.mask_bytes = a.mask_bytes;
  return result;
}

CValue CExprEmitter::emit_divide(const ir::Binary& binary) {
  const int64_t* constant = ir::as_int(binary.b);
  const CValue a = emit(binary.a);
  if (std::optional<CValue> easy = arithmetic_.divide_by_constant(binary.op, a, constant)) {
    return *std::move(easy);
  }
  CValue b = emit(binary.b);
  const bool may_be_zero = constant == nullptr || *constant == 0;
  if (may_be_zero && mask_) b = arithmetic_.or_one(b, used_mask());
  return arithmetic_.divide(binary.op, a, b);
}

// base + {0, stride, 2 * stride, ...}
CValue CExprEmitter::emit_ramp(const ir::Ramp& ramp) {
  const CValue base = values_.bound(emit_uniform(ramp.base));
  const CValue start = values_.broadcast(base, ramp.type.lanes);
  int64_t lane = 0;
  return values_.map(ramp.type, start, [&](size_t k, CType type) -> Piece {
    std::vector<std::string> steps;
    for (unsigned n = 0; n < type.lanes; ++n, ++lane) {
      const int64_t step = ir::wrapping_product(ramp.stride, lane);
      steps.push_back(integer_text(ir::wrap_integer(step, ramp.type.scalar), ramp.type.scalar));
    }
    const std::string offsets =
        type.is_vector()
            ? fmt::format("({}){{{}}}", emission_.helpers.type(type), fmt::join(steps, ", "))
            : steps[0];
    return {values_.call("add", type, {start.pieces[k].text, offsets})};
  });
}

CValue CExprEmitter::emit_select(const ir::Select& select) {
  if (const ir::Expr* condition = ir::uniform_value(select.condition)) {
    return emit_branches(
        emit_uniform(*condition).pieces[0].text, select.type, [&] { return emit(select.if_true); },
        [&] { return emit(select.if_false); });
  }
  const CValue condition = values_.bound(emit(select.condition));
  const auto emit_arm = [&](const ir::Expr& arm, const CValue& taken) {
    if (!faults_.may_fault(arm)) return emit(arm);
    return emit_masked(mask_ ? values_.both(taken, mask_->value) : taken,
                       [&] { return emit(arm); });
  };
  const CValue if_true = emit_arm(select.if_true, condition);
  CValue if_false = emit_arm(select.if_false, values_.negated(condition));
  if (ir::is_bool(select.type)) if_false = values_.as_mask(if_false, if_true.mask_bytes);
  const int bytes =
      ir::is_bool(select.type) ? if_true.mask_bytes : bytes_of(c_base(select.type.scalar));
  const CValue mask = values_.as_mask(condition, bytes);
  CValue result = values_.map(select.type, if_true, [&](size_t k, CType type) -> Piece {
    const std::string& m = mask.pieces[k].text;
    const std::string& x = if_true.pieces[k].text;
    const std::string& y = if_false.pieces[k].text;
    if (!type.is_vector()) return {fmt::format("({} ? {} : {})", m, x, y)};
    return {values_.call("select", type, {m, x, y})};
  });
  result.mask_bytes = if_true.mask_bytes;
  return result;
}

// The statements of an arm and its value, to be placed later.
std::pair<std::string, CValue> CExprEmitter::captured(const std::function<CValue()>& arm) {
  const size_t shared = shared_.size();
  CValue value;
  std::string text = frame_.text.apart([&] { value = arm(); });
  shared_.resize(shared);
  return {std::move(text), std::move(value)};
}

// `condition ? a : b` if neither arm needs statements, otherwise an if.
CValue CExprEmitter::emit_branches(const std::string& condition, ir::Type type,
                                   const std::function<CValue()>& if_true,
                                   const std::function<CValue()>& if_false) {
  frame_.text.indent();
  const auto [true_text, true_value] = captured(if_true);
  const auto [false_text, false_value] = captured(if_false);
  frame_.text.outdent();
  if (true_text.empty() && false_text.empty() && !type.is_vector()) {
    return {.type = type,
            .pieces = {{fmt::format("({} ? {} : {})", condition, true_value.pieces[0].text,
                                    false_value.pieces[0].text)}},
            .range = arith::hull(true_value.range, false_value.range)};
  }
  const CValue result = values_.declared(type, true_value.mask_bytes);
  const auto write_arm = [&](const std::string& text, const CValue& value) {
    frame_.text.append(text);
    frame_.text.indent();
    values_.assign(result, ir::is_bool(type) ? values_.as_mask(value, result.mask_bytes) : value);
    frame_.text.outdent();
  };
  frame_.text.line(fmt::format("if ({}) {{", bare(condition)));
  write_arm(true_text, true_value);
  frame_.text.line("} else {");
  write_arm(false_text, false_value);
  frame_.text.line("}");
  return result;
}

CValue CExprEmitter::emit_masked(const CValue& mask, const std::function<CValue()>& arm) {
  Mask named{.value = mask};
  for (Piece& piece : named.value.pieces) piece = {frame_.text.fresh("t")};
  std::optional<Mask> outer = std::exchange(mask_, named);
  auto [text, value] = captured(arm);
  const bool used = mask_->used;
  mask_ = std::move(outer);
  for (size_t k = 0; used && k < mask.pieces.size(); ++k) {
    frame_.text.line(fmt::format("const {} {} = {};",
                                 emission_.helpers.type(values_.piece_type(mask, k)),
                                 named.value.pieces[k].text, bare(mask.pieces[k].text)));
  }
  if (used && mask_) mask_->used = true;  // `mask` is a part of it
  frame_.text.append(text);
  return value;
}

const CValue& CExprEmitter::used_mask() {
  mask_->used = true;
  return mask_->value;
}

// A scalar inside a vector expression: under a mask, it is evaluated if any lane is active.
CValue CExprEmitter::emit_uniform(const ir::Expr& scalar) {
  if (!mask_ || !faults_.may_fault(scalar)) return emit(scalar);
  const std::string condition = values_.any(used_mask());
  std::optional<Mask> outer = std::exchange(mask_, std::nullopt);
  CValue value = emit_branches(
      condition, scalar.type(), [&] { return emit(scalar); },
      [&] { return CValue{.type = scalar.type(), .pieces = {{"0"}}}; });
  mask_ = std::move(outer);
  return value;
}

// Halves of a power of two of lanes are folded piece by piece, then within the last piece.
CValue CExprEmitter::emit_reduce(const ir::VectorReduce& reduce) {
  const CValue value = values_.bound(emit(reduce.value));
  const unsigned lanes = reduce.value.type().lanes;
  CValue result{.type = reduce.type, .pieces = {}};
  if (std::has_single_bit(lanes)) {
    std::vector<Piece> pieces = value.pieces;
    const CType type = values_.piece_type(value, 0);
    for (; pieces.size() > 1; pieces.resize(pieces.size() / 2)) {
      const size_t half = pieces.size() / 2;
      for (size_t k = 0; k < half; ++k) {
        pieces[k] = arithmetic_.combine(reduce.op, type, pieces[k], pieces[k + half]);
      }
    }
    const std::string folded = values_.call(reduction_of(reduce.op), type, {pieces[0].text});
    result.pieces.push_back({ir::is_bool(reduce.type) ? "(" + folded + " != 0)" : folded});
    return result;
  }
  std::vector<Piece> folded;
  folded.reserve(lanes);
  for (unsigned k = 0; k < lanes; ++k) folded.push_back({values_.lane(value, k)});
  while (folded.size() > 1) {
    const size_t half = std::bit_floor(folded.size() - 1);
    for (size_t k = 0; k + half < folded.size(); ++k) {
      folded[k] = arithmetic_.combine(reduce.op, {c_base(reduce.type.scalar), 1}, folded[k],
                                      folded[k + half]);
      CValue one{.type = reduce.type, .pieces = {folded[k]}};
      folded[k] = values_.bound(std::move(one)).pieces[0];
    }
    folded.resize(half);
  }
  result.pieces = std::move(folded);
  return result;
}

CValue CExprEmitter::emit_call(const ir::Call& node) {
  const ir::Type type = node.type;
  const CValue x = emit(node.args[0]);
  const auto helper = [&](const char* name) {
    return values_.map(type, x, [&](size_t k, CType piece) -> Piece {
      return {values_.call(name, piece, {x.pieces[k].text})};
    });
  };
  switch (node.function) {
    case ir::Intrinsic::Neg:
      if (!ir::is_float(type)) return helper("neg");
      return values_.map(type, x, [&](size_t k, CType) -> Piece {
        return {fmt::format("(-{})", at_most(x.pieces[k], Precedence::Atom))};
      });
    case ir::Intrinsic::Abs:
      return ir::is_integer(type) && !ir::is_signed(type.scalar) ? x : helper("abs");
    case ir::Intrinsic::Not:
      return values_.negated(x);
    case ir::Intrinsic::Floor:
      return helper("floor");
    case ir::Intrinsic::Round:
      return helper("round");
    case ir::Intrinsic::Sqrt:
      return helper("sqrt");
    case ir::Intrinsic::Ldexp: {
      const CValue n = emit(node.args[1]);
      return values_.map(type, x, [&](size_t k, CType piece) -> Piece {
        return {values_.call("ldexp", piece, {x.pieces[k].text, n.pieces[k].text})};
      });
    }
    case ir::Intrinsic::Bitcast: {
      if (ir::is_bool(type) || ir::is_bool(x.type)) break;
      const CType to{c_base(type.scalar), 1};
      return values_.map(type, x, [&](size_t k, CType piece) -> Piece {
        return {values_.call("bits", piece, {x.pieces[k].text}, to.with_lanes(piece.lanes))};
      });
    }
    default:
      break;
  }
  return unsupported("`" + std::string(ir::name_of(node.function)) + "` of " + ir::to_string(type) +
                         " was not expanded by the pass expand_functions",
                     type);
}

CValue CExprEmitter::unsupported(const std::string& what, ir::Type type) {
  if (emission_.error.empty()) emission_.error = what;
  return values_.zeros(type);
}

std::string CExprEmitter::pointer(ir::BufferId buffer) {
  const std::string& name = frame_.buffers[buffer];
  if (!name.empty()) return name;
  unsupported(
      "`" + emission_.function.buffers[buffer].name + "` is accessed outside of its Allocate",
      ir::kIndex);
  return "0";
}

// The scalar parts of an index with evenly spaced lanes.
std::optional<LaneIndex> CExprEmitter::lane_index(const ir::Expr& index) {
  if (!index.type().is_vector()) return LaneIndex{index};
  if (const auto* broadcast = index.as<ir::Broadcast>()) return LaneIndex{broadcast->value};
  if (const auto* ramp = index.as<ir::Ramp>()) return LaneIndex{ramp->base, ramp->stride};
  const auto* binary = index.as<ir::Binary>();
  if (binary == nullptr) return std::nullopt;
  const bool is_sum = binary->op == ir::BinaryOp::Add || binary->op == ir::BinaryOp::Sub;
  if (!is_sum && binary->op != ir::BinaryOp::Mul) return std::nullopt;
  const std::optional<LaneIndex> a = lane_index(binary->a);
  const std::optional<LaneIndex> b = lane_index(binary->b);
  if (!a || !b) return std::nullopt;
  const ir::Expr base = ir::binary(binary->op, a->base, b->base);
  if (binary->op == ir::BinaryOp::Add) return LaneIndex{base, a->stride + b->stride};
  if (binary->op == ir::BinaryOp::Sub) return LaneIndex{base, a->stride - b->stride};
  if (const int64_t* factor = ir::as_int(binary->b)) {
    return LaneIndex{base, ir::wrapping_product(a->stride, *factor)};
  }
  if (const int64_t* factor = ir::as_int(binary->a)) {
    return LaneIndex{base, ir::wrapping_product(b->stride, *factor)};
  }
  return std::nullopt;
}

std::optional<LaneIndex> CExprEmitter::lane_index(ir::BufferId buffer,
                                                  const std::vector<ir::Expr>& indices) {
  const std::vector<int64_t>& shape = emission_.function.buffers[buffer].shape;
  LaneIndex flat{ir::int_imm(0)};
  for (size_t d = 0; d < indices.size(); ++d) {
    const std::optional<LaneIndex> index = lane_index(indices[d]);
    if (!index) return std::nullopt;
    flat.base = d == 0 ? index->base : flat.base * shape[d] + index->base;
    flat.stride =
        d == 0 ? index->stride
               : ir::wrapping_sum(ir::wrapping_product(flat.stride, shape[d]), index->stride);
  }
  kept_.push_back(flat.base);
  return flat;
}

// The flat index of each lane, for lanes that are not evenly spaced.
CValue CExprEmitter::lane_offsets(ir::BufferId buffer, const std::vector<ir::Expr>& indices) {
  const std::vector<int64_t>& shape = emission_.function.buffers[buffer].shape;
  ir::Expr flat = indices[0];
  for (size_t d = 1; d < indices.size(); ++d) flat = flat * shape[d] + indices[d];
  kept_.push_back(flat);
  return values_.bound(emit(flat));
}

// The indices of inactive lanes may not be evaluated.
CExprEmitter::Lanes CExprEmitter::lanes_under(const std::optional<CValue>& mask,
                                              ir::BufferId buffer,
                                              const std::vector<ir::Expr>& indices) {
  std::optional<Mask> outer = std::exchange(mask_, std::nullopt);
  if (mask) mask_ = Mask{.value = *mask};
  Lanes lanes{.index = lane_index(buffer, indices)};
  lanes.base = lanes.index ? emit_uniform(lanes.index->base) : lane_offsets(buffer, indices);
  mask_ = std::move(outer);
  return lanes;
}

CValue CExprEmitter::load(const ir::Load& load) {
  if (emission_.function.buffers[load.buffer].scope == ir::Scope::Register) {
    const auto found = frame_.registers.find(load.buffer);
    if (found != frame_.registers.end()) return found->second;
  }
  const std::string buffer = pointer(load.buffer);
  if (load.type.is_vector()) return load_lanes(load, buffer);
  const std::optional<LaneIndex> index = lane_index(load.buffer, load.indices);
  const std::string text = fmt::format("{}[{}]", buffer, emit(index->base).pieces[0].text);
  return {.type = load.type, .pieces = {{ir::is_bool(load.type) ? "(" + text + " != 0)" : text}}};
}

CValue CExprEmitter::load_lanes(const ir::Load& load, const std::string& buffer) {
  const CBase element = c_memory(load.type.scalar);
  const std::optional<LaneIndex> index = lane_index(load.buffer, load.indices);
  const CValue base = index ? emit_uniform(index->base) : lane_offsets(load.buffer, load.indices);
  const std::vector<unsigned> lanes = values_.lanes_of(load.type);
  const bool contiguous = index && index->stride == 1;
  Piece start;
  if (index)
    start = contiguous && lanes.size() == 1 ? base.pieces[0] : values_.bound(base).pieces[0];
  if (index && index->stride == 0 && !mask_) {
    const std::string one = fmt::format("{}[{}]", buffer, start.text);
    const CValue scalar{.type = load.type.element(),
                        .pieces = {{ir::is_bool(load.type) ? "(" + one + " != 0)" : one}}};
    return values_.broadcast(scalar, load.type.lanes);
  }
  std::optional<CValue> mask;
  if (mask_) mask = values_.bound(values_.as_mask(used_mask(), bytes_of(element)));
  const auto lane_text = [&](unsigned k) {
    const std::string at =
        index ? plus(start, ir::wrapping_product(index->stride, k)).text : values_.lane(base, k);
    const std::string one = fmt::format("{}[{}]", buffer, at);
    return mask ? fmt::format("({} ? {} : 0)", values_.lane(*mask, k), one) : one;
  };

  CValue result{.type = load.type, .pieces = {}};
  if (ir::is_bool(load.type)) result.mask_bytes = 1;
  unsigned first = 0;
  for (size_t k = 0; k < lanes.size(); first += lanes[k++]) {
    const CType type{element, lanes[k]};
    std::string text;
    if (!type.is_vector()) {
      text = lane_text(first);
    } else if (contiguous) {
      const std::string from = address(buffer, plus(start, first));
      text = mask ? values_.call("load_masked", type, {from, mask->pieces[k].text})
                  : values_.call("load", type, {from});
    } else {
      std::vector<std::string> parts;
      parts.reserve(lanes[k]);
      for (unsigned n = 0; n < lanes[k]; ++n) parts.push_back(lane_text(first + n));
      text = fmt::format("({}){{{}}}", emission_.helpers.type(type), fmt::join(parts, ", "));
    }
    if (ir::is_bool(load.type)) {
      const std::string mask_type = emission_.helpers.type({CBase::I8, lanes[k]});
      text = type.is_vector() ? fmt::format("({})({} != 0)", mask_type, text)
                              : fmt::format("({} != 0)", text);
    }
    result.pieces.push_back({std::move(text)});
  }
  return result;
}

CValue CExprEmitter::emit_dot(const ir::Dot& dot) {
  const ir::Type factors = dot.a.type();
  const Result<std::string_view> helper = dot_helper(dot);
  if (!helper) return unsupported(helper.error().message, dot.type);
  if (mask_) return unsupported("a dot product in an arm of a vector Select", dot.type);
  const CValue sum = emit(dot.sum);
  const std::string a = lanes_in_memory(dot.a);
  const std::string b = lanes_in_memory(dot.b);
  const auto words = [&](unsigned count, const std::string& place) {
    return fmt::format("*(const {}*)({})", emission_.helpers.memory({CBase::U32, count}), place);
  };
  unsigned first = 0;  // first lane of the piece
  return values_.map(dot.type, sum, [&](size_t k, CType type) -> Piece {
    const std::string shared = values_.call("splat", {CBase::U32, type.lanes}, {words(1, a)});
    const std::string own = words(type.lanes, fmt::format("{} + {}", b, first * factors.lanes));
    first += type.lanes;
    return {values_.call(*helper, type, {sum.pieces[k].text, shared, own})};
  });
}

// A pointer to the lanes of a vector: in place, or in a temporary array.
std::string CExprEmitter::lanes_in_memory(const ir::Expr& vector) {
  const auto* load = vector.as<ir::Load>();
  if (load != nullptr && emission_.function.buffers[load->buffer].scope != ir::Scope::Register) {
    const std::optional<LaneIndex> index = lane_index(load->buffer, load->indices);
    if (index && index->stride == 1) {
      const Piece base = emit(index->base).pieces[0];
      return fmt::format("{} + {}", pointer(load->buffer), at_most(base, Precedence::Product));
    }
  }
  const CValue value = values_.bound(emit(vector));
  std::vector<std::string> lanes;
  lanes.reserve(vector.type().lanes);
  for (unsigned k = 0; k < vector.type().lanes; ++k) lanes.push_back(values_.lane(value, k));
  const std::string name = frame_.text.fresh("t");
  frame_.text.line(fmt::format("const {} {}[{}] = {{{}}};",
                               name_of({c_base(vector.type().scalar), 1}), name, lanes.size(),
                               fmt::join(lanes, ", ")));
  return name;
}

}  // namespace tilewright::codegen
