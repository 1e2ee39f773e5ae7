#include "codegen/llvm/workspace.h"

#include <algorithm>

namespace tilewright::codegen {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kPage = 4096;
constexpr int64_t kSkew = 128;

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

class Planner {
 public:
  explicit Planner(const ir::Function& function) : function_(function) {
    plan_.offset.assign(function.buffers.size(), -1);
  }

  WorkspacePlan run() {
    walk(function_.body);
    plan_.shared = round_up(plan_.shared, kAlignment);
    if (plan_.per_thread > 0) plan_.per_thread = round_up(plan_.per_thread, kPage) + kSkew;
    return plan_;
  }

 private:
  void walk(const ir::Stmt& stmt) {
    if (!stmt.defined()) return;
    switch (stmt.kind()) {
      case ir::StmtKind::For:
        return walk(stmt.as<ir::For>()->body);
      case ir::StmtKind::Let:
        return walk(stmt.as<ir::Let>()->body);
      case ir::StmtKind::If:
        walk(stmt.as<ir::If>()->then_body);
        return walk(stmt.as<ir::If>()->else_body);
      case ir::StmtKind::Block:
        for (const ir::Stmt& child : stmt.as<ir::Block>()->stmts) walk(child);
        return;
      case ir::StmtKind::Allocate:
        return walk_allocate(*stmt.as<ir::Allocate>());
      case ir::StmtKind::Store:
      case ir::StmtKind::Prefetch:
        return;
    }
  }

  void walk_allocate(const ir::Allocate& allocate) {
    const ir::Buffer& buffer = function_.buffers[allocate.buffer];
    if (buffer.scope == ir::Scope::Workspace) {
      place(allocate, buffer, shared_top_, plan_.shared);
    } else if (buffer.scope == ir::Scope::Thread) {
      place(allocate, buffer, thread_top_, plan_.per_thread);
    } else {
      walk(allocate.body);
    }
  }

  void place(const ir::Allocate& allocate, const ir::Buffer& buffer, int64_t& top, int64_t& peak) {
    const int64_t before = top;
    // A buffer that is allocated at two places keeps its first one unless that is in use.
    const int64_t begin = std::max(top, plan_.offset[allocate.buffer]);
    const int64_t bytes =
        buffer.elements() * buffer.element.lanes * int64_t{ir::bytes_of(buffer.element.scalar)};
    plan_.offset[allocate.buffer] = begin;
    top = round_up(begin + bytes, kAlignment);
    if (bytes >= kPage && top % kPage < kSkew) top += kSkew;
    peak = std::max(peak, top);
    walk(allocate.body);
    top = before;
  }

  const ir::Function& function_;
  WorkspacePlan plan_;
  int64_t shared_top_ = 0;
  int64_t thread_top_ = 0;
};

}  // namespace

WorkspacePlan plan_workspace(const ir::Function& function) { return Planner(function).run(); }

}  // namespace tilewright::codegen
