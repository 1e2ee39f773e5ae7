#include "codegen/llvm/stores.h"

#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/transposed.h"
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

void Stores::fence_streams() {
  if (emission_.streams) builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

void Stores::emit_store(const ir::Store& store) {
  const auto plain = [&] {
    Value value = exprs_.emit_observed(store.predicate, store.value);
    store_lanes(store, value);
  };
  if (!store.predicate.defined() || store.predicate.type().is_vector()) return plain();
  frame_.branch(exprs_.emit(store.predicate), plain, nullptr);
}

void Stores::store_lanes(const ir::Store& store, Value value) {
  const ir::Buffer& buffer = emission_.function.buffers[store.buffer];
  const ir::Type type = store.value.type();
  const bool masked =
      type.is_vector() && store.predicate.defined() && !emission_.under_one_mask[store.buffer];
  Value mask = masked ? partial(exprs_.emit(store.predicate)) : nullptr;
  Address address;
  const bool even = exprs_.addresses().decompose(store.buffer, store.indices, address);
  const bool whole_element = buffer.element.is_vector() || !type.is_vector();
  if (whole_element) return store_element(store, address, value, mask);
  if (even && address.lane_stride == 1) return store_contiguous(store, address, value, mask);
  const llvm::Align alignment(static_cast<uint64_t>(ir::bytes_of(type.scalar)));
  Value lanes = exprs_.casts().to_memory(value, type);
  Value pointers = nullptr;
  if (!even) {
    pointers = exprs_.addresses().lane_pointers(store.buffer, store.indices);
  } else if (mask != nullptr) {
    pointers = exprs_.addresses().strided_pointers(store.buffer, address, type.lanes);
  }
  if (mask != nullptr) {
    builder_.CreateMaskedScatter(lanes, pointers, alignment, mask);
    return;
  }
  for (unsigned k = 0; k < type.lanes; ++k) {
    Value to = even ? exprs_.addresses().pointer(store.buffer, address.at_lane(k))
                    : builder_.CreateExtractElement(pointers, uint64_t{k});
    builder_.CreateAlignedStore(builder_.CreateExtractElement(lanes, uint64_t{k}), to, alignment);
  }
}

// A scalar, or the whole element of a Register buffer.
void Stores::store_element(const ir::Store& store, const Address& address, Value value,
                           Value mask) {
  const ir::Buffer& buffer = emission_.function.buffers[store.buffer];
  const ir::Type type = store.value.type();
  Value to = exprs_.addresses().pointer(store.buffer, address);
  const bool promoted = buffer.scope == ir::Scope::Register && buffer.elements() == 1;
  Value stored = promoted ? value : exprs_.casts().to_memory(value, type);
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

void Stores::store_contiguous(const ir::Store& store, const Address& address, Value value,
                              Value mask) {
  const ir::Type type = store.value.type();
  const int element_bytes = ir::bytes_of(type.scalar);
  const llvm::Align alignment(static_cast<uint64_t>(element_bytes));
  Value lanes = exprs_.casts().to_memory(value, type);
  Value to = exprs_.addresses().pointer(store.buffer, address);
  if (mask != nullptr) {
    builder_.CreateMaskedStore(lanes, to, alignment, mask);
    return;
  }
  const int64_t bytes = int64_t{element_bytes} * type.lanes;
  const bool one_register = bytes == 16 || bytes == 32 || bytes == 64;
  if (!store.stream || !one_register ||
      exprs_.addresses().alignment_of(store.buffer, address) % bytes != 0) {
    builder_.CreateAlignedStore(lanes, to, alignment);
    return;
  }
  auto* streamed =
      builder_.CreateAlignedStore(lanes, to, llvm::Align(static_cast<uint64_t>(bytes)));
  auto* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
  streamed->setMetadata(llvm::LLVMContext::MD_nontemporal,
                        llvm::MDNode::get(emission_.context, one));
}

void Stores::emit_prefetch(const ir::Prefetch& prefetch) {
  Address address;
  exprs_.addresses().decompose(prefetch.buffer, prefetch.indices, address);
  constexpr int kRead = 0, kEveryCache = 3, kData = 1;
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
      {exprs_.addresses().pointer(prefetch.buffer, address), builder_.getInt32(kRead),
       builder_.getInt32(kEveryCache), builder_.getInt32(kData)});
}

void Stores::emit_transpose(const ir::Transpose& transpose) {
  const ir::Type element = emission_.function.buffers[transpose.to.buffer].element;
  const auto n = static_cast<size_t>(transpose.size);
  llvm::Type* type = types_.memory_type(element.with_lanes(static_cast<uint16_t>(n)));
  const llvm::Align alignment(static_cast<uint64_t>(ir::bytes_of(element.scalar)));
  const auto row_pointer = [&](const ir::Square& square, size_t row) {
    Address address;
    exprs_.addresses().decompose(square.buffer, {square.index}, address);
    address.constant += static_cast<int64_t>(row) * square.stride;
    return exprs_.addresses().pointer(square.buffer, address);
  };
  std::vector<Value> rows;
  rows.reserve(n);
  for (size_t k = 0; k < n; ++k) {
    rows.push_back(builder_.CreateAlignedLoad(type, row_pointer(transpose.from, k), alignment));
  }
  rows = transposed(builder_, std::move(rows));
  for (size_t k = 0; k < n; ++k) {
    builder_.CreateAlignedStore(rows[k], row_pointer(transpose.to, k), alignment);
  }
}

}  // namespace tilewright::codegen
