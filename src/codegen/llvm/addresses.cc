#include "codegen/llvm/addresses.h"

#include <algorithm>
#include <numeric>

#include "ir/fold.h"

namespace tilewright::codegen {

Address Address::at_lane(unsigned lane) const {
  Address result = *this;
  result.add_constant(lane_stride, lane);
  return result;
}

bool Addresses::decompose(ir::BufferId buffer, const std::vector<ir::Expr>& indices,
                          Address& address) {
  int64_t stride = 1;
  const std::vector<int64_t>& shape = emission_.function.buffers[buffer].shape;
  for (size_t d = indices.size(); d-- > 0;) {
    if (!decompose(indices[d], stride, address)) return false;
    if (d < shape.size()) stride *= shape[d];
  }
  return true;
}

// Adds factor * index; false if the lanes of the index are not evenly spaced.
bool Addresses::decompose(const ir::Expr& index, int64_t factor, Address& address) {
  if (const int64_t* value = ir::as_int(index)) {
    address.add_constant(*value, factor);
    return true;
  }
  if (const auto* broadcast = index.as<ir::Broadcast>()) {
    return decompose(broadcast->value, factor, address);
  }
  if (const auto* ramp = index.as<ir::Ramp>()) {
    address.lane_stride =
        ir::wrapping_sum(address.lane_stride, ir::wrapping_product(ramp->stride, factor));
    return decompose(ramp->base, factor, address);
  }
  if (const auto* binary = index.as<ir::Binary>()) {
    if (binary->op == ir::BinaryOp::Add) {
      return decompose(binary->a, factor, address) && decompose(binary->b, factor, address);
    }
    if (binary->op == ir::BinaryOp::Sub) {
      return decompose(binary->a, factor, address) &&
             decompose(binary->b, ir::wrapping_product(factor, -1), address);
    }
    if (binary->op == ir::BinaryOp::Mul) {
      if (const int64_t* b = ir::as_int(binary->b)) {
        return decompose(binary->a, ir::wrapping_product(factor, *b), address);
      }
      if (const int64_t* a = ir::as_int(binary->a)) {
        return decompose(binary->b, ir::wrapping_product(factor, *a), address);
      }
    }
  }
  if (index.type().is_vector()) return false;
  address.add_term({{index, factor}, emission_.atoms.key(index)});
  return true;
}

Frame::Bound Addresses::atom_value(const ir::Expr& atom) {
  if (const auto* var = atom.as<ir::Var>()) {
    const auto found = frame_.vars.find(var->id);
    if (found != frame_.vars.end()) return found->second;
    return {values_.emit(atom), 0};  // reports an unbound variable
  }
  const size_t innermost = frame_.levels.size() - 1;
  if (!emission_.faults.may_hoist(atom)) return {values_.emit_uniform(atom), innermost};
  const size_t level = frame_.level_of(atom);
  const std::vector<int64_t> key = {-1, emission_.atoms.key(atom)};
  if (const auto kept = frame_.levels[level].kept.find(key);
      kept != frame_.levels[level].kept.end()) {
    return {kept->second, level};
  }
  Value made = values_.emit_apart(
      [&] { return frame_.at_level(level, [&] { return values_.emit(atom); }); });
  frame_.levels[level].kept[key] = made;
  return {made, level};
}

Value Addresses::pointer(ir::BufferId buffer, const Address& address) {
  Value result = frame_.buffers[buffer];
  if (result == nullptr) {
    emission_.unsupported("`" + emission_.function.buffers[buffer].name +
                          "` is accessed outside of its Allocate");
    return llvm::PoisonValue::get(builder_.getPtrTy());
  }
  llvm::Type* element = types_.memory_type(emission_.function.buffers[buffer].element);
  const auto element_bytes = static_cast<int64_t>(
      emission_.module.getDataLayout().getTypeAllocSize(element).getFixedValue());
  const auto in_inner_loop = [&](size_t level) {
    return std::any_of(frame_.levels.begin() + static_cast<ptrdiff_t>(level) + 1,
                       frame_.levels.end(),
                       [](const Frame::Level& inner) { return inner.counter != nullptr; });
  };
  struct Placed {
    size_t level;
    int64_t key;
    int64_t coefficient;
    Value value;
    bool reusable;
    bool operator<(const Placed& other) const {
      return std::pair(level, key) < std::pair(other.level, other.key);
    }
  };
  std::vector<Placed> terms;
  for (const AddressTerm& term : address.terms) {
    const Frame::Bound bound = atom_value(term.atom);
    const bool reusable =
        term.atom.kind() == ir::ExprKind::Var || emission_.faults.may_hoist(term.atom);
    terms.push_back({bound.level, term.key, term.coefficient, bound.value, reusable});
  }
  std::sort(terms.begin(), terms.end());

  std::vector<int64_t> key = {int64_t{buffer}};
  bool reusable = true;
  for (size_t begin = 0; begin < terms.size();) {
    const size_t level = terms[begin].level;
    size_t end = begin;
    for (; end < terms.size() && terms[end].level == level; ++end) {
      key.push_back(terms[end].key);
      key.push_back(terms[end].coefficient);
    }
    // A value that depends on a load may differ at every use, so it is not cached.
    const auto found = frame_.levels[level].kept.find(key);
    reusable = reusable && std::all_of(terms.begin() + static_cast<ptrdiff_t>(begin),
                                       terms.begin() + static_cast<ptrdiff_t>(end),
                                       [](const Placed& term) { return term.reusable; });
    if (reusable && found != frame_.levels[level].kept.end()) {
      result = found->second;
    } else {
      Value base = result;
      const int64_t step = ir::wrapping_product(terms[begin].coefficient, element_bytes);
      const bool moves = end == begin + 1 && frame_.levels[level].counter == terms[begin].value &&
                         (step < 0 || step > 8) && !in_inner_loop(level);
      result = moves ? frame_.moving_pointer(level, base, step) : frame_.at_level(level, [&] {
        Value sum = nullptr;
        for (size_t k = begin; k < end; ++k) {
          Value term = builder_.CreateMul(terms[k].value, emission_.index(terms[k].coefficient));
          sum = sum == nullptr ? term : builder_.CreateAdd(sum, term);
        }
        return builder_.CreateGEP(element, base, sum);
      });
      if (reusable) frame_.levels[level].kept[key] = result;
    }
    begin = end;
  }
  if (address.constant == 0) return result;
  return builder_.CreateGEP(element, result, emission_.index(address.constant));
}

Value Addresses::lane_pointers(ir::BufferId buffer, const std::vector<ir::Expr>& indices) {
  int64_t stride = 1;
  Value sum = nullptr;
  const std::vector<int64_t>& shape = emission_.function.buffers[buffer].shape;
  for (size_t d = indices.size(); d-- > 0;) {
    Value part = values_.emit(indices[d]);
    part = builder_.CreateMul(part, integer(part->getType(), stride));
    sum = sum == nullptr ? part : builder_.CreateAdd(sum, part);
    if (d < shape.size()) stride *= shape[d];
  }
  return builder_.CreateGEP(
      types_.memory_type(emission_.function.buffers[buffer].element.element()), pointer(buffer, {}),
      sum);
}

Value Addresses::strided_pointers(ir::BufferId buffer, const Address& address, unsigned lanes) {
  std::vector<llvm::Constant*> steps;
  steps.reserve(lanes);
  for (unsigned k = 0; k < lanes; ++k)
    steps.push_back(emission_.index(ir::wrapping_product(address.lane_stride, k)));
  return builder_.CreateGEP(
      types_.memory_type(emission_.function.buffers[buffer].element.element()),
      pointer(buffer, address), llvm::ConstantVector::get(steps));
}

int64_t Addresses::alignment_of(ir::BufferId id, const Address& address) const {
  const ir::Buffer& buffer = emission_.function.buffers[id];
  const int64_t element_bytes = ir::bytes_of(buffer.element.scalar);
  int64_t multiple = std::gcd(int64_t{buffer.alignment}, address.constant * element_bytes);
  for (const AddressTerm& term : address.terms) {
    multiple = std::gcd(multiple, term.coefficient * element_bytes * frame_.multiple_of(term.atom));
  }
  return multiple;
}

}  // namespace tilewright::codegen
