// Parallel loops. Before -> after:
//
//   parallel for i < n: body      struct SYMBOL_task0_context context = {what the body mentions};
//                                 if (tilewright_parallel_for(pool, threads, n, SYMBOL_task0,
//                                                             &context) != 0)
//                                   return TILEWRIGHT_STATUS_PARALLEL_FAILED;
//
//   SYMBOL_task0(context, i, worker):   body, with what it needs taken from the context
#include <fmt/format.h>

#include "codegen/c/emitter.h"
#include "codegen/mentions.h"

namespace tilewright::codegen {

void CEmitter::emit_parallel(const ir::For& loop) {
  if (frame_->is_task) {
    unsupported("a Parallel loop inside a Parallel loop", ir::kIndex);
    return;
  }
  count_uses(loop.extent);
  const CValue count = bound(emit(loop.extent));
  const std::string task = fmt::format("{}_task{}", symbol_, tasks_++);
  const std::vector<Captured> captured = emit_task(loop, task, count.range);
  std::string context = "0";
  if (!captured.empty()) {
    std::vector<std::string> values;
    values.reserve(captured.size());
    for (const Captured& one : captured) values.push_back(one.value);
    context = fresh("context");
    line(fmt::format("struct {}_context {} = {{{}}};", task, context, fmt::join(values, ", ")));
    context = "&" + context;
  }
  line(fmt::format("if (tilewright_parallel_for(pool, threads, {}, {}, {}) != 0) {{",
                   count.pieces[0].text, task, context));
  line("  return TILEWRIGHT_STATUS_PARALLEL_FAILED;");
  line("}");
}

// Writes the function of one iteration and its context; the result is what that holds.
std::vector<CEmitter::Captured> CEmitter::emit_task(const ir::For& loop, const std::string& task,
                                                    const arith::Interval& count) {
  Frame* outer = frame_;
  Frame frame;
  frame.names = outer->names;
  frame.buffers.resize(function_.buffers.size());
  frame.is_task = true;
  std::vector<Captured> captured = capture(loop.body, *outer, frame);

  frame_ = &frame;
  CValue iteration{.type = ir::kIndex, .pieces = {{fresh(loop.var.as<ir::Var>()->name.text())}}};
  const std::string index = iteration.pieces[0].text;
  if (arith::bounded(count)) iteration.range = {0, std::max<int64_t>(count.high - 1, 0)};
  frame.vars[loop.var.as<ir::Var>()->id] = std::move(iteration);
  emit(loop.body);
  frame_ = outer;

  if (frame.uses_workspace) {
    outer->uses_workspace = true;
    captured.push_back({.field = "char* workspace",
                        .value = "workspace",
                        .name = "workspace",
                        .local = "char* restrict workspace"});
  }
  std::erase_if(captured, [&](const Captured& one) { return !has_word(frame.text, one.name); });
  finish_task(task, index, frame.text, captured);
  return captured;
}

// Makes known in `inner` what is known in `outer` and mentioned by `body`: variables and pointers
// by value, registers by their address.
std::vector<CEmitter::Captured> CEmitter::capture(const ir::Stmt& body, const Frame& outer,
                                                  Frame& inner) {
  Mentions mentions;
  if (body.defined()) mentions.visit(body);
  std::vector<Captured> captured;
  for (ir::VarId id : mentions.vars) {
    const auto known = outer.vars.find(id);
    if (known == outer.vars.end()) continue;
    inner.vars[id] = known->second;
    for (size_t k = 0; k < known->second.pieces.size(); ++k) {
      const std::string& name = known->second.pieces[k].text;
      if (!outer.names.contains(name)) continue;  // a constant
      const std::string type = helpers_.type(piece_type(known->second, k));
      captured.push_back({.field = fmt::format("{} {}", type, name),
                          .value = name,
                          .name = name,
                          .local = fmt::format("const {} {}", type, name)});
    }
  }
  for (ir::BufferId id : mentions.buffers) {
    const std::string& name = outer.buffers[id];
    inner.buffers[id] = name;
    if (!name.empty()) {
      captured.push_back({.field = parameter_of(id, name, false),
                          .value = name,
                          .name = name,
                          .local = parameter_of(id, name, true)});
    }
    const auto known = outer.registers.find(id);
    if (known == outer.registers.end()) continue;
    CValue& inside = inner.registers[id] = known->second;
    for (size_t k = 0; k < inside.pieces.size(); ++k) {
      const std::string variable = known->second.pieces[k].text;
      const std::string pointer =
          fmt::format("{}* {}", helpers_.type(piece_type(inside, k)), variable);
      captured.push_back(
          {.field = pointer, .value = "&" + variable, .name = variable, .local = pointer});
      inside.pieces[k] = {fmt::format("(*{})", variable)};
    }
  }
  return captured;
}

void CEmitter::finish_task(const std::string& task, const std::string& index,
                           const std::string& body, const std::vector<Captured>& captured) {
  std::string fields;
  std::string locals;
  for (const Captured& one : captured) {
    fields += fmt::format("  {};\n", one.field);
    locals += fmt::format("  {} = captured->{};\n", one.local, one.name);
  }
  const bool has_context = !captured.empty();
  if (has_context) tasks_text_ += fmt::format("struct {}_context {{\n{}}};\n\n", task, fields);
  const std::string opening =
      has_context ? fmt::format("  const struct {}_context* captured = context;\n", task)
                  : "  (void)context;\n";
  tasks_text_ += fmt::format(
      "static void {}(void* context, int64_t {}, int32_t worker) {{\n{}{}  (void){};\n"
      "  (void)worker;\n{}}}\n\n",
      task, index, opening, locals, index, body);
}

}  // namespace tilewright::codegen
