#include "lower/memory_scope.h"

#include "lower/device_faults.h"
#include "schedule/fields.h"

namespace tilewright::lower {
namespace {

constexpr int64_t kMaxStackBytesTogether = 64 * 1024;

ir::Scope scope_on_device(MemoryScope scope) {
  switch (scope) {
    case MemoryScope::Global:
      return ir::Scope::DeviceGlobal;
    case MemoryScope::Shared:
      return ir::Scope::Shared;
    case MemoryScope::Local:
      return ir::Scope::DeviceLocal;
    case MemoryScope::Register:
      return ir::Scope::DeviceRegister;
  }
  return ir::Scope::DeviceGlobal;
}

}  // namespace

ir::Scope ir_scope(const Target& target, MemoryScope scope, int64_t bytes, bool in_parallel) {
  if (!target.runs_on_cpu()) return scope_on_device(scope);
  const ir::Scope memory = in_parallel ? ir::Scope::Thread : ir::Scope::Workspace;
  switch (scope) {
    case MemoryScope::Global:
      return memory;
    case MemoryScope::Shared:
      return ir::Scope::Shared;  // check_scopes rejects it; back ends without it do, too
    case MemoryScope::Local:
    case MemoryScope::Register:  // promote_registers promotes what fits
      return bytes <= kStackBytes ? ir::Scope::Stack : memory;
  }
  return memory;
}

bool is_private_memory(ir::Scope scope) {
  switch (scope) {
    case ir::Scope::Workspace:
    case ir::Scope::Thread:
    case ir::Scope::Stack:
    case ir::Scope::Register:
    case ir::Scope::DeviceLocal:
    case ir::Scope::DeviceRegister:
      return true;
    case ir::Scope::Argument:
    case ir::Scope::Shared:
    case ir::Scope::DeviceGlobal:
      return false;
  }
  return false;
}

bool is_pinned(const schedule::LoopTree& tree, schedule::BufferIndex buffer) {
  const std::optional<MemoryScope> chosen = tree.buffer(buffer).scope;
  if (!chosen || *chosen == default_scope(tree.stage(tree.buffer(buffer).stage))) return false;
  return *chosen == MemoryScope::Global || *chosen == MemoryScope::Shared;
}

void move_to_stack(ir::Function& function, std::span<const ir::BufferId> buffers) {
  int64_t stack_bytes = 0;
  for (const ir::BufferId id : buffers) {
    ir::Buffer& memory = function.buffers[id];
    if (memory.scope == ir::Scope::Stack || ir::is_on_device(memory.scope)) continue;
    const int64_t bytes = memory.elements() * ir::bytes_of(memory.element.scalar);
    if (bytes > kStackBytes || stack_bytes + bytes > kMaxStackBytesTogether) continue;
    stack_bytes += bytes;
    memory.scope = ir::Scope::Stack;
  }
}

Status check_scopes(const schedule::LoopTree& tree, const Target& target) {
  for (size_t k = 0; k < tree.buffers.size(); ++k) {
    const MemoryScope scope = memory_scope(tree, static_cast<schedule::BufferIndex>(k));
    const schedule::Stage& writer = tree.stage(tree.buffers[k].stage);
    if (scope != MemoryScope::Shared || writer.place == schedule::Attachment::Inlined) continue;
    if (target.has(scope)) continue;
    return fail(ErrorKind::Unsupported, memory_fault(writer.name.text(), schedule::word_of(scope),
                                                     "the target " + print_target(target)));
  }
  return {};
}

}  // namespace tilewright::lower
