// ExprEmitter: emits expressions of one function as LLVM values. A node that is shared within a
// statement is emitted once.
//
// Arms of a Select that could fault are emitted under a branch (scalar condition) or under a mask
// (vector condition), which loads and divisions respect.
#pragma once

#include <llvm/ADT/DenseMap.h>

#include <functional>
#include <utility>
#include <vector>

#include "codegen/llvm/addresses.h"
#include "codegen/llvm/arithmetic.h"
#include "codegen/llvm/casts.h"

namespace tilewright::codegen {

class ExprEmitter : public ValueSource {
 public:
  ExprEmitter(Emission& emission, Frame& frame)
      : emission_(emission),
        builder_(emission.builder),
        types_(emission.types),
        frame_(frame),
        arithmetic_(builder_, types_, emission.target),
        casts_(builder_, types_),
        addresses_(emission, frame, *this) {}

  Value emit(const ir::Expr& expr) override;
  Value emit_uniform(const ir::Expr& scalar) override;
  Value emit_apart(const std::function<Value()>& make) override;
  // A value of which only the lanes where `predicate` holds are used; null: all lanes.
  Value emit_observed(const ir::Expr& predicate, const ir::Expr& value);
  // A statement may change what shared expressions loaded.
  void begin_statement() { forget_shared(0); }

  Addresses& addresses() { return addresses_; }
  Casts& casts() { return casts_; }

 private:
  Value emit_node(const ir::Expr& expr);
  Value emit_binary(const ir::Binary& binary);
  Value emit_divide(const ir::Binary& binary);
  Value emit_select(const ir::Select& select);
  Value emit_branches(Value condition, llvm::Type* type, const std::function<Value()>& if_true,
                      const std::function<Value()>& if_false);
  Value emit_masked(Value mask, const std::function<Value()>& arm);
  Value emit_reduce(const ir::VectorReduce& reduce);
  Value emit_call(const ir::Call& call);
  Value emit_dot(const ir::Dot& dot);
  Value load(const ir::Load& load, Value otherwise);
  Value load_lanes(const ir::Load& load, Value otherwise);
  Value load_for_any(const ir::Load& load, const Address& address, Value mask);
  void forget_shared(size_t size);

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  const Types& types_;
  Frame& frame_;
  Arithmetic arithmetic_;
  Casts casts_;
  Addresses addresses_;
  std::vector<std::pair<const ir::Node*, Value>> shared_;  // values of shared nodes; a stack
  llvm::DenseMap<const ir::Node*, Value> shared_values_;
  Value mask_ = nullptr;  // of the current vector Select arm
  ir::Expr observed_;     // predicate of the used lanes of the current value; null: all
};

// The mask if it may disable a lane; null if it does not.
Value partial(Value mask);

}  // namespace tilewright::codegen
