// Emitter: one loop-IR function -> functions of an LLVM module. Internal to this folder.
//
//   kernel(call)      loads the pointers of the call and calls
//   kernel.body(...)  which takes each argument as a noalias parameter; each Parallel loop in it
//   kernel.task(...)  becomes a function of one iteration, handed to tilewright_parallel_for
//
// Values: F16 and BF16 are held as i16, Bool as i1; in memory Bool is a byte. Loads and stores
// promise the alignment of the element only: wider promises gain nothing on x86.
//
// Places. Code is emitted in the order of the statements into nested `Level`s: one for a function,
// a loop body, a branch, a Let. What was emitted at a level dominates all that follows within it,
// so values may be kept there for reuse. Addresses are sums of a part for each level, emitted at
// that level: loop-invariant parts leave their loops that way, without an LLVM pass. In the
// innermost loop a pointer moves along, unless its step is small enough for the processor to scale.
//
// Laziness. Arms of a Select that could fault are emitted under a branch (scalar condition) or
// under `mask` (vector condition), which loads and divisions heed.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codegen/workspace.h"
#include "ir/stmt.h"
#include "target/target.h"

namespace tilewright::codegen {

// A sum of coefficient * atom + constant, in elements, and what each further lane adds.
struct Address {
  struct Term {
    ir::Expr atom;  // a Var, or what is not affine
    int64_t coefficient = 0;
  };
  std::vector<Term> terms;
  int64_t constant = 0;
  int64_t lane_stride = 0;

  Address at_lane(unsigned lane) const;
};

bool has_stream_stores(const ir::Stmt& stmt);

class Emitter {
 public:
  Emitter(const ir::Function& function, const Target& target, const WorkspacePlan& plan,
          std::string symbol, llvm::Module& module);

  Status emit();
  double promote_ms() const { return promote_ms_; }  // CPU time within emit()

 private:
  using Value = llvm::Value*;

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
  // The state of one LLVM function.
  struct Frame {
    llvm::Function* function = nullptr;
    llvm::BasicBlock* entry = nullptr;  // allocas only, then a jump
    std::vector<Value> buffers;         // pointer to the first element, by BufferId
    llvm::DenseMap<ir::VarId, Bound> vars;
    std::vector<Level> levels;
    // Register and Stack buffers: one slot each, however many copies of their Allocate there are,
    // so that an address computed once holds for all of them.
    llvm::DenseMap<ir::BufferId, llvm::AllocaInst*> slots;
    std::vector<llvm::AllocaInst*> registers;
    std::vector<std::pair<const ir::Node*, Value>> shared;  // values of shared nodes; a stack
    llvm::DenseMap<const ir::Node*, Value> shared_values;
    Value mask = nullptr;  // of the vector Select arm being emitted
    ir::Expr observed;     // lanes of the value being emitted that are looked at; null: all
    Value workspace = nullptr;
    Value worker = nullptr;  // i64
    Value pool = nullptr;    // of the body only
    Value threads = nullptr;
  };

  // emitter.cc
  void emit_entry(llvm::Function* body);
  llvm::Function* declare_body();
  void set_attributes(llvm::Function* function) const;
  void begin_function(Frame& frame, llvm::Function* function);
  void finish_function();
  llvm::AllocaInst* entry_alloca(llvm::Type* type, int64_t count, unsigned alignment);
  Value unsupported(const std::string& what);

  // emit_stmt.cc
  void emit(const ir::Stmt& stmt);
  void emit_for(const ir::For& loop);
  void emit_if(const ir::If& branch);
  void emit_let(const ir::Let& let);
  void emit_branch(Value condition, const std::function<void()>& then_body,
                   const std::function<void()>& else_body);  // null: there is none
  void emit_allocate(const ir::Allocate& allocate);
  void emit_counted_loop(Value extent, bool may_be_empty, const std::function<void(Value)>& body);
  void bind(ir::VarId var, Value value, int64_t multiple, const std::function<void()>& body);
  void enter_level(llvm::BasicBlock* block);
  void leave_level();

  // emit_parallel.cc
  void emit_parallel(const ir::For& loop);
  llvm::Function* emit_task(const ir::For& loop, llvm::StructType* context,
                            const std::vector<ir::VarId>& vars,
                            const std::vector<ir::BufferId>& buffers);

  // emit_expr.cc
  Value emit(const ir::Expr& expr);
  Value emit_node(const ir::Expr& expr);
  Value emit_select(const ir::Select& select);
  Value emit_branches(Value condition, llvm::Type* type, const std::function<Value()>& if_true,
                      const std::function<Value()>& if_false);
  Value emit_masked(Value mask, const std::function<Value()>& arm);
  Value emit_apart(const std::function<Value()>& make);
  Value emit_observed(const ir::Expr& predicate, const ir::Expr& value);
  Value emit_uniform(const ir::Expr& scalar);
  Value emit_reduce(const ir::VectorReduce& reduce);
  Value emit_call(const ir::Call& call);
  void forget_shared(size_t size);

