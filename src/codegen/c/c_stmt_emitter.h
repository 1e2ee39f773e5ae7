// CStmtEmitter: emits statements of one C function: loops, branches, bindings, stores, allocations.
// Parallel loops:
//
//   parallel for i < n: body      struct SYMBOL_task0_context context = {captured values};
//                                 if (tilewright_parallel_for(pool, threads, n, SYMBOL_task0,
//                                                             &context) != 0)
//                                   return TILEWRIGHT_STATUS_PARALLEL_FAILED;
//
//   SYMBOL_task0(context, i, worker):   body, with captured values read from the context
#pragma once

#include <string>
#include <vector>

#include "codegen/c/c_expr_emitter.h"

namespace tilewright::codegen {

// The declaration of a pointer to the first element of an argument or an allocated buffer.
std::string parameter_of(const CEmission& emission, ir::BufferId id, const std::string& name,
                         bool restricted);

class CStmtEmitter {
 public:
  CStmtEmitter(CEmission& emission, CFrame& frame)
      : emission_(emission), frame_(frame), exprs_(emission, frame), values_(exprs_.values()) {}

  void emit(const ir::Stmt& stmt);

 private:
  // A value captured by a parallel loop: a field of its context, the value stored there, and the
  // variable of the task that holds it.
  struct Captured {
    std::string field;
    std::string value;
    std::string name;
    std::string local;
  };

  void emit_block(const ir::Stmt& stmt);
  void emit_for(const ir::For& loop);
  void emit_if(const ir::If& branch);
  void emit_let(const ir::Let& let);
  void emit_store(const ir::Store& store);
  void store_lanes(const ir::Store& store, const std::string& buffer);
  void emit_transpose(const ir::Transpose& transpose);
  void emit_prefetch(const ir::Prefetch& prefetch);
  void emit_allocate(const ir::Allocate& allocate);
  void declare_register(ir::BufferId id);
  std::string place_of(ir::BufferId id);
  void emit_parallel(const ir::For& loop);
  std::vector<Captured> emit_task(const ir::For& loop, const std::string& task,
                                  const arith::Interval& count);
  std::vector<Captured> capture(const ir::Stmt& body, CFrame& inner);
  void finish_task(const std::string& task, const std::string& index, const std::string& body,
                   const std::vector<Captured>& captured);

  CEmission& emission_;
  CFrame& frame_;
  CExprEmitter exprs_;
  CValues& values_;
};

}  // namespace tilewright::codegen
