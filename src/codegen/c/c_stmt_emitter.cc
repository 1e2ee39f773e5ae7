#include "codegen/c/c_stmt_emitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/mentions.h"
#include "ir/fold.h"
#include "lower/device_faults.h"

namespace tilewright::codegen {

std::string parameter_of(const CEmission& emission, ir::BufferId id, const std::string& name,
                         bool restricted) {
  const ir::Buffer& buffer = emission.function.buffers[id];
  const auto argument = std::ranges::find(emission.function.arguments, id);
  const bool is_argument = argument != emission.function.arguments.end();
  const auto position = static_cast<size_t>(argument - emission.function.arguments.begin());
  const bool is_input = is_argument && !emission.function.argument_written[position];
  const CType element{c_memory(buffer.element.scalar), 1};
  const bool in_workspace =
      buffer.scope == ir::Scope::Workspace || buffer.scope == ir::Scope::Thread;
  const std::string type = in_workspace ? emission.helpers.memory(element) : name_of(element);
  return fmt::format("{}{}* {}{}", is_input ? "const " : "", type,
                     restricted && is_argument ? "restrict " : "", name);
}

void CStmtEmitter::emit(const ir::Stmt& stmt) {
  if (!stmt.defined() || !emission_.error.empty()) return;
  exprs_.begin_statement();
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

void CStmtEmitter::emit_block(const ir::Stmt& stmt) {
  frame_.text.block([&] { emit(stmt); });
}

void CStmtEmitter::emit_for(const ir::For& loop) {
  if (loop.loop_kind == ir::ForKind::Bound) {
    exprs_.unsupported(lower::axis_fault("a loop", loop.axis), ir::kIndex);
    return;
  }
  const int64_t* extent = ir::as_int(loop.extent);
  if (extent != nullptr && *extent <= 0) return;
  const ir::VarId var = loop.var.as<ir::Var>()->id;
  if (extent != nullptr && *extent == 1) {
    frame_.vars[var] = {.type = ir::kIndex, .pieces = {{"0"}}, .range = {0, 0}};
    emit(loop.body);
    frame_.vars.erase(var);
    return;
  }
  if (loop.loop_kind == ir::ForKind::Parallel) return emit_parallel(loop);
  exprs_.count_uses(loop.extent);
  const CValue count = values_.bound(exprs_.emit(loop.extent));
  CValue value{.type = ir::kIndex,
               .pieces = {{frame_.text.fresh(loop.var.as<ir::Var>()->name.text())}}};
  if (arith::bounded(count.range)) value.range = {0, std::max<int64_t>(count.range.high - 1, 0)};
  frame_.text.line(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", value.pieces[0].text,
                               count.pieces[0].text));
  frame_.vars[var] = std::move(value);
  emit_block(loop.body);
  frame_.vars.erase(var);
  frame_.text.line("}");
}

void CStmtEmitter::emit_if(const ir::If& branch) {
  exprs_.count_uses(branch.condition);
  frame_.text.line(fmt::format("if ({}) {{", bare(exprs_.emit(branch.condition).pieces[0].text)));
  emit_block(branch.then_body);
  if (branch.else_body.defined()) {
    frame_.text.line("} else {");
    emit_block(branch.else_body);
  }
  frame_.text.line("}");
}

void CStmtEmitter::emit_let(const ir::Let& let) {
  const auto* var = let.var.as<ir::Var>();
  exprs_.count_uses(let.value);
  CValue value = exprs_.emit(let.value);
  for (size_t k = 0; k < value.pieces.size(); ++k) {
    const std::string name = frame_.text.fresh(var->name.text());
    frame_.text.line(fmt::format("const {} {} = {};",
                                 emission_.helpers.type(values_.piece_type(value, k)), name,
                                 bare(value.pieces[k].text)));
    value.pieces[k] = {name};
  }
  frame_.vars[var->id] = std::move(value);
  emit(let.body);
  frame_.vars.erase(var->id);
}

void CStmtEmitter::emit_store(const ir::Store& store) {
  for (const ir::Expr& index : store.indices) exprs_.count_uses(index);
  exprs_.count_uses(store.value);
  if (store.predicate.defined()) exprs_.count_uses(store.predicate);
  const auto found = frame_.registers.find(store.buffer);
  const bool is_register = found != frame_.registers.end();
  const bool is_vector = store.value.type().is_vector();
  if (!is_register && is_vector) return store_lanes(store, exprs_.pointer(store.buffer));
  const bool merges = is_register && is_vector && store.predicate.defined();
  ir::Expr stored = store.value;
  if (merges) {
    const ir::Expr before = ir::load(stored.type(), store.buffer, store.indices);
    stored = ir::select(store.predicate, stored, before);
    exprs_.keep(stored);
  }
  const CValue value = exprs_.emit(stored);
  const bool guarded = store.predicate.defined() && !merges;
  if (guarded) {
    frame_.text.line(fmt::format("if ({}) {{", bare(exprs_.emit(store.predicate).pieces[0].text)));
    frame_.text.indent();
  }
  if (is_register) {
    const CValue& to = found->second;
    const CValue from =
        is_vector && ir::is_bool(value.type) ? values_.as_mask(value, to.mask_bytes) : value;
    values_.assign(to, from.pieces.size() > 1 ? values_.bound(from) : from);
  } else {
    const std::string buffer = exprs_.pointer(store.buffer);
    const std::optional<LaneIndex> index = exprs_.lane_index(store.buffer, store.indices);
    const std::string at = exprs_.emit(index->base).pieces[0].text;
    frame_.text.line(fmt::format("{}[{}] = {};", buffer, at, bare(value.pieces[0].text)));
  }
  if (guarded) {
    frame_.text.outdent();
    frame_.text.line("}");
  }
}

void CStmtEmitter::store_lanes(const ir::Store& store, const std::string& buffer) {
  CValue value = exprs_.emit(store.value);
  const CBase element = c_memory(store.value.type().scalar);
  if (ir::is_bool(store.value.type())) value = exprs_.casts().from_bool(value, ir::Scalar::U8);
  std::optional<CValue> mask;
  if (store.predicate.defined())
    mask = values_.bound(values_.as_mask(exprs_.emit(store.predicate), bytes_of(element)));
  const auto [index, base] = exprs_.lanes_under(mask, store.buffer, store.indices);

  const std::vector<unsigned> lanes = values_.lanes_of(value.type);
  const bool contiguous = index && index->stride == 1;
  const bool at_once = contiguous && lanes.size() == 1;
  if (!at_once) value = values_.bound(std::move(value));
  Piece start;
  if (index) start = at_once ? base.pieces[0] : values_.bound(base).pieces[0];
  const auto store_lane = [&](unsigned k) {
    const std::string at =
        index ? plus(start, ir::wrapping_product(index->stride, k)).text : values_.lane(base, k);
    frame_.text.line(fmt::format("{}{}[{}] = {};",
                                 mask ? fmt::format("if ({}) ", values_.lane(*mask, k)) : "",
                                 buffer, at, values_.lane(value, k)));
  };
  unsigned first = 0;
  for (size_t k = 0; k < lanes.size(); first += lanes[k++]) {
    const CType type{element, lanes[k]};
    if (!contiguous || !type.is_vector()) {
      for (unsigned n = 0; n < lanes[k]; ++n) store_lane(first + n);
      continue;
    }
    const std::string to = address(buffer, plus(start, first));
    const std::string& text = value.pieces[k].text;
    frame_.text.line((mask ? values_.call("store_masked", type, {to, mask->pieces[k].text, text})
                           : values_.call("store", type, {to, text})) +
                     ";");
  }
}

// Two loops; the compiler chooses the instructions.
void CStmtEmitter::emit_transpose(const ir::Transpose& transpose) {
  exprs_.count_uses(transpose.to.index);
  exprs_.count_uses(transpose.from.index);
  const std::string row = frame_.text.fresh("row"), column = frame_.text.fresh("column");
  const auto element = [&](const ir::Square& square, const std::string& r, const std::string& c) {
    return fmt::format(
        "{}[{} + {} * {} + {}]", exprs_.pointer(square.buffer),
        at_most(values_.bound(exprs_.emit(square.index)).pieces[0], Precedence::Product), r,
        square.stride, c);
  };
  const std::string from = element(transpose.from, column, row);
  const std::string to = element(transpose.to, row, column);
  for (const std::string& k : {row, column}) {
    frame_.text.line(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", k, transpose.size));
    frame_.text.indent();
  }
  frame_.text.line(fmt::format("{} = {};", to, from));
  frame_.text.outdent();
  frame_.text.outdent();
}

// The address may be outside the buffer, so it is computed as an integer.
void CStmtEmitter::emit_prefetch(const ir::Prefetch& prefetch) {
  for (const ir::Expr& index : prefetch.indices) exprs_.count_uses(index);
  const std::string buffer = exprs_.pointer(prefetch.buffer);
  const std::optional<LaneIndex> index = exprs_.lane_index(prefetch.buffer, prefetch.indices);
  frame_.text.line(
      fmt::format("__builtin_prefetch((const void*)((uintptr_t){} + (uintptr_t)({}) * {}));",
                  buffer, exprs_.emit(index->base).pieces[0].text,
                  ir::bytes_of(emission_.function.buffers[prefetch.buffer].element.scalar)));
}

void CStmtEmitter::emit_allocate(const ir::Allocate& allocate) {
  const ir::BufferId id = allocate.buffer;
  const ir::Buffer& buffer = emission_.function.buffers[id];
  Mentions mentions;
  if (allocate.body.defined()) mentions.visit(allocate.body);
  if (!mentions.mentions(id)) return emit(allocate.body);
  std::string& pointer = frame_.buffers[id];
  switch (buffer.scope) {
    case ir::Scope::Argument:
      exprs_.unsupported("argument `" + buffer.name + "` is allocated", ir::kIndex);
      return;
    case ir::Scope::Shared:
    case ir::Scope::DeviceGlobal:
    case ir::Scope::DeviceLocal:
    case ir::Scope::DeviceRegister:
      exprs_.unsupported(lower::memory_fault("`" + buffer.name + "`", "device", "a CPU"),
                         ir::kIndex);
      return;
    case ir::Scope::Register:
      declare_register(id);
      emit(allocate.body);
      frame_.registers.erase(id);
      return;
    case ir::Scope::Stack: {
      const CType element{c_memory(buffer.element.scalar), 1};
      pointer = frame_.text.fresh(buffer.name);
      frame_.text.line("{");
      frame_.text.indent();
      frame_.text.line(fmt::format("{} {}[{}] __attribute__((aligned(64)));", name_of(element),
                                   pointer, std::max<int64_t>(buffer.elements(), 1)));
      frame_.text.outdent();
      emit_block(allocate.body);
      frame_.text.line("}");
      break;
    }
    case ir::Scope::Workspace:
    case ir::Scope::Thread: {
      pointer = frame_.text.fresh(buffer.name);
      frame_.uses_workspace = true;
      const std::string type = emission_.helpers.memory({c_memory(buffer.element.scalar), 1});
      frame_.text.line(fmt::format("{0}* const {1} = ({0}*)({2});", type, pointer, place_of(id)));
      emit(allocate.body);
      break;
    }
  }
  frame_.buffers[id].clear();
}

void CStmtEmitter::declare_register(ir::BufferId id) {
  const ir::Buffer& buffer = emission_.function.buffers[id];
  CValue value{.type = buffer.element, .pieces = {}};
  if (ir::is_bool(buffer.element)) value.mask_bytes = 1;
  value.pieces.resize(values_.lanes_of(buffer.element).size());
  for (size_t k = 0; k < value.pieces.size(); ++k) {
    const CType type = values_.piece_type(value, k);
    const std::string name = frame_.text.fresh(buffer.name);
    frame_.text.line(fmt::format("{} {} = {};", emission_.helpers.type(type), name,
                                 type.is_vector() ? "{0}" : "0"));
    value.pieces[k] = {name};
  }
  frame_.registers[id] = std::move(value);
}

// The location of a buffer in the workspace.
std::string CStmtEmitter::place_of(ir::BufferId id) {
  const bool of_thread = emission_.function.buffers[id].scope == ir::Scope::Thread;
  const int64_t offset = emission_.plan.offset[id] + (of_thread ? emission_.plan.shared : 0);
  std::string text = "workspace";
  if (of_thread && frame_.is_task) {
    text += fmt::format(" + (int64_t)worker * {}", emission_.plan.per_thread);
  }
  return offset == 0 ? text : fmt::format("{} + {}", text, offset);
}

void CStmtEmitter::emit_parallel(const ir::For& loop) {
  if (frame_.is_task) {
    exprs_.unsupported("a Parallel loop inside a Parallel loop", ir::kIndex);
    return;
  }
  exprs_.count_uses(loop.extent);
  const CValue count = values_.bound(exprs_.emit(loop.extent));
  const std::string task = fmt::format("{}_task{}", emission_.symbol, emission_.tasks++);
  const std::vector<Captured> captured = emit_task(loop, task, count.range);
  std::string context = "0";
  if (!captured.empty()) {
    std::vector<std::string> values;
    values.reserve(captured.size());
    for (const Captured& one : captured) values.push_back(one.value);
    context = frame_.text.fresh("context");
    frame_.text.line(
        fmt::format("struct {}_context {} = {{{}}};", task, context, fmt::join(values, ", ")));
    context = "&" + context;
  }
  frame_.text.line(fmt::format("if (tilewright_parallel_for(pool, threads, {}, {}, {}) != 0) {{",
                               count.pieces[0].text, task, context));
  frame_.text.line("  return TILEWRIGHT_STATUS_PARALLEL_FAILED;");
  frame_.text.line("}");
}

// Emits the function of one iteration and its context; returns the captured values.
std::vector<CStmtEmitter::Captured> CStmtEmitter::emit_task(const ir::For& loop,
                                                            const std::string& task,
                                                            const arith::Interval& count) {
  CFrame frame{.text = CText::within(frame_.text)};
  frame.buffers.resize(emission_.function.buffers.size());
  frame.is_task = true;
  std::vector<Captured> captured = capture(loop.body, frame);

  CValue iteration{.type = ir::kIndex,
                   .pieces = {{frame.text.fresh(loop.var.as<ir::Var>()->name.text())}}};
  const std::string index = iteration.pieces[0].text;
  if (arith::bounded(count)) iteration.range = {0, std::max<int64_t>(count.high - 1, 0)};
  frame.vars[loop.var.as<ir::Var>()->id] = std::move(iteration);
  CStmtEmitter(emission_, frame).emit(loop.body);

  if (frame.uses_workspace) {
    frame_.uses_workspace = true;
    captured.push_back({.field = "char* workspace",
                        .value = "workspace",
                        .name = "workspace",
                        .local = "char* restrict workspace"});
  }
  std::erase_if(captured,
                [&](const Captured& one) { return !has_word(frame.text.text(), one.name); });
  finish_task(task, index, frame.text.text(), captured);
  return captured;
}

// Makes the values that `body` uses available in `inner`: variables and pointers by value,
// registers by address.
std::vector<CStmtEmitter::Captured> CStmtEmitter::capture(const ir::Stmt& body, CFrame& inner) {
  Mentions mentions;
  if (body.defined()) mentions.visit(body);
  std::vector<Captured> captured;
  for (ir::VarId id : mentions.vars) {
    const auto known = frame_.vars.find(id);
    if (known == frame_.vars.end()) continue;
    inner.vars[id] = known->second;
    for (size_t k = 0; k < known->second.pieces.size(); ++k) {
      const std::string& name = known->second.pieces[k].text;
      if (!frame_.text.has_name(name)) continue;  // a constant
      const std::string type = emission_.helpers.type(values_.piece_type(known->second, k));
      captured.push_back({.field = fmt::format("{} {}", type, name),
                          .value = name,
                          .name = name,
                          .local = fmt::format("const {} {}", type, name)});
    }
  }
  for (ir::BufferId id : mentions.buffers) {
    const std::string& name = frame_.buffers[id];
    inner.buffers[id] = name;
    if (!name.empty()) {
      captured.push_back({.field = parameter_of(emission_, id, name, false),
                          .value = name,
                          .name = name,
                          .local = parameter_of(emission_, id, name, true)});
    }
    const auto known = frame_.registers.find(id);
    if (known == frame_.registers.end()) continue;
    CValue& inside = inner.registers[id] = known->second;
    for (size_t k = 0; k < inside.pieces.size(); ++k) {
      const std::string variable = known->second.pieces[k].text;
      const std::string pointer =
          fmt::format("{}* {}", emission_.helpers.type(values_.piece_type(inside, k)), variable);
      captured.push_back(
          {.field = pointer, .value = "&" + variable, .name = variable, .local = pointer});
      inside.pieces[k] = {fmt::format("(*{})", variable)};
    }
  }
  return captured;
}

void CStmtEmitter::finish_task(const std::string& task, const std::string& index,
                               const std::string& body, const std::vector<Captured>& captured) {
  std::string fields;
  std::string locals;
  for (const Captured& one : captured) {
    fields += fmt::format("  {};\n", one.field);
    locals += fmt::format("  {} = captured->{};\n", one.local, one.name);
  }
  const bool has_context = !captured.empty();
  if (has_context)
    emission_.tasks_text += fmt::format("struct {}_context {{\n{}}};\n\n", task, fields);
  const std::string opening =
      has_context ? fmt::format("  const struct {}_context* captured = context;\n", task)
                  : "  (void)context;\n";
  emission_.tasks_text += fmt::format(
      "static void {}(void* context, int64_t {}, int32_t worker) {{\n{}{}  (void){};\n"
      "  (void)worker;\n{}}}\n\n",
      task, index, opening, locals, index, body);
}

}  // namespace tilewright::codegen
