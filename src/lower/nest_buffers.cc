#include "lower/nest_buffers.h"

#include <algorithm>
#include <string>

#include "lower/memory_scope.h"

namespace tilewright::lower {

using schedule::Attachment;
using schedule::BufferIndex;
using schedule::IterKind;
using schedule::LoopTree;
using schedule::LoopVar;
using schedule::Stage;
using schedule::StageKind;
using schedule::VarIndex;

namespace {

// A constant of the workload, or a copy of one.
bool is_finite(const LoopTree& tree, const schedule::Buffer& buffer) {
  if (buffer.is_constant) return true;
  const Stage& writer = tree.stage(buffer.stage);
  return writer.kind == StageKind::Copy && writer.accesses == 1 &&
         tree.buffer(tree.reads_of(writer)[0].buffer).is_constant;
}

bool parallel_around(const LoopTree& tree, const Stage& attached) {
  for (const Stage* stage = &attached; stage->place == Attachment::At;) {
    const Stage& target = tree.stage(stage->at_stage);
    for (int k = 0; k <= tree.var(stage->at_loop).position; ++k) {
      const LoopVar& loop = tree.var(target.loops[static_cast<size_t>(k)]);
      if (loop.is_parallel()) return true;
    }
    stage = &target;
  }
  return false;
}

int64_t bytes_of(const ir::Buffer& buffer) {
  return buffer.elements() * ir::bytes_of(buffer.element.scalar);
}

}  // namespace

std::vector<layout::Layout> declare_buffers(const Workload& workload, const Target& target,
                                            const LoopTree& tree, ir::Function* function) {
  std::vector<layout::Layout> layouts;
  layouts.reserve(tree.buffers.size());
  for (size_t k = 0; k < tree.buffers.size(); ++k) {
    const schedule::Buffer& buffer = tree.buffers[k];
    const Stage& writer = tree.stage(buffer.stage);
    ir::Buffer out{.name = writer.name.text(), .element = {buffer.element, 1}, .shape = {}};
    if (writer.buffers > 1) out.name += "." + std::to_string(buffer.output);
    layouts.push_back(schedule::layout_of(tree, static_cast<BufferIndex>(k)));
    for (const layout::Digit& digit : layouts.back().digits) out.shape.push_back(digit.extent);
    if (!buffer.is_argument) {
      out.scope = ir_scope(target, schedule::memory_scope(tree, static_cast<BufferIndex>(k)),
                           bytes_of(out), parallel_around(tree, writer));
      out.pinned = is_pinned(tree, static_cast<BufferIndex>(k));
    }
    out.finite = is_finite(tree, buffer);
    function->buffers.push_back(std::move(out));
  }
  for (const Operand& operand : workload.operands) {
    function->arguments.push_back(operand.tensor);  // buffer k holds tensor k
    function->buffers[operand.tensor].alignment = operand.alignment;
    function->argument_written.push_back(operand.role == Role::Output);
  }
  return layouts;
}

ir::BufferId declare_accumulators(const Target& target, const LoopTree& tree, const Stage& stage,
                                  size_t position, ir::Function* function) {
  const auto first = static_cast<ir::BufferId>(function->buffers.size());
  const te::Reduction& reduction = *tree.dag->op(stage.op).reduction;
  for (size_t k = 0; k < stage.buffers; ++k) {
    ir::Buffer buffer{.name = stage.name.text() + ".acc",
                      .element = {reduction.identity[k].type().scalar, 1},
                      .shape = {}};
    for (size_t p = position; p < stage.loops.size(); ++p) {
      const LoopVar& var = tree.var(stage.loops[p]);
      if (var.kind == IterKind::Spatial) buffer.shape.push_back(var.extent);
    }
    if (buffer.shape.empty()) buffer.shape.push_back(1);
    const bool parallel = parallel_around(tree, stage) ||
                          std::any_of(stage.loops.begin(), stage.loops.begin() + position,
                                      [&](VarIndex loop) { return tree.var(loop).is_parallel(); });
    buffer.scope = ir_scope(target, schedule::kAccumulatorScope, bytes_of(buffer), parallel);
    function->buffers.push_back(std::move(buffer));
  }
  return first;
}

}  // namespace tilewright::lower
