// Expressions: dispatch, sharing, lazy Select, reductions, functions.
#include <llvm/IR/Intrinsics.h>

#include <bit>
#include <numeric>

#include "codegen/llvm/emitter.h"
#include "ir/equal.h"

namespace tilewright::codegen {
namespace {

// The scalar condition of a Select whose lanes all decide alike, or null.
const ir::Expr* uniform_condition(const ir::Expr& condition) {
  if (const auto* b = condition.as<ir::Broadcast>()) return &b->value;
  return condition.type().is_vector() ? nullptr : &condition;
}

}  // namespace

// Expressions are dags: a node with several references is emitted once for a statement.
Emitter::Value Emitter::emit(const ir::Expr& expr) {
  const bool shared = expr.get()->references.load(std::memory_order_relaxed) > 1 &&
                      expr.kind() != ir::ExprKind::IntImm && expr.kind() != ir::ExprKind::Var;
  if (shared) {
    const auto found = frame_->shared_values.find(expr.get());
    if (found != frame_->shared_values.end()) return found->second;
  }
  Value value = error_.empty() ? emit_node(expr) : nullptr;
  if (value == nullptr) value = llvm::PoisonValue::get(value_type(expr.type()));
  if (shared) {
    frame_->shared.emplace_back(expr.get(), value);
    frame_->shared_values[expr.get()] = value;
  }
  return value;
}

// Drops what was shared since there were `size` of them: it does not dominate what comes next.
void Emitter::forget_shared(size_t size) {
  while (frame_->shared.size() > size) {
    frame_->shared_values.erase(frame_->shared.back().first);
    frame_->shared.pop_back();
  }
}

Emitter::Value Emitter::emit_node(const ir::Expr& expr) {
  const ir::Type type = expr.type();
  switch (expr.kind()) {
    case ir::ExprKind::IntImm:
      return integer(value_type(type), expr.as<ir::IntImm>()->value);
    case ir::ExprKind::FloatImm: {
      const double value = expr.as<ir::FloatImm>()->value;
      if (type.scalar == ir::Scalar::F16) {
        return builder_.getInt16(ir::f16_from_f32(static_cast<float>(value)));
      }
      if (type.scalar == ir::Scalar::BF16) {
        return builder_.getInt16(ir::bf16_from_f32(static_cast<float>(value)));
      }
      return number(value_type(type), value);
    }
    case ir::ExprKind::Var: {
      const auto* var = expr.as<ir::Var>();
      const auto found = frame_->vars.find(var->id);
      if (found == frame_->vars.end()) {
        return unsupported("variable `" + var->name.text() + "` is not bound");
      }
      return found->second.value;
    }
    case ir::ExprKind::Cast: {
      const auto* node = expr.as<ir::Cast>();
      return cast(emit(node->value), node->value.type(), type.scalar);
    }
    case ir::ExprKind::Binary:
      return emit_binary(*expr.as<ir::Binary>());
    case ir::ExprKind::Fma: {
      const auto* fma = expr.as<ir::Fma>();
      Value a = emit(fma->a);
      Value b = emit(fma->b);
      Value c = emit(fma->c);
      return builder_.CreateIntrinsic(value_type(type), llvm::Intrinsic::fma, {a, b, c});
    }
    case ir::ExprKind::Select:
      return emit_select(*expr.as<ir::Select>());
    case ir::ExprKind::Call:
      return emit_call(*expr.as<ir::Call>());
    case ir::ExprKind::Load:
      return load(*expr.as<ir::Load>(), nullptr);
    case ir::ExprKind::Ramp: {
      const auto* ramp = expr.as<ir::Ramp>();
      std::vector<llvm::Constant*> steps;
      for (unsigned k = 0; k < type.lanes; ++k) {
        const auto step = static_cast<uint64_t>(ramp->stride) * k;
        steps.push_back(llvm::ConstantInt::get(scalar_type(type.scalar), step, false));
      }
      Value base = builder_.CreateVectorSplat(type.lanes, emit_uniform(ramp->base));
      return builder_.CreateAdd(base, llvm::ConstantVector::get(steps));
    }
    case ir::ExprKind::Broadcast:
      return builder_.CreateVectorSplat(type.lanes, emit_uniform(expr.as<ir::Broadcast>()->value));
    case ir::ExprKind::VectorReduce:
      return emit_reduce(*expr.as<ir::VectorReduce>());
    case ir::ExprKind::Dot:
      return emit_dot(*expr.as<ir::Dot>());
  }
  return nullptr;
}

Emitter::Value Emitter::emit_select(const ir::Select& select) {
  const bool lazy = may_fault(select.if_true) || may_fault(select.if_false);
  if (const ir::Expr* condition = uniform_condition(select.condition); condition && lazy) {
    return emit_branches(
        emit_uniform(*condition), value_type(select.type), [&] { return emit(select.if_true); },
        [&] { return emit(select.if_false); });
  }
  if (frame_->observed.defined() && ir::equal(select.condition, frame_->observed)) {
    if (!may_fault(select.if_true)) return emit(select.if_true);
    Value mask = emit(select.condition);
    return emit_masked(mask, [&] { return emit(select.if_true); });
  }
  Value condition = emit(select.condition);
  if (!lazy) {
    Value if_true = emit(select.if_true);
    return builder_.CreateSelect(condition, if_true, emit(select.if_false));
  }
  Value outer = frame_->mask;
  const auto under = [&](Value mask) {
    return outer == nullptr ? mask : builder_.CreateAnd(outer, mask);
  };
  Value if_false =
      emit_masked(under(builder_.CreateNot(condition)), [&] { return emit(select.if_false); });
  const auto* plain = select.if_true.as<ir::Load>();
  const bool masked = plain != nullptr && outer == nullptr && may_fault(select.if_true);
  if (masked) {  // the load itself keeps the other lanes
    return emit_masked(condition, [&] { return load(*plain, if_false); });
  }
  Value if_true = emit_masked(under(condition), [&] { return emit(select.if_true); });
  return builder_.CreateSelect(condition, if_true, if_false);
}

Emitter::Value Emitter::emit_branches(Value condition, llvm::Type* type,
                                      const std::function<Value()>& if_true,
                                      const std::function<Value()>& if_false) {
  auto* taken = llvm::BasicBlock::Create(context_, "true", frame_->function);
  auto* other = llvm::BasicBlock::Create(context_, "false", frame_->function);
  auto* after = llvm::BasicBlock::Create(context_, "join", frame_->function);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  builder_.CreateCondBr(condition, taken, other);
  const auto emit_arm = [&](llvm::BasicBlock* block, const std::function<Value()>& arm) {
    const size_t shared = frame_->shared.size();
    builder_.SetInsertPoint(before);
    enter_level(block);
    Value value = arm();
    builder_.CreateBr(after);
    leave_level();
    forget_shared(shared);
    return std::pair(value, builder_.GetInsertBlock());
  };
  const auto [true_value, true_end] = emit_arm(taken, if_true);
  const auto [false_value, false_end] = emit_arm(other, if_false);
  builder_.SetInsertPoint(after);
  llvm::PHINode* value = builder_.CreatePHI(type, 2);
  value->addIncoming(true_value, true_end);
  value->addIncoming(false_value, false_end);
  return value;
}

// Apart from the lanes in question here: shared values of this place do not reach the other, nor
// the other way round.
Emitter::Value Emitter::emit_apart(const std::function<Value()>& make) {
  auto shared = std::exchange(frame_->shared, {});
  auto shared_values =
      std::exchange(frame_->shared_values, llvm::DenseMap<const ir::Node*, Value>());
  Value mask = std::exchange(frame_->mask, nullptr);
  const ir::Expr observed = std::exchange(frame_->observed, ir::Expr());
  Value value = make();
  frame_->shared = std::move(shared);
  frame_->shared_values = std::move(shared_values);
  frame_->mask = mask;
  frame_->observed = observed;
  return value;
}

// A value of which only the lanes where `predicate` holds are looked at; null: all of them.
Emitter::Value Emitter::emit_observed(const ir::Expr& predicate, const ir::Expr& value) {
  frame_->observed = predicate;
  Value result = emit(value);
  frame_->observed = {};
  return result;
}

Emitter::Value Emitter::emit_masked(Value mask, const std::function<Value()>& arm) {
  Value outer = std::exchange(frame_->mask, mask);
  const size_t shared = frame_->shared.size();
  Value value = arm();
  forget_shared(shared);
  frame_->mask = outer;
  return value;
}

// A scalar inside a vector expression: under a mask it is evaluated if any lane is.
Emitter::Value Emitter::emit_uniform(const ir::Expr& scalar) {
  if (frame_->mask == nullptr || !may_fault(scalar)) return emit(scalar);
  llvm::Type* type = value_type(scalar.type());
  Value any = builder_.CreateOrReduce(frame_->mask);
  return emit_branches(
      any, type, [&] { return emit_masked(nullptr, [&] { return emit(scalar); }); },
      [&]() -> Value { return llvm::Constant::getNullValue(type); });
}

Emitter::Value Emitter::emit_reduce(const ir::VectorReduce& reduce) {
  Value lanes = emit_apart([&] { return emit(reduce.value); });
  auto count = static_cast<int>(reduce.value.type().lanes);
  const auto part = [&](int first, int size) {
    std::vector<int> picked(static_cast<size_t>(size));
    std::iota(picked.begin(), picked.end(), first);
    return builder_.CreateShuffleVector(lanes, picked);
  };
  // Sums of integers may be added in any order. LLVM takes narrowing halves of products of bytes
  // for what its dot products have added already, and drops the rest; its own reduction it knows.
  const bool sum = reduce.op == ir::BinaryOp::Add && ir::is_integer(reduce.type);
  while (count > 1) {
    if (sum && std::has_single_bit(static_cast<unsigned>(count))) {
      return builder_.CreateAddReduce(lanes);
    }
    const auto half = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1)));
    const int pairs = count - half;
    Value low = part(0, half);
    if (pairs == half) {
      lanes = combine(reduce.op, reduce.type.scalar, low, part(half, half));
    } else {
      Value folded = combine(reduce.op, reduce.type.scalar, part(0, pairs), part(half, pairs));
      std::vector<int> widened(static_cast<size_t>(half), -1);
      std::vector<int> merged(static_cast<size_t>(half));
      for (int k = 0; k < half; ++k) {
        if (k < pairs) widened[static_cast<size_t>(k)] = k;
        merged[static_cast<size_t>(k)] = k < pairs ? k : half + k;
      }
      lanes =
          builder_.CreateShuffleVector(builder_.CreateShuffleVector(folded, widened), low, merged);
    }
    count = half;
  }
  return builder_.CreateExtractElement(lanes, uint64_t{0});
}

