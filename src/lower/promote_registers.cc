#include "lower/promote_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/visit.h"

namespace tilewright::lower {
namespace {

using ir::BufferId;
using ir::Expr;
using ir::Stmt;

constexpr size_t kMaxPieces = 64;
constexpr int64_t kMaxStackBytes = 16 * 1024;
constexpr int64_t kMaxStackBytesTogether = 64 * 1024;

struct Piece {
  int64_t start = 0;
  unsigned lanes = 1;
  BufferId replacement = 0;
};

struct Candidate {
  bool allocated = false;
  bool shared = false;    // touched in a Parallel loop inside its Allocate
  bool in_pieces = true;  // so far
  int parallel_at_allocate = 0;
  std::vector<Piece> pieces;

  const Piece* find(int64_t start) const {
    const auto found = std::ranges::find(pieces, start, &Piece::start);
    return found == pieces.end() ? nullptr : &*found;
  }
};

// The first element of an access whose place is known.
std::optional<int64_t> constant_start(const Expr& index) {
  if (const auto* number = index.as<ir::IntImm>()) return number->value;
  const auto* ramp = index.as<ir::Ramp>();
  if (ramp == nullptr || ramp->stride != 1) return {};
  const auto* base = ramp->base.as<ir::IntImm>();
  return base == nullptr ? std::optional<int64_t>{} : base->value;
}

class CandidateFinder : public ir::Visitor {
 public:
  explicit CandidateFinder(size_t buffers) : candidates(buffers) {}

  std::vector<Candidate> candidates;  // by BufferId

  void visit(const Expr& expr) override {
    if (const auto* load = expr.as<ir::Load>()) note(load->buffer, load->indices[0]);
    ir::Visitor::visit(expr);
  }

  void visit(const Stmt& stmt) override {
    const auto* loop = stmt.as<ir::For>();
    const bool parallel = loop != nullptr && loop->loop_kind == ir::ForKind::Parallel;
    if (const auto* allocate = stmt.as<ir::Allocate>()) {
      candidates[allocate->buffer].allocated = true;
      candidates[allocate->buffer].parallel_at_allocate = parallel_around_;
    } else if (const auto* store = stmt.as<ir::Store>()) {
      note(store->buffer, store->indices[0]);
    }
    parallel_around_ += parallel;
    ir::Visitor::visit(stmt);
    parallel_around_ -= parallel;
  }

 private:
  void note(BufferId buffer, const Expr& index) {
    Candidate& candidate = candidates[buffer];
    if (!candidate.allocated) return;
    candidate.shared |= parallel_around_ > candidate.parallel_at_allocate;
    if (!candidate.in_pieces) return;
    const std::optional<int64_t> start = constant_start(index);
    const unsigned lanes = index.type().lanes;
    if (!start) {
      candidate.in_pieces = false;
    } else if (const Piece* known = candidate.find(*start)) {
      candidate.in_pieces = known->lanes == lanes;
    } else {
      candidate.pieces.push_back({*start, lanes, 0});
      candidate.in_pieces = candidate.pieces.size() <= kMaxPieces;
    }
  }

  int parallel_around_ = 0;
};

bool disjoint(std::vector<Piece>& pieces) {
  std::ranges::sort(pieces, {}, &Piece::start);
  for (size_t k = 1; k < pieces.size(); ++k) {
    if (pieces[k - 1].start + pieces[k - 1].lanes > pieces[k].start) return false;
  }
  return true;
}

class Promoter : public ir::Rewriter {
 public:
  explicit Promoter(const std::vector<Candidate>& candidates) : candidates_(candidates) {}

  Expr rewrite(const Expr& expr) override {
    if (ir::is_integer(expr.type()) && expr.as<ir::Load>() == nullptr) {
      return rewrite_children(expr);
    }
    const auto* load = expr.as<ir::Load>();
    if (load == nullptr || !promoted(load->buffer)) return rewrite_children(expr);
    return ir::load(load->type, replacement(load->buffer, load->indices[0]), {ir::int_imm(0)});
  }

  Stmt rewrite(const Stmt& stmt) override {
    if (const auto* store = stmt.as<ir::Store>(); store != nullptr && promoted(store->buffer)) {
      return ir::make_store(replacement(store->buffer, store->indices[0]), {ir::int_imm(0)},
                            rewrite(store->value), rewrite_optional(store->predicate));
    }
    const auto* prefetch = stmt.as<ir::Prefetch>();
    if (prefetch != nullptr && promoted(prefetch->buffer)) return {};
    const auto* allocate = stmt.as<ir::Allocate>();
    if (allocate == nullptr || !promoted(allocate->buffer)) return rewrite_children(stmt);
    Stmt body = rewrite(allocate->body);
    const std::vector<Piece>& pieces = candidates_[allocate->buffer].pieces;
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
      body = ir::make_allocate(piece->replacement, std::move(body));
    }
    return body;
  }

 private:
  bool promoted(BufferId buffer) const {
    return buffer < candidates_.size() && candidates_[buffer].in_pieces &&
           candidates_[buffer].allocated;
  }
  BufferId replacement(BufferId buffer, const Expr& index) const {
    return candidates_[buffer].find(*constant_start(index))->replacement;
  }

  const std::vector<Candidate>& candidates_;
};

}  // namespace

void promote_registers(ir::Function& function, const PassContext&) {
  CandidateFinder finder(function.buffers.size());
  finder.visit(function.body);
  size_t pieces = 0;
  int64_t stack_bytes = 0;
  bool any = false;
  const size_t count = function.buffers.size();
  for (BufferId id = 0; id < count; ++id) {
    Candidate& candidate = finder.candidates[id];
    if (!candidate.allocated || function.buffers[id].scope == ir::Scope::Register) {
      candidate.allocated = false;
      continue;
    }
    candidate.in_pieces = candidate.in_pieces && !candidate.shared &&
                          pieces + candidate.pieces.size() <= kMaxPieces &&
                          disjoint(candidate.pieces);
    if (candidate.in_pieces) {
      pieces += candidate.pieces.size();
      any = true;
      for (Piece& piece : candidate.pieces) {
        const ir::Buffer& memory = function.buffers[id];
        const auto ordinal = &piece - candidate.pieces.data();
        piece.replacement = static_cast<BufferId>(function.buffers.size());
        function.buffers.push_back({.name = fmt::format("{}.{}", memory.name, ordinal),
                                    .element = memory.element.with_lanes(piece.lanes),
                                    .shape = {1},
                                    .scope = ir::Scope::Register,
                                    .alignment = memory.alignment});
      }
      continue;
    }
    ir::Buffer& memory = function.buffers[id];
    const int64_t bytes = memory.elements() * ir::bytes_of(memory.element.scalar);
    if (candidate.shared || bytes > kMaxStackBytes || memory.scope == ir::Scope::Stack) continue;
    if (stack_bytes + bytes > kMaxStackBytesTogether) continue;
    stack_bytes += bytes;
    memory.scope = ir::Scope::Stack;
  }
  if (any) function.body = Promoter(finder.candidates).rewrite(function.body);
}

}  // namespace tilewright::lower
