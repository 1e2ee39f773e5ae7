#include "lower/transpose_copies.h"

#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "ir/visit.h"
#include "lower/linear_index.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Stmt;

// One side of a copy: the steps of the index per lane and per iteration of the loop.
struct Side {
  ir::BufferId buffer = 0;
  LinearIndex start;  // without the loop's variable
  int64_t lane = 0;
  int64_t step = 0;
};

struct Copy {
  Side to, from;
  bool has_to_rows() const { return to.lane == 1; }  // each iteration writes a row of `to`
  int64_t to_stride() const { return has_to_rows() ? to.step : to.lane; }
  int64_t from_stride() const { return has_to_rows() ? from.lane : from.step; }
};

std::optional<Side> side_of(ir::BufferId buffer, const Expr& index, ir::VarId var) {
  const auto* ramp = index.as<ir::Ramp>();
  if (ramp == nullptr) return std::nullopt;
  Side side{.buffer = buffer, .start = linear_of(ramp->base), .lane = ramp->stride};
  side.step = side.start.coefficient_of(var);
  side.start.erase(var);
  for (const LinearTerm& term : side.start.terms) {
    if (ir::uses_var(term.factor, var)) return std::nullopt;  // not affine in it
  }
  return side;
}

// True if squares whose first elements are `apart` share an element.
bool share_elements(int64_t apart, int64_t stride, int64_t size) {
  for (int64_t rows = 1 - size; rows < size; ++rows) {
    if (std::abs(apart - rows * stride) < size) return true;
  }
  return false;
}

class Transposer : public ir::Rewriter {
 public:
  Transposer(const ir::Function& function, int64_t lanes) : function_(function), lanes_(lanes) {}

  Expr rewrite(const Expr& expr) override { return expr; }
  Stmt rewrite(const Stmt& stmt) override {
    const auto* loop = stmt.as<ir::For>();
    if (loop == nullptr) return rewrite_children(stmt);
    const int64_t* extent = ir::as_int(loop->extent);
    const bool fits = loop->loop_kind == ir::ForKind::Serial && extent != nullptr && *extent > 0 &&
                      *extent % lanes_ == 0;
    if (!fits) return rewrite_children(stmt);
    const std::vector<Copy> copies = copies_in(*loop);
    return copies.empty() || clash(copies) ? rewrite_children(stmt) : squares(*loop, copies);
  }

 private:
  // The copies that form the whole body of the loop; empty if it contains anything else.
  std::vector<Copy> copies_in(const ir::For& loop) const {
    const auto* block = loop.body.as<ir::Block>();
    const std::vector<Stmt> stmts = block != nullptr ? block->stmts : std::vector{loop.body};
    std::vector<Copy> copies;
    copies.reserve(stmts.size());
    for (const Stmt& stmt : stmts) {
      const auto* store = stmt.as<ir::Store>();
      const std::optional<Copy> copy =
          store != nullptr ? copy_of(*store, loop.var.as<ir::Var>()->id) : std::nullopt;
      if (!copy) return {};
      copies.push_back(*copy);
    }
    return copies;
  }

  std::optional<Copy> copy_of(const ir::Store& store, ir::VarId var) const {
    const auto* load = store.value.as<ir::Load>();
    const bool plain = load != nullptr && !store.predicate.defined() && !store.stream &&
                       load->type == ir::kF32.with_lanes(static_cast<uint16_t>(lanes_)) &&
                       in_memory(store.buffer) && in_memory(load->buffer);
    if (!plain) return std::nullopt;
    const std::optional<Side> to = side_of(store.buffer, store.indices[0], var);
    const std::optional<Side> from = side_of(load->buffer, load->indices[0], var);
    if (!to || !from) return std::nullopt;
    const bool crosswise = (to->lane == 1 && from->step == 1 && from->lane != 1) ||
                           (from->lane == 1 && to->step == 1 && to->lane != 1);
    Copy copy{*to, *from};
    if (!crosswise || copy.to_stride() < lanes_) return std::nullopt;
    return copy;
  }

  bool in_memory(ir::BufferId id) const {
    return function_.buffers[id].scope != ir::Scope::Register;
  }

  // True if the order of the copies could matter.
  bool clash(const std::vector<Copy>& copies) const {
    for (size_t k = 0; k < copies.size(); ++k) {
      for (const Copy& other : copies) {
        if (other.from.buffer == copies[k].to.buffer) return true;
      }
      for (size_t m = 0; m < k; ++m) {
        const Side &a = copies[m].to, &b = copies[k].to;
        if (a.buffer != b.buffer) continue;
        const bool alike = same_terms(a.start, b.start) && a.lane == b.lane && a.step == b.step;
        const int64_t apart = b.start.constant - a.start.constant;
        if (!alike || share_elements(apart, copies[k].to_stride(), lanes_)) return true;
      }
    }
    return false;
  }

  Stmt squares(const ir::For& loop, const std::vector<Copy>& copies) const {
    const int64_t rounds = *ir::as_int(loop.extent) / lanes_;
    const auto* old = loop.var.as<ir::Var>();
    const Expr var(new ir::Var(old->type, ir::fresh_var_id(), old->name));
    const auto start = [&](const Side& side) {
      LinearIndex index = side.start;
      if (rounds > 1) index.add(var, side.step * lanes_);
      return to_expr(index);
    };
    std::vector<Stmt> stmts;
    stmts.reserve(copies.size());
    for (const Copy& copy : copies) {
      stmts.push_back(ir::make_transpose({copy.to.buffer, start(copy.to), copy.to_stride()},
                                         {copy.from.buffer, start(copy.from), copy.from_stride()},
                                         lanes_));
    }
    Stmt body = ir::make_block(std::move(stmts));
    if (rounds == 1) return body;
    return ir::make_for(var, ir::int_imm(rounds), ir::ForKind::Serial, std::move(body));
  }

  const ir::Function& function_;
  const int64_t lanes_;
};

}  // namespace

void transpose_copies(ir::Function& function, const PassContext& context) {
  const int64_t lanes = context.target.lanes(ir::bytes_of(ir::Scalar::F32));
  if (lanes < 4) return;
  function.body = Transposer(function, lanes).rewrite(function.body);
}

}  // namespace tilewright::lower
