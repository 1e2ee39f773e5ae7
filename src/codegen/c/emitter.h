// CEmitter: one loop-IR function -> functions of a C source. Internal to this folder.
//
//   SYMBOL(call)        loads the pointers of the call and calls
//   SYMBOL_body(...)    which takes them as restrict parameters; each Parallel loop in it
//   SYMBOL_task0(...)   becomes a function of one iteration, handed to tilewright_parallel_for
//
// Expressions have no effects, so a value is text that may stand wherever its operands do not
// change: a statement evaluates all it reads before it writes. What is used more than once, or
// grows long, is bound to a constant first.
//
// Laziness. Arms of a Select that could fault are written inside a branch (scalar condition) or
// under `mask` (vector condition), which loads and divisions heed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "arith/interval.h"
#include "base/result.h"
#include "codegen/c/helpers.h"
#include "codegen/workspace.h"
#include "ir/stmt.h"
#include "target/target.h"

namespace tilewright::codegen {

// How tightly C text binds: an Atom may stand anywhere but before a subscript.
enum class Level : uint8_t { Atom, Product, Sum };

struct Piece {
  std::string text;
  Level level = Level::Atom;
};

struct CValue {
  ir::Type type;
  std::vector<Piece> pieces;                   // as pieces_of says; one for a scalar
  int mask_bytes = 0;                          // of a Bool vector: the size of its lanes
  arith::Interval range = arith::kEverything;  // of a scalar I64
};

class CEmitter {
 public:
  CEmitter(const ir::Function& function, const Target& target, const WorkspacePlan& plan,
           std::string symbol, Helpers& helpers);

  Result<std::string> emit();  // the definitions, that of SYMBOL last
  bool is_parallel() const { return tasks_ > 0; }

 private:
  // The lanes of a vector Select arm that are taken; declared if the arm turns out to use it.
  struct Mask {
    CValue value;
    bool used = false;
  };
  // The state of one C function.
  struct Frame {
    std::string text;
    size_t depth = 1;                       // of indentation
    std::unordered_set<std::string> names;  // taken
    std::vector<std::string> block_names;   // those of the blocks around, outermost first
    std::unordered_map<ir::VarId, CValue> vars;
    std::vector<std::string> buffers;  // the pointer, by BufferId; empty: not here
    std::unordered_map<ir::BufferId, CValue> registers;
    std::vector<std::pair<const ir::Node*, CValue>> shared;  // values of shared nodes; a stack
    std::optional<Mask> mask;                                // of the arm being written
    int temporaries = 0;
    bool is_task = false;
    bool uses_workspace = false;
  };
  // What a parallel loop takes along: a field of its context, the value that goes there, and the
  // variable of the task that holds it.
  struct Captured {
    std::string field;
    std::string value;
    std::string name;
    std::string local;
  };
  // The flat index of an access: that of its first lane, and what each further lane adds.
  struct LaneIndex {
    ir::Expr base;
    int64_t stride = 0;
  };

  // emit_function.cc
  std::string finish_body(const Frame& frame);
  void line(std::string_view text);
  std::string fresh(std::string_view name);
  std::string parameter_of(ir::BufferId id, const std::string& name, bool restricted) const;
  CValue unsupported(const std::string& what, ir::Type type);

  // emit_stmt.cc
  void emit(const ir::Stmt& stmt);
  void emit_block(const ir::Stmt& stmt);
  void emit_for(const ir::For& loop);
  void emit_if(const ir::If& branch);
  void emit_let(const ir::Let& let);
  void emit_store(const ir::Store& store);
  void emit_transpose(const ir::Transpose& transpose);
  void emit_prefetch(const ir::Prefetch& prefetch);
  void emit_allocate(const ir::Allocate& allocate);
  void declare_register(ir::BufferId id);
  std::string place_of(ir::BufferId id);

  // emit_parallel.cc
  void emit_parallel(const ir::For& loop);
  std::vector<Captured> emit_task(const ir::For& loop, const std::string& task,
                                  const arith::Interval& count);
  std::vector<Captured> capture(const ir::Stmt& body, const Frame& outer, Frame& inner);
  void finish_task(const std::string& task, const std::string& index, const std::string& body,
                   const std::vector<Captured>& captured);

