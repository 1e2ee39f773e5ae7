// Stores: emits stores, prefetches and transposed squares of one function.
//
//   scalar, predicated     if (p) store
//   contiguous             store, masked store; non-temporal if requested and aligned
//   other vectors          one store per lane, or a masked scatter
//   register, predicated   held = select(p, value, held)
#pragma once

#include "codegen/llvm/expr_emitter.h"

namespace tilewright::codegen {

bool has_stream_stores(const ir::Stmt& stmt);

class Stores {
 public:
  Stores(Emission& emission, Frame& frame, ExprEmitter& exprs)
      : emission_(emission),
        builder_(emission.builder),
        types_(emission.types),
        frame_(frame),
        exprs_(exprs) {}

  void emit_store(const ir::Store& store);
  void emit_prefetch(const ir::Prefetch& prefetch);
  void emit_transpose(const ir::Transpose& transpose);
  void fence_streams();  // non-temporal stores are ordered only by a fence

 private:
  void store_lanes(const ir::Store& store, Value value);
  void store_element(const ir::Store& store, const Address& address, Value value, Value mask);
  void store_contiguous(const ir::Store& store, const Address& address, Value value, Value mask);

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  const Types& types_;
  Frame& frame_;
  ExprEmitter& exprs_;
};

}  // namespace tilewright::codegen
