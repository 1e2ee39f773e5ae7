// Frame: the state of one LLVM function while it is emitted, and its control flow.
//
// Code is emitted in the order of the statements into nested levels: one for the function, a loop
// body, a branch, a Let. What was emitted at a level dominates all that follows within it, so
// values may be kept there for reuse.
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
    int64_t multiple = 1;  // that the value is certainly one of
  };
  struct Level {
    llvm::BasicBlock* before = nullptr;  // the block that leads into this level, if it is another
    llvm::PHINode* counter = nullptr;    // of a loop: 0, 1, ...
    std::vector<std::pair<llvm::PHINode*, int64_t>> moving;  // pointers of a loop: bytes a step
    std::map<std::vector<int64_t>, Value> kept;
  };

  // Begins the function: the next instruction is its first.
  Frame(Emission& emission, llvm::Function* made);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() = default;

  void finish();  // register buffers become SSA values

  void enter_level(llvm::BasicBlock* block);  // null: within the block at hand
  void leave_level();
  void bind(ir::VarId var, Value value, int64_t multiple, const std::function<void()>& body);
  // Emits at the end of an enclosing level, before the jump into the level within.
  Value at_level(size_t level, const std::function<Value()>& make);
  size_t level_of(const ir::Expr& expr) const;      // the innermost that binds a variable of it
  int64_t multiple_of(const ir::Expr& expr) const;  // the index is one of it; 0 for the index 0
  // A pointer that is `start` in the first iteration of the loop of a level and moves on each time.
  Value moving_pointer(size_t level, Value start, int64_t bytes);
  llvm::AllocaInst* entry_alloca(llvm::Type* type, int64_t count, unsigned alignment);

  //   before -> loop: k = phi(0, k + 1); body; if k + 1 < extent goto loop -> after
  void counted_loop(Value extent, bool may_be_empty, const std::function<void(Value)>& body);
  void branch(Value condition, const std::function<void()>& then_body,
              const std::function<void()>& else_body);  // null: there is none
  Value choose(Value condition, llvm::Type* type, const std::function<Value()>& if_true,
               const std::function<Value()>& if_false);

  llvm::Function* function;
  llvm::BasicBlock* entry;     // allocas only, then a jump
  std::vector<Value> buffers;  // pointer to the first element, by BufferId; null: not at hand
  llvm::DenseMap<ir::VarId, Bound> vars;
  std::vector<Level> levels;
  // Register and Stack buffers: one slot each, however many copies of their Allocate there are, so
  // that an address computed once holds for all of them.
  llvm::DenseMap<ir::BufferId, llvm::AllocaInst*> slots;
  std::vector<llvm::AllocaInst*> registers;
  Value workspace = nullptr;
  Value worker = nullptr;   // i64
  Value pool = nullptr;     // of the body only
  Value threads = nullptr;  // of the body only

 private:
  llvm::IRBuilder<>& builder() { return emission_.builder; }
  Emission& emission_;
};

}  // namespace tilewright::codegen
