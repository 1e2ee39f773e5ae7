// CExprEmitter: emits expressions of one C function as values. A node that occurs several times in
// a statement is emitted once.
//
// Arms of a Select that could fault are emitted inside a branch (scalar condition) or under a mask
// (vector condition), which loads and divisions respect.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/c/c_casts.h"
#include "codegen/c/c_emission.h"

namespace tilewright::codegen {

// The flat index of an access: that of its first lane, and the stride between lanes.
struct LaneIndex {
  ir::Expr base;
  int64_t stride = 0;
};
// The index `offset` elements further on.
Piece plus(const Piece& base, int64_t offset);
// A pointer to an element. The address is a single sum, because an intermediate pointer must not
// leave its buffer.
std::string address(const std::string& buffer, const Piece& index);

class CExprEmitter {
 public:
  CExprEmitter(CEmission& emission, CFrame& frame)
      : emission_(emission),
        frame_(frame),
        values_(frame.text, emission.helpers, emission.limit),
        arithmetic_(values_),
        casts_(values_, arithmetic_),
        faults_(emission.function) {}

  // Drops shared values, because a statement may change what they loaded. The expressions of a
  // statement are counted before the first is emitted.
  void begin_statement();
  void count_uses(const ir::Expr& expr);
  CValue emit(const ir::Expr& expr);
  void keep(const ir::Expr& made) {
    kept_.push_back(made);
  }  // owned by the caller, which keeps it while values refer to it

  std::string pointer(ir::BufferId buffer);  // its name in this function
  std::optional<LaneIndex> lane_index(ir::BufferId buffer, const std::vector<ir::Expr>& indices);
  struct Lanes {
    std::optional<LaneIndex> index = {};  // empty: not evenly spaced
    CValue base = {};                     // of the first lane, or of each lane
  };
  Lanes lanes_under(const std::optional<CValue>& mask, ir::BufferId buffer,
                    const std::vector<ir::Expr>& indices);
  CValue unsupported(const std::string& what, ir::Type type);

  CValues& values() { return values_; }
  CCasts& casts() { return casts_; }

 private:
  // The active lanes of a vector Select arm; declared only if the arm uses it.
  struct Mask {
    CValue value;
    bool used = false;
  };

  CValue emit_node(const ir::Expr& expr);
  CValue emit_binary(const ir::Binary& binary);
  CValue emit_divide(const ir::Binary& binary);
  CValue emit_select(const ir::Select& select);
  CValue emit_branches(const std::string& condition, ir::Type type,
                       const std::function<CValue()>& if_true,
                       const std::function<CValue()>& if_false);
  CValue emit_masked(const CValue& mask, const std::function<CValue()>& arm);
  const CValue& used_mask();
  std::pair<std::string, CValue> captured(const std::function<CValue()>& arm);
  CValue emit_uniform(const ir::Expr& scalar);
  CValue emit_reduce(const ir::VectorReduce& reduce);
  CValue emit_call(const ir::Call& node);
  CValue emit_ramp(const ir::Ramp& ramp);
  CValue emit_dot(const ir::Dot& dot);
  std::string lanes_in_memory(const ir::Expr& vector);
  CValue load(const ir::Load& load);
  CValue load_lanes(const ir::Load& load, const std::string& buffer);
  std::optional<LaneIndex> lane_index(const ir::Expr& index);
  CValue lane_offsets(ir::BufferId buffer, const std::vector<ir::Expr>& indices);

  CEmission& emission_;
  CFrame& frame_;
  CValues values_;
  CArithmetic arithmetic_;
  CCasts casts_;
  Faults faults_;
  std::vector<std::pair<const ir::Node*, CValue>> shared_;  // values of shared nodes; a stack
  std::optional<Mask> mask_;                                // of the current arm
  std::unordered_map<const ir::Node*, int> uses_;           // within the statement
  std::vector<ir::Expr> kept_;  // created here and referenced by the maps above
};

}  // namespace tilewright::codegen
