// The addresses of accesses. The index of an access is decomposed into a LinearSum and a stride
// between lanes. Terms go to the level where their atom is bound; the pointer of each level is the
// pointer of the level outside plus its terms, kept for reuse:
//
//   A[i * 512 + k + 3] in loops i, k:   level of i: p = A + i * 512
//                                       level of k: q = p + k;   here: load q[3]
//
// This hoists loop-invariant parts without an LLVM pass. In the innermost loop a pointer is
// incremented, unless its step is small enough for a scaled addressing mode.
#pragma once

#include <functional>
#include <vector>

#include "arith/linear_sum.h"
#include "codegen/llvm/frame.h"

namespace tilewright::codegen {

struct AddressTerm : arith::LinearTerm {  // the atom is a Var or not affine
  int64_t key = 0;                        // of the atom (codegen/llvm/atoms.h)
  bool same_atom(const AddressTerm& other) const { return key == other.key; }
};

// In elements; `lane_stride` is what each further lane adds.
struct Address : arith::LinearSum<AddressTerm> {
  int64_t lane_stride = 0;

  Address at_lane(unsigned lane) const;
};

// Emits the expressions in indices.
class ValueSource {
 public:
  virtual ~ValueSource() = default;
  virtual Value emit(const ir::Expr& expr) = 0;
  virtual Value emit_uniform(const ir::Expr& scalar) = 0;  // once for all lanes, if any is active
  // Emits at another position: shared values and masks of the current position are not used.
  virtual Value emit_apart(const std::function<Value()>& make) = 0;
};

class Addresses {
 public:
  Addresses(Emission& emission, Frame& frame, ValueSource& values)
      : emission_(emission),
        builder_(emission.builder),
        types_(emission.types),
        frame_(frame),
        values_(values) {}

  // False if the lanes of the access are not evenly spaced.
  bool decompose(ir::BufferId buffer, const std::vector<ir::Expr>& indices, Address& address);
  Value pointer(ir::BufferId buffer, const Address& address);  // of the first lane
  // A vector of pointers, one per lane: lane_pointers for lanes that are not evenly spaced,
  // strided_pointers for those that are.
  Value lane_pointers(ir::BufferId buffer, const std::vector<ir::Expr>& indices);
  Value strided_pointers(ir::BufferId buffer, const Address& address, unsigned lanes);
  // A number that divides the address in bytes.
  int64_t alignment_of(ir::BufferId buffer, const Address& address) const;

 private:
  bool decompose(const ir::Expr& index, int64_t factor, Address& address);
  Frame::Bound atom_value(const ir::Expr& atom);

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  const Types& types_;
  Frame& frame_;
  ValueSource& values_;
};

}  // namespace tilewright::codegen
