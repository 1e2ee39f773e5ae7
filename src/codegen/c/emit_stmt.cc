// Statements: loops, branches, bindings, stores, allocations. Parallel loops: emit_parallel.cc.
#include <fmt/format.h>

#include "codegen/c/emitter.h"
#include "codegen/mentions.h"

namespace tilewright::codegen {

void CEmitter::emit(const ir::Stmt& stmt) {
  if (!stmt.defined() || !error_.empty()) return;
  forget_shared(0);  // a statement may change what shared expressions load
  uses_.clear();
  switch (stmt.kind()) {
    case ir::StmtKind::For:
      return emit_for(*stmt.as<ir::For>());
    case ir::StmtKind::If:
      return emit_if(*stmt.as<ir::If>());
    case ir::StmtKind::Let:
      return emit_let(*stmt.as<ir::Let>());
    case ir::StmtKind::Store:
      return emit_store(*stmt.as<ir::Store>());
    case ir::StmtKind::Transpose:
      return emit_transpose(*stmt.as<ir::Transpose>());
    case ir::StmtKind::Prefetch:
      return emit_prefetch(*stmt.as<ir::Prefetch>());
    case ir::StmtKind::Allocate:
      return emit_allocate(*stmt.as<ir::Allocate>());
    case ir::StmtKind::Block:
      for (const ir::Stmt& child : stmt.as<ir::Block>()->stmts) emit(child);
      return;
  }
}

// The statements between a pair of braces; names given there are free again afterwards.
void CEmitter::emit_block(const ir::Stmt& stmt) {
  const size_t names = frame_->block_names.size();
  const int temporaries = frame_->temporaries;
  ++frame_->depth;
  emit(stmt);
  --frame_->depth;
  while (frame_->block_names.size() > names) {
    frame_->names.erase(frame_->block_names.back());
    frame_->block_names.pop_back();
  }
  frame_->temporaries = temporaries;
}

void CEmitter::emit_for(const ir::For& loop) {
  const int64_t* extent = ir::as_int(loop.extent);
  if (extent != nullptr && *extent <= 0) return;
  const ir::VarId var = loop.var.as<ir::Var>()->id;
  if (extent != nullptr && *extent == 1) {
    frame_->vars[var] = {.type = ir::kIndex, .pieces = {{"0"}}, .range = {0, 0}};
    emit(loop.body);
    frame_->vars.erase(var);
    return;
  }
  if (loop.loop_kind == ir::ForKind::Parallel) return emit_parallel(loop);
  count_uses(loop.extent);
  const CValue count = bound(emit(loop.extent));
  CValue value{.type = ir::kIndex, .pieces = {{fresh(loop.var.as<ir::Var>()->name.text())}}};
  if (arith::bounded(count.range)) value.range = {0, std::max<int64_t>(count.range.high - 1, 0)};
  line(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", value.pieces[0].text,
                   count.pieces[0].text));
  frame_->vars[var] = std::move(value);
  emit_block(loop.body);
  frame_->vars.erase(var);
  line("}");
}

void CEmitter::emit_if(const ir::If& branch) {
  count_uses(branch.condition);
  line(fmt::format("if ({}) {{", bare(emit(branch.condition).pieces[0].text)));
  emit_block(branch.then_body);
  if (branch.else_body.defined()) {
    line("} else {");
    emit_block(branch.else_body);
  }
  line("}");
}

void CEmitter::emit_let(const ir::Let& let) {
  const auto* var = let.var.as<ir::Var>();
  count_uses(let.value);
  CValue value = emit(let.value);
  for (size_t k = 0; k < value.pieces.size(); ++k) {
    const std::string name = fresh(var->name.text());
    line(fmt::format("const {} {} = {};", helpers_.type(piece_type(value, k)), name,
                     bare(value.pieces[k].text)));
    value.pieces[k] = {name};
  }
  frame_->vars[var->id] = std::move(value);
  emit(let.body);
  frame_->vars.erase(var->id);
}

void CEmitter::emit_store(const ir::Store& store) {
  for (const ir::Expr& index : store.indices) count_uses(index);
  count_uses(store.value);
  if (store.predicate.defined()) count_uses(store.predicate);
  const auto found = frame_->registers.find(store.buffer);
  const bool is_register = found != frame_->registers.end();
  const bool is_vector = store.value.type().is_vector();
  if (!is_register && is_vector) return store_lanes(store, pointer(store.buffer));
  const bool merges = is_register && is_vector && store.predicate.defined();
  ir::Expr stored = store.value;
  if (merges) {
    const ir::Expr before = ir::load(stored.type(), store.buffer, store.indices);
    stored = ir::select(store.predicate, stored, before);
    kept_.push_back(stored);
  }
  const CValue value = emit(stored);
  const bool guarded = store.predicate.defined() && !merges;
  if (guarded) {
    line(fmt::format("if ({}) {{", bare(emit(store.predicate).pieces[0].text)));
    ++frame_->depth;
  }
  if (is_register) {
    const CValue& to = found->second;
    const CValue from =
        is_vector && ir::is_bool(value.type) ? as_mask(value, to.mask_bytes) : value;
    assign(to, from.pieces.size() > 1 ? bound(from) : from);
  } else {
    const std::string buffer = pointer(store.buffer);
    const std::optional<LaneIndex> index = lane_index(store.buffer, store.indices);
    const std::string at = emit(index->base).pieces[0].text;
    line(fmt::format("{}[{}] = {};", buffer, at, bare(value.pieces[0].text)));
  }
  if (guarded) {
    --frame_->depth;
    line("}");
  }
}

