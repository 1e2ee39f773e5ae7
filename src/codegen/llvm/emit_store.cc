// Stores and prefetches.
//
//   scalar, predicated     if (p) store
//   contiguous             store, masked store; past the caches if wished and aligned
//   other vectors          a store a lane, or a masked scatter
//   register, predicated   held = select(p, value, held)
#include <llvm/IR/IntrinsicsX86.h>

#include <numeric>

#include "codegen/llvm/emitter.h"
#include "ir/visit.h"

namespace tilewright::codegen {
namespace {

class StreamFinder : public ir::Visitor {
 public:
  bool found = false;
  void visit(const ir::Expr&) override {}
  void visit(const ir::Stmt& stmt) override {
    const auto* store = stmt.as<ir::Store>();
    found = found || (store != nullptr && store->stream);
    if (!found) Visitor::visit(stmt);
  }
};

}  // namespace

bool has_stream_stores(const ir::Stmt& stmt) {
  StreamFinder finder;
  if (stmt.defined()) finder.visit(stmt);
  return finder.found;
}

// Stores past the caches are ordered by a fence only.
void Emitter::fence_streams() {
  if (streams_) builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

void Emitter::emit_store(const ir::Store& store) {
  const auto plain = [&] {
    Value value = emit_observed(store.predicate, store.value);
    store_lanes(store, value);
  };
  if (!store.predicate.defined() || store.predicate.type().is_vector()) return plain();
  emit_branch(emit(store.predicate), plain, nullptr);
}

void Emitter::store_lanes(const ir::Store& store, Value value) {
  const ir::Buffer& buffer = function_.buffers[store.buffer];
  const ir::Type type = store.value.type();
  const bool masked =
      type.is_vector() && store.predicate.defined() && !under_one_mask_[store.buffer];
  Value mask = masked ? partial(emit(store.predicate)) : nullptr;
  Address address;
  const bool even = decompose(store.buffer, store.indices, address);
  const bool whole_element = buffer.element.is_vector() || !type.is_vector();
  if (whole_element) return store_element(store, address, value, mask);
  if (even && address.lane_stride == 1) return store_contiguous(store, address, value, mask);
  const llvm::Align alignment(static_cast<uint64_t>(ir::bytes_of(type.scalar)));
  Value lanes = to_memory(value, type);
  Value pointers = nullptr;
  if (!even) {
    pointers = lane_pointers(store.buffer, store.indices);
  } else if (mask != nullptr) {
    pointers = strided_pointers(store.buffer, address, type.lanes);
  }
  if (mask != nullptr) {
    builder_.CreateMaskedScatter(lanes, pointers, alignment, mask);
    return;
  }
  for (unsigned k = 0; k < type.lanes; ++k) {
    Value to = even ? pointer(store.buffer, address.at_lane(k))
                    : builder_.CreateExtractElement(pointers, uint64_t{k});
    builder_.CreateAlignedStore(builder_.CreateExtractElement(lanes, uint64_t{k}), to, alignment);
  }
}

// A scalar, or the whole element of a Register buffer.
void Emitter::store_element(const ir::Store& store, const Address& address, Value value,
                            Value mask) {
  const ir::Buffer& buffer = function_.buffers[store.buffer];
  const ir::Type type = store.value.type();
  Value to = pointer(store.buffer, address);
  const bool promoted = buffer.scope == ir::Scope::Register && buffer.elements() == 1;
  Value stored = promoted ? value : to_memory(value, type);
  if (mask != nullptr) {
    stored = builder_.CreateSelect(mask, stored, builder_.CreateLoad(stored->getType(), to));
  }
  if (promoted) {
    builder_.CreateStore(stored, to);
  } else {
    const llvm::Align alignment(static_cast<uint64_t>(ir::bytes_of(type.scalar)));
    builder_.CreateAlignedStore(stored, to, alignment);
  }
}

void Emitter::store_contiguous(const ir::Store& store, const Address& address, Value value,
                               Value mask) {
  const ir::Type type = store.value.type();
  const int element_bytes = ir::bytes_of(type.scalar);
  const llvm::Align alignment(static_cast<uint64_t>(element_bytes));
  Value lanes = to_memory(value, type);
  Value to = pointer(store.buffer, address);
  if (mask != nullptr) {
    builder_.CreateMaskedStore(lanes, to, alignment, mask);
    return;
  }
  const int64_t bytes = int64_t{element_bytes} * type.lanes;
  const bool one_register = bytes == 16 || bytes == 32 || bytes == 64;
  if (!store.stream || !one_register || alignment_of(store.buffer, address) % bytes != 0) {
    builder_.CreateAlignedStore(lanes, to, alignment);
    return;
  }
  auto* streamed =
      builder_.CreateAlignedStore(lanes, to, llvm::Align(static_cast<uint64_t>(bytes)));
  auto* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
  streamed->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context_, one));
}

// A number that the address in bytes is certainly a multiple of.
int64_t Emitter::alignment_of(ir::BufferId id, const Address& address) const {
  const ir::Buffer& buffer = function_.buffers[id];
  const int64_t element_bytes = ir::bytes_of(buffer.element.scalar);
  int64_t multiple = std::gcd(int64_t{buffer.alignment}, address.constant * element_bytes);
  for (const Address::Term& term : address.terms) {
    multiple = std::gcd(multiple, term.coefficient * element_bytes * multiple_of(term.atom));
  }
  return multiple;
}

// A number that an index is certainly a multiple of; 0 for the index 0.
int64_t Emitter::multiple_of(const ir::Expr& expr) const {
  if (const int64_t* value = ir::as_int(expr)) return *value;
  if (const auto* var = expr.as<ir::Var>()) {
    const auto found = frame_->vars.find(var->id);
    return found == frame_->vars.end() ? 1 : found->second.multiple;
  }
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr) return 1;
  switch (binary->op) {
    case ir::BinaryOp::Add:
    case ir::BinaryOp::Sub:
    case ir::BinaryOp::Min:
    case ir::BinaryOp::Max:
      return std::gcd(multiple_of(binary->a), multiple_of(binary->b));
    case ir::BinaryOp::Mul:
      return multiple_of(binary->a) * multiple_of(binary->b);
    default:
      return 1;
  }
}

void Emitter::emit_prefetch(const ir::Prefetch& prefetch) {
  Address address;
  decompose(prefetch.buffer, prefetch.indices, address);
  constexpr int kRead = 0, kEveryCache = 3, kData = 1;
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
                           {pointer(prefetch.buffer, address), builder_.getInt32(kRead),
                            builder_.getInt32(kEveryCache), builder_.getInt32(kData)});
}

}  // namespace tilewright::codegen