  // emit_arithmetic.cc
  Value emit_binary(const ir::Binary& binary);
  Value combine(ir::BinaryOp op, ir::Scalar type, Value a, Value b, bool b_is_number = false);
  Value compare(ir::BinaryOp op, ir::Scalar type, Value a, Value b);
  Value min_max(ir::BinaryOp op, ir::Scalar type, Value a, Value b, bool b_is_number);
  Value divide(const ir::Binary& binary);
  Value ldexp(ir::Scalar type, Value x, Value n);
  Value ldexp_f32(Value x, Value n);
  Value ldexp_f64(Value x, Value n);
  Value scalef(ir::Scalar type, Value x, Value n);

  // emit_dot.cc
  Value emit_dot(const ir::Dot& dot);

  // emit_cast.cc
  Value cast(Value value, ir::Type from, ir::Scalar to);
  Value float_to_f32_or_f64(Value value, ir::Scalar from, unsigned lanes);
  Value integer_to_float(Value value, ir::Type from, ir::Scalar to);
  Value narrow_float(Value value, ir::Scalar from, ir::Scalar to);
  Value f32_rounded_to_odd(Value f64);

  // emit_memory.cc
  Value load(const ir::Load& load, Value otherwise);
  Value load_lanes(const ir::Load& load, Value otherwise);
  Value load_for_any(const ir::Load& load, const Address& address, Value mask);
  static Value partial(Value mask);
  bool decompose(const ir::Expr& index, int64_t factor, Address& address);
  bool decompose(ir::BufferId buffer, const std::vector<ir::Expr>& indices, Address& address);
  void add_term(Address& address, const ir::Expr& atom, int64_t factor);
  Value pointer(ir::BufferId buffer, const Address& address);
  Value moving_pointer(size_t level, Value start, int64_t bytes);
  Value lane_pointers(ir::BufferId buffer, const std::vector<ir::Expr>& indices);
  Value strided_pointers(ir::BufferId buffer, const Address& address, unsigned lanes);
  Bound atom_value(const ir::Expr& atom);
  int64_t atom_key(const ir::Expr& atom);
  size_t level_of(const ir::Expr& expr) const;
  bool may_hoist(const ir::Expr& expr) const;
  bool may_fault(const ir::Expr& expr) const;
  Value at_level(size_t level, const std::function<Value()>& make);
  Value from_memory(Value value, ir::Type type);
  Value to_memory(Value value, ir::Type type);

  // emit_store.cc
  void emit_store(const ir::Store& store);
  void store_lanes(const ir::Store& store, Value value);
  void store_element(const ir::Store& store, const Address& address, Value value, Value mask);
  void store_contiguous(const ir::Store& store, const Address& address, Value value, Value mask);
  int64_t alignment_of(ir::BufferId buffer, const Address& address) const;
  int64_t multiple_of(const ir::Expr& expr) const;
  void emit_prefetch(const ir::Prefetch& prefetch);
  void fence_streams();

  // emit_transpose.cc
  void emit_transpose(const ir::Transpose& transpose);
  std::vector<Value> transposed(std::vector<Value> rows);

  // Types and constants.
  llvm::Type* scalar_type(ir::Scalar scalar) const;
  llvm::Type* value_type(ir::Type type) const;
  llvm::Type* memory_type(ir::Type type) const;
  llvm::Type* same_lanes(llvm::Type* element, Value like) const;
  llvm::Constant* index(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  Value number(llvm::Type* type, double value) { return llvm::ConstantFP::get(type, value); }
  Value integer(llvm::Type* type, int64_t value) {
    return llvm::ConstantInt::getSigned(type, value);
  }

  const ir::Function& function_;
  const Target& target_;
  const WorkspacePlan& plan_;
  const std::string symbol_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;
  Frame* frame_ = nullptr;
  std::vector<ir::Expr> atoms_;  // those that are not Vars, by their number
  llvm::DenseMap<const ir::Node*, int64_t> atom_numbers_;
  mutable llvm::DenseMap<const ir::Node*, bool> faults_;  // what may_fault said of shared nodes
  const bool streams_;                                    // somewhere in the function
  const std::vector<bool> under_one_mask_;                // by BufferId: register_masks.h
  int tasks_ = 0;
  double promote_ms_ = 0;
  std::string error_;
};

}  // namespace tilewright::codegen
