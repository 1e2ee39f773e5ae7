#include "lower/flatten.h"

#include "arith/simplify.h"
#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/linear_index.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Stmt;

class Flattener : public ir::Rewriter {
 public:
  explicit Flattener(const ir::Function& function) : buffers_(function.buffers) {}

  Expr rewrite(const Expr& expr) override {
    const auto* load = expr.as<ir::Load>();
    if (load == nullptr) return rewrite_children(expr);
    Expr index = flat_index(load->buffer, load->indices);
    if (load->indices.size() == 1 && index.same_as(load->indices[0])) return expr;
    return ir::load(load->type, load->buffer, {std::move(index)});
  }

  Stmt rewrite(const Stmt& stmt) override {
    if (const auto* loop = stmt.as<ir::For>()) return rewrite_loop(stmt, *loop);
    if (const auto* prefetch = stmt.as<ir::Prefetch>()) {
      Expr index = flat_index(prefetch->buffer, prefetch->indices);
      if (prefetch->indices.size() == 1 && index.same_as(prefetch->indices[0])) return stmt;
      return ir::make_prefetch(prefetch->buffer, {std::move(index)});
    }
    const auto* store = stmt.as<ir::Store>();
    if (store == nullptr) return rewrite_children(stmt);
    Expr index = flat_index(store->buffer, store->indices);
    Expr value = rewrite(store->value);
    Expr predicate = rewrite_optional(store->predicate);
    const bool same_index = store->indices.size() == 1 && index.same_as(store->indices[0]);
    if (same_index && value.same_as(store->value) && predicate.same_as(store->predicate)) {
      return stmt;
    }
    return ir::make_store(store->buffer, {std::move(index)}, std::move(value), std::move(predicate),
                          store->stream);
  }

 private:
  Stmt rewrite_loop(const Stmt& stmt, const ir::For& loop) {
    const int64_t* extent = ir::as_int(loop.extent);
    if (extent == nullptr || *extent < 1) return rewrite_children(stmt);
    bounds_[loop.var.as<ir::Var>()->id] = {0, *extent - 1};
    return rewrite_children(stmt);
  }

  Expr flat_index(ir::BufferId buffer, const std::vector<Expr>& indices) {
    const std::vector<int64_t>& shape = buffers_[buffer].shape;
    CHECK(indices.size() == shape.size(), "{} indices into `{}`", indices.size(),
          buffers_[buffer].name);
    Expr flat = ir::int_imm(0);
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      Expr index = rewrite(indices[dim]);
      flat = dim == 0 ? std::move(index) : flat * shape[dim] + std::move(index);
    }
    Expr affine = canonical_index(arith::simplify(canonical_index(flat), bounds_));
    return ir::equal(affine, flat) ? flat : affine;
  }

  const std::vector<ir::Buffer>& buffers_;
  arith::Bounds bounds_;  // of all loops visited; variables are bound once
};

}  // namespace

void flatten(ir::Function& function, const PassContext&) {
  function.body = Flattener(function).rewrite(function.body);
  for (ir::Buffer& buffer : function.buffers) buffer.shape = {buffer.elements()};
}

}  // namespace tilewright::lower