Emitter::Value Emitter::emit_call(const ir::Call& call) {
  const ir::Type type = call.type;
  Value x = emit(call.args[0]);
  const auto unary = [&](llvm::Intrinsic::ID id) { return builder_.CreateUnaryIntrinsic(id, x); };
  switch (call.function) {
    case ir::Intrinsic::Neg:
      return ir::is_float(type) ? builder_.CreateFNeg(x) : builder_.CreateNeg(x);
    case ir::Intrinsic::Abs:
      if (ir::is_float(type)) return unary(llvm::Intrinsic::fabs);
      if (!ir::is_signed(type.scalar)) return x;
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, builder_.getFalse());
    case ir::Intrinsic::Not:
      return builder_.CreateNot(x);
    case ir::Intrinsic::Floor:
      return unary(llvm::Intrinsic::floor);
    case ir::Intrinsic::Round:
      return unary(llvm::Intrinsic::roundeven);
    case ir::Intrinsic::Sqrt:
      return unary(llvm::Intrinsic::sqrt);
    case ir::Intrinsic::Ldexp:
      return ldexp(type.scalar, x, emit(call.args[1]));
    case ir::Intrinsic::Bitcast:
      return builder_.CreateBitCast(x, value_type(type));
    default:
      break;
  }
  return unsupported("`" + std::string(ir::name_of(call.function)) + "` of " + ir::to_string(type) +
                     " was not expanded by the pass expand_functions");
}

}  // namespace tilewright::codegen