  // emit_expr.cc
  CValue emit(const ir::Expr& expr);
  CValue emit_node(const ir::Expr& expr);
  CValue emit_select(const ir::Select& select);
  CValue emit_branches(const std::string& condition, ir::Type type,
                       const std::function<CValue()>& if_true,
                       const std::function<CValue()>& if_false);
  CValue emit_masked(const CValue& mask, const std::function<CValue()>& arm);
  const CValue& used_mask();
  std::pair<std::string, CValue> captured(const std::function<CValue()>& arm);
  CValue emit_uniform(const ir::Expr& scalar);
  CValue emit_reduce(const ir::VectorReduce& reduce);
  CValue emit_call(const ir::Call& call);
  CValue emit_ramp(const ir::Ramp& ramp);
  CValue emit_broadcast(const CValue& scalar, unsigned lanes);
  void count_uses(const ir::Expr& expr);
  void forget_shared(size_t size) { frame_->shared.resize(size); }
  bool may_fault(const ir::Expr& expr);

  // emit_dot.cc
  CValue emit_dot(const ir::Dot& dot);
  std::string lanes_in_memory(const ir::Expr& vector);

  // emit_value.cc
  std::vector<unsigned> lanes_of(ir::Type type) const { return pieces_of(type.lanes, limit_); }
  CType piece_type(const CValue& value, size_t piece) const;
  CValue bound(CValue value);                      // each piece a name or a constant
  CValue declared(ir::Type type, int mask_bytes);  // new variables without a value
  void assign(const CValue& to, const CValue& from);
  std::string lane(const CValue& bound_value, unsigned k) const;
  CValue as_mask(const CValue& value, int bytes);
  CValue both(const CValue& mask, const CValue& other);
  CValue negated(const CValue& mask);
  std::string any(const CValue& mask);
  std::string call(std::string_view helper, CType type, std::vector<std::string> arguments,
                   CType result = kNoType);
  CValue map(ir::Type type, const CValue& like, const std::function<Piece(size_t, CType)>& make);

  // emit_arithmetic.cc
  CValue emit_binary(const ir::Binary& binary);
  CValue emit_index_arithmetic(ir::BinaryOp op, const CValue& a, const CValue& b);
  CValue divide(const ir::Binary& binary);
  CValue compare(ir::BinaryOp op, CValue a, CValue b);
  Piece combine(ir::BinaryOp op, CType type, const Piece& a, const Piece& b);

  // emit_cast.cc
  CValue cast(const CValue& value, ir::Scalar to);
  CValue from_bool(const CValue& value, ir::Scalar to);
  CValue narrow_float(const CValue& value, ir::Scalar to);
  CValue convert(const CValue& value, ir::Scalar to, std::string_view helper = {});

  // emit_memory.cc
  CValue load(const ir::Load& load);
  CValue load_lanes(const ir::Load& load, const std::string& buffer);
  void store_lanes(const ir::Store& store, const std::string& buffer);
  std::optional<LaneIndex> lane_index(const ir::Expr& index);
  std::optional<LaneIndex> lane_index(ir::BufferId buffer, const std::vector<ir::Expr>& indices);
  CValue lane_offsets(ir::BufferId buffer, const std::vector<ir::Expr>& indices);
  std::string pointer(ir::BufferId buffer);

  const ir::Function& function_;
  const WorkspacePlan& plan_;
  const std::string symbol_;
  Helpers& helpers_;
  unsigned limit_ = 1;  // lanes of a piece
  Frame* frame_ = nullptr;
  std::string tasks_text_;
  int tasks_ = 0;
  std::unordered_map<const ir::Node*, int> uses_;     // within the statement
  std::unordered_map<const ir::Node*, bool> faults_;  // what may_fault said
  std::vector<ir::Expr> kept_;                        // made here; the maps above know them
  std::string error_;
};

// The text with parentheses unless it binds at least as tightly as `most`.
std::string at_most(const Piece& piece, Level most);
// Whether the text has that name as a word of its own.
bool has_word(std::string_view text, std::string_view name);
// The text without the parentheses around all of it, if it has them.
std::string bare(const std::string& text);

}  // namespace tilewright::codegen
