// StmtEmitter: emits statements of one function: loops, branches, bindings, allocations. Parallel
// loops:
//
//   parallel for i < n: body      context = { captured variables and pointers };
//                                 if (tilewright_parallel_for(pool, threads, n, task, &context))
//                                   return TILEWRIGHT_STATUS_PARALLEL_FAILED;
//
//   task(context, i, worker):     body, with captured values loaded from the context
#pragma once

#include <vector>

#include "codegen/llvm/expr_emitter.h"
#include "codegen/llvm/stores.h"

namespace tilewright::codegen {

class StmtEmitter {
 public:
  StmtEmitter(Emission& emission, Frame& frame)
      : emission_(emission),
        builder_(emission.builder),
        types_(emission.types),
        frame_(frame),
        exprs_(emission, frame),
        stores_(emission, frame, exprs_) {}

  void emit(const ir::Stmt& stmt);
  void fence_streams() { stores_.fence_streams(); }  // at the end of the function

 private:
  void emit_for(const ir::For& loop);
  void emit_if(const ir::If& branch);
  void emit_let(const ir::Let& let);
  void emit_allocate(const ir::Allocate& allocate);
  void emit_parallel(const ir::For& loop);
  llvm::Function* emit_task(const ir::For& loop, llvm::StructType* context,
                            const std::vector<ir::VarId>& vars,
                            const std::vector<ir::BufferId>& buffers);

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  const Types& types_;
  Frame& frame_;
  ExprEmitter exprs_;
  Stores stores_;
};

}  // namespace tilewright::codegen
