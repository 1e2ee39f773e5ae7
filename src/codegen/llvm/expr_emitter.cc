#include "codegen/llvm/expr_emitter.h"

#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "codegen/llvm/dot_instructions.h"
#include "ir/equal.h"

namespace tilewright::codegen {
namespace {

using ir::BinaryOp;
using ir::Scalar;

const ir::FloatImm* float_constant(const ir::Expr& expr) {
  const auto* b = expr.as<ir::Broadcast>();
  return (b != nullptr ? b->value : expr).as<ir::FloatImm>();
}

bool is_number(const ir::Expr& expr) {
  const ir::FloatImm* constant = float_constant(expr);
  return constant != nullptr && !std::isnan(constant->value);
}

}  // namespace

// Expressions are dags: a node with several references is emitted once per statement.
Value ExprEmitter::emit(const ir::Expr& expr) {
  const bool shared = expr.get()->references.load(std::memory_order_relaxed) > 1 &&
                      expr.kind() != ir::ExprKind::IntImm && expr.kind() != ir::ExprKind::Var;
  if (shared) {
    const auto found = shared_values_.find(expr.get());
    if (found != shared_values_.end()) return found->second;
  }
  Value value = emission_.error.empty() ? emit_node(expr) : nullptr;
  if (value == nullptr) value = llvm::PoisonValue::get(types_.value_type(expr.type()));
  if (shared) {
    shared_.emplace_back(expr.get(), value);
    shared_values_[expr.get()] = value;
  }
  return value;
}

// Drops shared values beyond `size`: they do not dominate the following code.
void ExprEmitter::forget_shared(size_t size) {
  while (shared_.size() > size) {
    shared_values_.erase(shared_.back().first);
    shared_.pop_back();
  }
}

Value ExprEmitter::emit_node(const ir::Expr& expr) {
  const ir::Type type = expr.type();
  switch (expr.kind()) {
    case ir::ExprKind::IntImm:
      return integer(types_.value_type(type), expr.as<ir::IntImm>()->value);
    case ir::ExprKind::FloatImm: {
      const double value = expr.as<ir::FloatImm>()->value;
      if (type.scalar == ir::Scalar::F16) {
        return builder_.getInt16(ir::f16_from_f32(static_cast<float>(value)));
      }
      if (type.scalar == ir::Scalar::BF16) {
        return builder_.getInt16(ir::bf16_from_f32(static_cast<float>(value)));
      }
      return number(types_.value_type(type), value);
    }
    case ir::ExprKind::Var: {
      const auto* var = expr.as<ir::Var>();
      const auto found = frame_.vars.find(var->id);
      if (found == frame_.vars.end()) {
        return emission_.unsupported("variable `" + var->name.text() + "` is not bound");
      }
      return found->second.value;
    }
    case ir::ExprKind::Cast: {
      const auto* node = expr.as<ir::Cast>();
      return casts_.cast(emit(node->value), node->value.type(), type.scalar);
    }
    case ir::ExprKind::Binary:
      return emit_binary(*expr.as<ir::Binary>());
    case ir::ExprKind::Fma: {
      const auto* fma = expr.as<ir::Fma>();
      Value a = emit(fma->a);
      Value b = emit(fma->b);
      Value c = emit(fma->c);
      return builder_.CreateIntrinsic(types_.value_type(type), llvm::Intrinsic::fma, {a, b, c});
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
        steps.push_back(llvm::ConstantInt::get(types_.scalar_type(type.scalar), step, false));
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

Value ExprEmitter::emit_binary(const ir::Binary& binary) {
  const Scalar type = binary.a.type().scalar;
  const bool is_min_max = binary.op == BinaryOp::Min || binary.op == BinaryOp::Max;
  if ((binary.op == BinaryOp::Div || binary.op == BinaryOp::Mod) && !ir::is_float(type)) {
    return emit_divide(binary);
  }
  Value a = emit(binary.a);
  Value b = emit(binary.b);
  if (is_min_max && ir::is_float(type) && is_number(binary.a) && !is_number(binary.b) &&
      float_constant(binary.a)->value != 0) {
    std::swap(a, b);  // the same value, because only equal operands reveal the order; see min_max
    return arithmetic_.combine(binary.op, type, a, b, true);
  }
  Value result = arithmetic_.combine(binary.op, type, a, b, is_number(binary.b));
  return result != nullptr ? result : emission_.unsupported("% on floats");
}

// The divisor is emitted only where it is needed.
Value ExprEmitter::emit_divide(const ir::Binary& binary) {
  const Scalar type = binary.type.scalar;
  const int64_t* constant = ir::as_int(binary.b);
  Value a = emit(binary.a);
  if (Value quotient = arithmetic_.divide_by_power(binary.op, type, a, constant)) return quotient;
  Value b = emit(binary.b);
  return arithmetic_.divide(binary.op, type, a, b, constant, mask_);
}

Value ExprEmitter::emit_select(const ir::Select& select) {
  const bool lazy =
      emission_.faults.may_fault(select.if_true) || emission_.faults.may_fault(select.if_false);
  if (const ir::Expr* condition = ir::uniform_value(select.condition); condition && lazy) {
    return emit_branches(
        emit_uniform(*condition), types_.value_type(select.type),
        [&] { return emit(select.if_true); }, [&] { return emit(select.if_false); });
  }
  if (observed_.defined() && ir::equal(select.condition, observed_)) {
    if (!emission_.faults.may_fault(select.if_true)) return emit(select.if_true);
    Value mask = emit(select.condition);
    return emit_masked(mask, [&] { return emit(select.if_true); });
  }
  Value condition = emit(select.condition);
  if (!lazy) {
    Value if_true = emit(select.if_true);
    return builder_.CreateSelect(condition, if_true, emit(select.if_false));
  }
  Value outer = mask_;
  const auto under = [&](Value mask) {
    return outer == nullptr ? mask : builder_.CreateAnd(outer, mask);
  };
  Value if_false =
      emit_masked(under(builder_.CreateNot(condition)), [&] { return emit(select.if_false); });
  const auto* plain = select.if_true.as<ir::Load>();
  const bool masked =
      plain != nullptr && outer == nullptr && emission_.faults.may_fault(select.if_true);
  if (masked) {  // the load itself preserves the other lanes
    return emit_masked(condition, [&] { return load(*plain, if_false); });
  }
  Value if_true = emit_masked(under(condition), [&] { return emit(select.if_true); });
  return builder_.CreateSelect(condition, if_true, if_false);
}

// The arms of a condition: shared values of one are not visible in the other.
Value ExprEmitter::emit_branches(Value condition, llvm::Type* type,
                                 const std::function<Value()>& if_true,
                                 const std::function<Value()>& if_false) {
  const auto alone = [&](const std::function<Value()>& arm) {
    const size_t shared = shared_.size();
    Value value = arm();
    forget_shared(shared);
    return value;
  };
  return frame_.choose(
      condition, type, [&] { return alone(if_true); }, [&] { return alone(if_false); });
}

// Independent of the current active lanes: shared values are not visible across.
Value ExprEmitter::emit_apart(const std::function<Value()>& make) {
  auto shared = std::exchange(shared_, {});
  auto shared_values = std::exchange(shared_values_, llvm::DenseMap<const ir::Node*, Value>());
  Value mask = std::exchange(mask_, nullptr);
  const ir::Expr observed = std::exchange(observed_, ir::Expr());
  Value value = make();
  shared_ = std::move(shared);
  shared_values_ = std::move(shared_values);
  mask_ = mask;
  observed_ = observed;
  return value;
}

Value ExprEmitter::emit_observed(const ir::Expr& predicate, const ir::Expr& value) {
  observed_ = predicate;
  Value result = emit(value);
  observed_ = {};
  return result;
}

Value ExprEmitter::emit_masked(Value mask, const std::function<Value()>& arm) {
  Value outer = std::exchange(mask_, mask);
  const size_t shared = shared_.size();
  Value value = arm();
  forget_shared(shared);
  mask_ = outer;
  return value;
}

// A scalar inside a vector expression: under a mask, it is evaluated if any lane is active.
Value ExprEmitter::emit_uniform(const ir::Expr& scalar) {
  if (mask_ == nullptr || !emission_.faults.may_fault(scalar)) return emit(scalar);
  llvm::Type* type = types_.value_type(scalar.type());
  Value any = builder_.CreateOrReduce(mask_);
  return emit_branches(
      any, type, [&] { return emit_masked(nullptr, [&] { return emit(scalar); }); },
      [&]() -> Value { return llvm::Constant::getNullValue(type); });
}

Value ExprEmitter::emit_reduce(const ir::VectorReduce& reduce) {
  Value lanes = emit_apart([&] { return emit(reduce.value); });
  return arithmetic_.fold_lanes(reduce.op, reduce.type.scalar, lanes,
                                static_cast<int>(reduce.value.type().lanes));
}

Value ExprEmitter::emit_call(const ir::Call& call) {
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
      return arithmetic_.ldexp(type.scalar, x, emit(call.args[1]));
    case ir::Intrinsic::Bitcast:
      return builder_.CreateBitCast(x, types_.value_type(type));
    default:
      break;
  }
  return emission_.unsupported("`" + std::string(ir::name_of(call.function)) + "` of " +
                               ir::to_string(type) +
                               " was not expanded by the pass expand_functions");
}

Value ExprEmitter::emit_dot(const ir::Dot& dot) {
  const Result<llvm::Intrinsic::ID> id = dot_instruction(dot, emission_.target);
  if (!id) return emission_.unsupported(id.error().message);
  if (mask_ != nullptr) {
    return emission_.unsupported("a dot product in an arm of a vector Select");
  }
  llvm::Function* instruction = llvm::Intrinsic::getDeclaration(&emission_.module, *id);
  const llvm::FunctionType* type = instruction->getFunctionType();
  Value sum = emit(dot.sum);
  Value word = builder_.CreateBitCast(emit(dot.a), builder_.getInt32Ty());
  Value shared = builder_.CreateVectorSplat(dot.type.lanes, word);
  Value a = builder_.CreateBitCast(shared, type->getParamType(1));
  Value b = builder_.CreateBitCast(emit(dot.b), type->getParamType(2));
  return builder_.CreateCall(instruction, {sum, a, b});
}

// Under a mask, inactive lanes are `otherwise` (in value form), or arbitrary if it is null.
Value ExprEmitter::load(const ir::Load& load, Value otherwise) {
  const ir::Buffer& buffer = emission_.function.buffers[load.buffer];
  const bool whole_element = buffer.element.is_vector() || !load.type.is_vector();
  if (!whole_element) return load_lanes(load, otherwise);
  Address address;
  addresses_.decompose(load.buffer, load.indices, address);
  Value from = addresses_.pointer(load.buffer, address);
  if (buffer.scope == ir::Scope::Register && buffer.elements() == 1) {
    return builder_.CreateLoad(types_.value_type(load.type), from);
  }
  const llvm::Align alignment(static_cast<uint64_t>(ir::bytes_of(load.type.scalar)));
  return casts_.from_memory(
      builder_.CreateAlignedLoad(types_.memory_type(load.type), from, alignment), load.type);
}

Value partial(Value mask) {
  auto* constant = llvm::dyn_cast_or_null<llvm::Constant>(mask);
  return constant != nullptr && constant->isAllOnesValue() ? nullptr : mask;
}

// One element in all lanes, loaded if any lane of the mask is active.
Value ExprEmitter::load_for_any(const ir::Load& load, const Address& address, Value mask) {
  const llvm::Align alignment(static_cast<uint64_t>(ir::bytes_of(load.type.scalar)));
  llvm::Type* element = types_.memory_type(load.type.element());
  const auto from_buffer = [&]() -> Value {
    return builder_.CreateAlignedLoad(element, addresses_.pointer(load.buffer, address), alignment);
  };
  auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  const bool some = constant != nullptr && !constant->isNullValue();
  Value one = some
                  ? from_buffer()
                  : emit_branches(builder_.CreateOrReduce(mask), element, from_buffer,
                                  [&]() -> Value { return llvm::Constant::getNullValue(element); });
  return casts_.from_memory(builder_.CreateVectorSplat(load.type.lanes, one), load.type);
}

Value ExprEmitter::load_lanes(const ir::Load& load, Value otherwise) {
  const llvm::Align alignment(static_cast<uint64_t>(ir::bytes_of(load.type.scalar)));
  llvm::Type* type = types_.memory_type(load.type);
  llvm::Type* element = types_.memory_type(load.type.element());
  Value mask = partial(mask_);
  Value rest =
      otherwise != nullptr ? casts_.to_memory(otherwise, load.type) : llvm::PoisonValue::get(type);
  Address address;
  if (!addresses_.decompose(load.buffer, load.indices, address)) {
    Value pointers = addresses_.lane_pointers(load.buffer, load.indices);
    return casts_.from_memory(builder_.CreateMaskedGather(type, pointers, alignment, mask, rest),
                              load.type);
  }
  if (address.lane_stride == 1) {
    Value from = addresses_.pointer(load.buffer, address);
    Value value = mask == nullptr
                      ? llvm::cast<llvm::Value>(builder_.CreateAlignedLoad(type, from, alignment))
                      : builder_.CreateMaskedLoad(type, from, alignment, mask, rest);
    return casts_.from_memory(value, load.type);
  }
  if (mask != nullptr && address.lane_stride == 0) {
    Value lanes = load_for_any(load, address, mask);
    return otherwise == nullptr ? lanes : builder_.CreateSelect(mask, lanes, otherwise);
  }
  if (mask != nullptr) {
    Value pointers = addresses_.strided_pointers(load.buffer, address, load.type.lanes);
    return casts_.from_memory(builder_.CreateMaskedGather(type, pointers, alignment, mask, rest),
                              load.type);
  }
  if (address.lane_stride == 0) {
    Value one =
        builder_.CreateAlignedLoad(element, addresses_.pointer(load.buffer, address), alignment);
    return casts_.from_memory(builder_.CreateVectorSplat(load.type.lanes, one), load.type);
  }
  Value lanes = llvm::PoisonValue::get(type);
  for (unsigned k = 0; k < load.type.lanes; ++k) {
    Value from = addresses_.pointer(load.buffer, address.at_lane(k));
    Value one = builder_.CreateAlignedLoad(element, from, alignment);
    lanes = builder_.CreateInsertElement(lanes, one, uint64_t{k});
  }
  return casts_.from_memory(lanes, load.type);
}

}  // namespace tilewright::codegen
