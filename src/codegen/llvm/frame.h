// Frame: the state of one LLVM function during emission, and its control flow.
//
// Code is emitted in statement order into nested levels: the function, a loop body, a branch, a
// Let. Code emitted at a level dominates everything that follows within it, so values can be cached
// there.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "codegen/llvm/emission.h"
#include "ir/stmt.h"

namespace tilewright::codegen {

struct Frame {
  struct Bound {
    Value value = nullptr;
    size_t level = 0;
    int64_t multiple = 1;  // the value is known to be a multiple of this
  };
  struct Level {
    // The predecessor block of this level, if it is another block.
    llvm::BasicBlock* before = nullptr;
    llvm::PHINode* counter = nullptr;  // loop: counts 0, 1, ...
    // Pointers incremented by the loop, with the bytes per step.
    std::vector<std::pair<llvm::PHINode*, int64_t>> moving;
    std::map<std::vector<int64_t>, Value> kept;
  };

  // Starts the function: the next instruction is its first.
  Frame(Emission& emission, llvm::Function* made);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() = default;

  void finish();  // promotes register buffers to SSA values

  void enter_level(llvm::BasicBlock* block);  // null: stay in the current block
  void leave_level();
  void bind(ir::VarId var, Value value, int64_t multiple, const std::function<void()>& body);
  // Emits at the end of an enclosing level, before the branch into the level inside it.
  Value at_level(size_t level, const std::function<Value()>& make);
  size_t level_of(const ir::Expr& expr) const;  // the innermost level that binds a variable of it
  int64_t multiple_of(const ir::Expr& expr) const;  // a divisor of the index; 0 for the index 0
  // A pointer that is `start` in the first iteration of the loop of a level and is incremented in
  // each iteration.
  Value moving_pointer(size_t level, Value start, int64_t bytes);
  llvm::AllocaInst* entry_alloca(llvm::Type* type, int64_t count, unsigned alignment);

  //   before -> loop: k = phi(0, k + 1); body; if k + 1 < extent goto loop -> after
  void counted_loop(Value extent, bool may_be_empty, const std::function<void(Value)>& body);
  void branch(Value condition, const std::function<void()>& then_body,
              const std::function<void()>& else_body);  // null: no else branch
  Value choose(Value condition, llvm::Type* type, const std::function<Value()>& if_true,
               const std::function<Value()>& if_false);

  llvm::Function* function;
  llvm::BasicBlock* entry;     // only allocas, then a branch
  std::vector<Value> buffers;  // pointer to the first element, by BufferId; null: not available
  llvm::DenseMap<ir::VarId, Bound> vars;
  std::vector<Level> levels;
  // Register and Stack buffers: one slot each, shared by all copies of their Allocate, so that a
  // computed address is valid for all of them.
  llvm::DenseMap<ir::BufferId, llvm::AllocaInst*> slots;
  std::vector<llvm::AllocaInst*> registers;
  Value workspace = nullptr;
  Value worker = nullptr;   // i64
  Value pool = nullptr;     // only in the kernel body
  Value threads = nullptr;  // only in the kernel body

 private:
  llvm::IRBuilder<>& builder() { return emission_.builder; }
  Emission& emission_;
};

}  // namespace tilewright::codegen
