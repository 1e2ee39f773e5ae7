// Loads, and the addresses of all accesses. Stores: emit_store.cc.
//
// The index of an access is taken apart into a sum of coefficient * atom, a constant, and a stride
// between lanes. Terms go to the level where their atom is bound; the pointer of each level is the
// pointer of the level outside plus its terms, kept for reuse:
//
//   A[i * 512 + k + 3] in loops i, k:   level of i: p = A + i * 512
//                                       level of k: q = p + k;   here: load q[3]
#include <algorithm>

#include "codegen/llvm/emitter.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace tilewright::codegen {
namespace {

constexpr int64_t kAtomKeys = int64_t{1} << 33;  // above every VarId

int64_t times(int64_t a, int64_t b) {  // wraps, as index arithmetic does
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

Address Address::at_lane(unsigned lane) const {
  Address result = *this;
  result.constant = plus(constant, times(lane_stride, lane));
  return result;
}

bool Emitter::decompose(ir::BufferId buffer, const std::vector<ir::Expr>& indices,
                        Address& address) {
  int64_t stride = 1;
  const std::vector<int64_t>& shape = function_.buffers[buffer].shape;
  for (size_t d = indices.size(); d-- > 0;) {
    if (!decompose(indices[d], stride, address)) return false;
    if (d < shape.size()) stride *= shape[d];
  }
  std::erase_if(address.terms, [](const Address::Term& term) { return term.coefficient == 0; });
  return true;
}

// Adds factor * index; false if the lanes of the index are not evenly spaced.
bool Emitter::decompose(const ir::Expr& index, int64_t factor, Address& address) {
  if (const int64_t* value = ir::as_int(index)) {
    address.constant = plus(address.constant, times(*value, factor));
    return true;
  }
  if (const auto* broadcast = index.as<ir::Broadcast>()) {
    return decompose(broadcast->value, factor, address);
  }
  if (const auto* ramp = index.as<ir::Ramp>()) {
    address.lane_stride = plus(address.lane_stride, times(ramp->stride, factor));
    return decompose(ramp->base, factor, address);
  }
  if (const auto* binary = index.as<ir::Binary>()) {
    if (binary->op == ir::BinaryOp::Add) {
      return decompose(binary->a, factor, address) && decompose(binary->b, factor, address);
    }
    if (binary->op == ir::BinaryOp::Sub) {
      return decompose(binary->a, factor, address) &&
             decompose(binary->b, times(factor, -1), address);
    }
    if (binary->op == ir::BinaryOp::Mul) {
      if (const int64_t* b = ir::as_int(binary->b)) {
        return decompose(binary->a, times(factor, *b), address);
      }
      if (const int64_t* a = ir::as_int(binary->a)) {
        return decompose(binary->b, times(factor, *a), address);
      }
    }
  }
  if (index.type().is_vector()) return false;
  add_term(address, index, factor);
  return true;
}

void Emitter::add_term(Address& address, const ir::Expr& atom, int64_t factor) {
  const int64_t key = atom_key(atom);
  for (Address::Term& term : address.terms) {
    if (atom_key(term.atom) != key) continue;
    term.coefficient = plus(term.coefficient, factor);
    return;
  }
  address.terms.push_back({atom, factor});
}

// Equal atoms have equal keys.
int64_t Emitter::atom_key(const ir::Expr& atom) {
  if (const auto* var = atom.as<ir::Var>()) return var->id;
  if (const auto found = atom_numbers_.find(atom.get()); found != atom_numbers_.end()) {
    return kAtomKeys + found->second;
  }
  const auto same =
      std::ranges::find_if(atoms_, [&](const ir::Expr& known) { return ir::equal(known, atom); });
  const int64_t position = same - atoms_.begin();
  if (same == atoms_.end()) atoms_.push_back(atom);
  atom_numbers_[atom.get()] = position;  // the function being emitted holds the node
  return kAtomKeys + position;
}

// The innermost level that binds a variable of `expr`.
size_t Emitter::level_of(const ir::Expr& expr) const {
  if (const auto* var = expr.as<ir::Var>()) {
    const auto found = frame_->vars.find(var->id);
    return found == frame_->vars.end() ? 0 : found->second.level;
  }
  size_t level = 0;
  ir::for_each_child(expr,
                     [&](const ir::Expr& child) { level = std::max(level, level_of(child)); });
  return level;
}

// Whether an atom may be computed before it is known to be needed.
bool Emitter::may_hoist(const ir::Expr& expr) const {
  if (may_fault(expr) || expr.kind() == ir::ExprKind::Load) return false;
  bool may = true;
  ir::for_each_child(expr, [&](const ir::Expr& child) { may = may && may_hoist(child); });
  return may;
}

bool Emitter::may_fault(const ir::Expr& expr) const {
  if (const auto* load = expr.as<ir::Load>()) {
    if (function_.buffers[load->buffer].scope != ir::Scope::Register) return true;
  }
  if (const auto* binary = expr.as<ir::Binary>()) {
    const bool divides = binary->op == ir::BinaryOp::Div || binary->op == ir::BinaryOp::Mod;
    if (divides && !ir::is_float(binary->type)) {
      const int64_t* divisor = ir::as_int(binary->b);
      if (divisor == nullptr || *divisor == 0) return true;
    }
  }
  const bool shared = expr.get()->references.load(std::memory_order_relaxed) > 1;
  if (const auto known = faults_.find(expr.get()); shared && known != faults_.end()) {
    return known->second;
  }
  bool may = false;
  ir::for_each_child(expr, [&](const ir::Expr& child) { may = may || may_fault(child); });
  if (shared) faults_[expr.get()] = may;
  return may;
}

// Emits at the end of an enclosing level, before the jump into the level within.
Emitter::Value Emitter::at_level(size_t level, const std::function<Value()>& make) {
  for (size_t k = level + 1; k < frame_->levels.size(); ++k) {
    llvm::BasicBlock* before = frame_->levels[k].before;
    if (before == nullptr) continue;
    llvm::IRBuilder<>::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(before->getTerminator());
    return make();
  }
  return make();
}

Emitter::Bound Emitter::atom_value(const ir::Expr& atom) {
  if (const auto* var = atom.as<ir::Var>()) {
    const auto found = frame_->vars.find(var->id);
    if (found != frame_->vars.end()) return found->second;
    return {emit(atom), 0};  // reports that it is not bound
  }
  const size_t innermost = frame_->levels.size() - 1;
  if (!may_hoist(atom)) return {emit_uniform(atom), innermost};
  const size_t level = level_of(atom);
  const std::vector<int64_t> key = {-1, atom_key(atom)};
  if (const auto kept = frame_->levels[level].kept.find(key);
      kept != frame_->levels[level].kept.end()) {
    return {kept->second, level};
  }
  Value made = emit_apart([&] { return at_level(level, [&] { return emit(atom); }); });
  frame_->levels[level].kept[key] = made;
  return {made, level};
}

Emitter::Value Emitter::pointer(ir::BufferId buffer, const Address& address) {
  Value result = frame_->buffers[buffer];
  if (result == nullptr) {
    unsupported("`" + function_.buffers[buffer].name + "` is accessed outside of its Allocate");
    return llvm::PoisonValue::get(builder_.getPtrTy());
  }
  llvm::Type* element = memory_type(function_.buffers[buffer].element);
  const auto element_bytes =
      static_cast<int64_t>(module_.getDataLayout().getTypeAllocSize(element).getFixedValue());
  const auto in_inner_loop = [&](size_t level) {
    return std::any_of(frame_->levels.begin() + static_cast<ptrdiff_t>(level) + 1,
                       frame_->levels.end(),
                       [](const Level& inner) { return inner.counter != nullptr; });
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
  for (const Address::Term& term : address.terms) {
    const Bound bound = atom_value(term.atom);
    const bool reusable = term.atom.kind() == ir::ExprKind::Var || may_hoist(term.atom);
    terms.push_back({bound.level, atom_key(term.atom), term.coefficient, bound.value, reusable});
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
    // What depends on a load may differ at every use, so it is not kept.
    const auto found = frame_->levels[level].kept.find(key);
    reusable = reusable && std::all_of(terms.begin() + static_cast<ptrdiff_t>(begin),
                                       terms.begin() + static_cast<ptrdiff_t>(end),
                                       [](const Placed& term) { return term.reusable; });
    if (reusable && found != frame_->levels[level].kept.end()) {
      result = found->second;
    } else {
      Value base = result;
      const int64_t step = times(terms[begin].coefficient, element_bytes);
      const bool moves = end == begin + 1 && frame_->levels[level].counter == terms[begin].value &&
                         (step < 0 || step > 8) && !in_inner_loop(level);
      result = moves ? moving_pointer(level, base, step) : at_level(level, [&] {
        Value sum = nullptr;
        for (size_t k = begin; k < end; ++k) {
          Value term = builder_.CreateMul(terms[k].value, index(terms[k].coefficient));
          sum = sum == nullptr ? term : builder_.CreateAdd(sum, term);
        }
        return builder_.CreateGEP(element, base, sum);
      });
      if (reusable) frame_->levels[level].kept[key] = result;
    }
    begin = end;
  }
  if (address.constant == 0) return result;
  return builder_.CreateGEP(element, result, index(address.constant));
}

// A pointer that is `start` in the first iteration of the loop of a level and moves on each time.
Emitter::Value Emitter::moving_pointer(size_t level, Value start, int64_t bytes) {
  Level& loop = frame_->levels[level];
  llvm::PHINode* moving =
      llvm::PHINode::Create(builder_.getPtrTy(), 2, "", loop.counter->getIterator());
  moving->addIncoming(start, loop.before);
  loop.moving.emplace_back(moving, bytes);
  return moving;
}

// A vector of pointers, one per lane, for indices that are not evenly spaced.
Emitter::Value Emitter::lane_pointers(ir::BufferId buffer, const std::vector<ir::Expr>& indices) {
  int64_t stride = 1;
  Value sum = nullptr;
  const std::vector<int64_t>& shape = function_.buffers[buffer].shape;
  for (size_t d = indices.size(); d-- > 0;) {
    Value part = emit(indices[d]);
    part = builder_.CreateMul(part, integer(part->getType(), stride));
    sum = sum == nullptr ? part : builder_.CreateAdd(sum, part);
    if (d < shape.size()) stride *= shape[d];
  }
  return builder_.CreateGEP(memory_type(function_.buffers[buffer].element.element()),
                            pointer(buffer, {}), sum);
}

// The same, of lanes that are.
Emitter::Value Emitter::strided_pointers(ir::BufferId buffer, const Address& address,
                                         unsigned lanes) {
  std::vector<llvm::Constant*> steps;
  steps.reserve(lanes);
  for (unsigned k = 0; k < lanes; ++k) steps.push_back(index(times(address.lane_stride, k)));
  return builder_.CreateGEP(memory_type(function_.buffers[buffer].element.element()),
                            pointer(buffer, address), llvm::ConstantVector::get(steps));
}

Emitter::Value Emitter::from_memory(Value value, ir::Type type) {
  return ir::is_bool(type) ? builder_.CreateIsNotNull(value) : value;
}

Emitter::Value Emitter::to_memory(Value value, ir::Type type) {
  return ir::is_bool(type) ? builder_.CreateZExt(value, memory_type(type)) : value;
}

// Under a mask, the lanes left out are `otherwise` (in value form), or anything if it is null.
Emitter::Value Emitter::load(const ir::Load& load, Value otherwise) {
  const ir::Buffer& buffer = function_.buffers[load.buffer];
  const bool whole_element = buffer.element.is_vector() || !load.type.is_vector();
  if (!whole_element) return load_lanes(load, otherwise);
  Address address;
  decompose(load.buffer, load.indices, address);
  Value from = pointer(load.buffer, address);
  if (buffer.scope == ir::Scope::Register && buffer.elements() == 1) {
    return builder_.CreateLoad(value_type(load.type), from);
  }
  const llvm::Align alignment(static_cast<uint64_t>(ir::bytes_of(load.type.scalar)));
  return from_memory(builder_.CreateAlignedLoad(memory_type(load.type), from, alignment),
                     load.type);
}

// A mask that leaves some lane out, for all that is known; null: it does not.
Emitter::Value Emitter::partial(Value mask) {
  auto* constant = llvm::dyn_cast_or_null<llvm::Constant>(mask);
  return constant != nullptr && constant->isAllOnesValue() ? nullptr : mask;
}

// One element in all lanes, loaded if a lane of the mask wants it.
Emitter::Value Emitter::load_for_any(const ir::Load& load, const Address& address, Value mask) {
  const llvm::Align alignment(static_cast<uint64_t>(ir::bytes_of(load.type.scalar)));
  llvm::Type* element = memory_type(load.type.element());
  const auto from_buffer = [&]() -> Value {
    return builder_.CreateAlignedLoad(element, pointer(load.buffer, address), alignment);
  };
  auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  const bool some = constant != nullptr && !constant->isNullValue();
  Value one = some
                  ? from_buffer()
                  : emit_branches(builder_.CreateOrReduce(mask), element, from_buffer,
                                  [&]() -> Value { return llvm::Constant::getNullValue(element); });
  return from_memory(builder_.CreateVectorSplat(load.type.lanes, one), load.type);
}

Emitter::Value Emitter::load_lanes(const ir::Load& load, Value otherwise) {
  const llvm::Align alignment(static_cast<uint64_t>(ir::bytes_of(load.type.scalar)));
  llvm::Type* type = memory_type(load.type);
  llvm::Type* element = memory_type(load.type.element());
  Value mask = partial(frame_->mask);
  Value rest =
      otherwise != nullptr ? to_memory(otherwise, load.type) : llvm::PoisonValue::get(type);
  Address address;
  if (!decompose(load.buffer, load.indices, address)) {
    Value pointers = lane_pointers(load.buffer, load.indices);
    return from_memory(builder_.CreateMaskedGather(type, pointers, alignment, mask, rest),
                       load.type);
  }
  if (address.lane_stride == 1) {
    Value from = pointer(load.buffer, address);
    Value value = mask == nullptr
                      ? llvm::cast<llvm::Value>(builder_.CreateAlignedLoad(type, from, alignment))
                      : builder_.CreateMaskedLoad(type, from, alignment, mask, rest);
    return from_memory(value, load.type);
  }
  if (mask != nullptr && address.lane_stride == 0) {
    Value lanes = load_for_any(load, address, mask);
    return otherwise == nullptr ? lanes : builder_.CreateSelect(mask, lanes, otherwise);
  }
  if (mask != nullptr) {
    Value pointers = strided_pointers(load.buffer, address, load.type.lanes);
    return from_memory(builder_.CreateMaskedGather(type, pointers, alignment, mask, rest),
                       load.type);
  }
  if (address.lane_stride == 0) {
    Value one = builder_.CreateAlignedLoad(element, pointer(load.buffer, address), alignment);
    return from_memory(builder_.CreateVectorSplat(load.type.lanes, one), load.type);
  }
  Value lanes = llvm::PoisonValue::get(type);
  for (unsigned k = 0; k < load.type.lanes; ++k) {
    Value from = pointer(load.buffer, address.at_lane(k));
    Value one = builder_.CreateAlignedLoad(element, from, alignment);
    lanes = builder_.CreateInsertElement(lanes, one, uint64_t{k});
  }
  return from_memory(lanes, load.type);
}

}  // namespace tilewright::codegen