// Two loops; in which instructions is for the compiler to say.
void CEmitter::emit_transpose(const ir::Transpose& transpose) {
  count_uses(transpose.to.index);
  count_uses(transpose.from.index);
  const std::string row = fresh("row"), column = fresh("column");
  const auto element = [&](const ir::Square& square, const std::string& r, const std::string& c) {
    return fmt::format("{}[{} + {} * {} + {}]", pointer(square.buffer),
                       at_most(bound(emit(square.index)).pieces[0], Level::Product), r,
                       square.stride, c);
  };
  const std::string from = element(transpose.from, column, row);
  const std::string to = element(transpose.to, row, column);
  for (const std::string& k : {row, column}) {
    line(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", k, transpose.size));
    ++frame_->depth;
  }
  line(fmt::format("{} = {};", to, from));
  frame_->depth -= 2;
}

// The address may lie outside of the buffer, so it is computed as a number.
void CEmitter::emit_prefetch(const ir::Prefetch& prefetch) {
  for (const ir::Expr& index : prefetch.indices) count_uses(index);
  const std::string buffer = pointer(prefetch.buffer);
  const std::optional<LaneIndex> index = lane_index(prefetch.buffer, prefetch.indices);
  line(fmt::format("__builtin_prefetch((const void*)((uintptr_t){} + (uintptr_t)({}) * {}));",
                   buffer, emit(index->base).pieces[0].text,
                   ir::bytes_of(function_.buffers[prefetch.buffer].element.scalar)));
}

void CEmitter::emit_allocate(const ir::Allocate& allocate) {
  const ir::BufferId id = allocate.buffer;
  const ir::Buffer& buffer = function_.buffers[id];
  Mentions mentions;
  if (allocate.body.defined()) mentions.visit(allocate.body);
  if (!mentions.mentions(id)) return emit(allocate.body);
  std::string& pointer = frame_->buffers[id];
  switch (buffer.scope) {
    case ir::Scope::Argument:
      unsupported("argument `" + buffer.name + "` is allocated", ir::kIndex);
      return;
    case ir::Scope::Shared:
      unsupported("`" + buffer.name + "` lives in memory that the threads of a block share",
                  ir::kIndex);
      return;
    case ir::Scope::Register:
      declare_register(id);
      emit(allocate.body);
      frame_->registers.erase(id);
      return;
    case ir::Scope::Stack: {
      const CType element{c_memory(buffer.element.scalar), 1};
      pointer = fresh(buffer.name);
      line("{");
      ++frame_->depth;
      line(fmt::format("{} {}[{}] __attribute__((aligned(64)));", name_of(element), pointer,
                       std::max<int64_t>(buffer.elements(), 1)));
      --frame_->depth;
      emit_block(allocate.body);
      line("}");
      break;
    }
    case ir::Scope::Workspace:
    case ir::Scope::Thread: {
      pointer = fresh(buffer.name);
      frame_->uses_workspace = true;
      const std::string type = helpers_.memory({c_memory(buffer.element.scalar), 1});
      line(fmt::format("{0}* const {1} = ({0}*)({2});", type, pointer, place_of(id)));
      emit(allocate.body);
      break;
    }
  }
  frame_->buffers[id].clear();
}

void CEmitter::declare_register(ir::BufferId id) {
  const ir::Buffer& buffer = function_.buffers[id];
  CValue value{.type = buffer.element, .pieces = {}};
  if (ir::is_bool(buffer.element)) value.mask_bytes = 1;
  value.pieces.resize(lanes_of(buffer.element).size());
  for (size_t k = 0; k < value.pieces.size(); ++k) {
    const CType type = piece_type(value, k);
    const std::string name = fresh(buffer.name);
    line(fmt::format("{} {} = {};", helpers_.type(type), name, type.is_vector() ? "{0}" : "0"));
    value.pieces[k] = {name};
  }
  frame_->registers[id] = std::move(value);
}

// Where in the workspace a buffer lies.
std::string CEmitter::place_of(ir::BufferId id) {
  const bool of_thread = function_.buffers[id].scope == ir::Scope::Thread;
  const int64_t offset = plan_.offset[id] + (of_thread ? plan_.shared : 0);
  std::string text = "workspace";
  if (of_thread && frame_->is_task) {
    text += fmt::format(" + (int64_t)worker * {}", plan_.per_thread);
  }
  return offset == 0 ? text : fmt::format("{} + {}", text, offset);
}

}  // namespace tilewright::codegen
