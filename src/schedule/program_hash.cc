#include "schedule/program_hash.h"

#include <array>

namespace tilewright::schedule {
namespace {

class ProgramHasher {
 public:
  ProgramHasher(const LoopTree& tree, const Target* target) : tree_(tree), target_(target) {
    for (size_t k = 0; k < tree.order.size(); ++k) {
      rank_[static_cast<size_t>(tree.order[k])] = static_cast<uint16_t>(k);
    }
  }

  Hash128 run() {
    hasher_.add(kProgramHashVersion);
    for (const StageIndex index : tree_.order) {
      const Stage& stage = tree_.stage(index);
      if (stage.place == Attachment::Inlined) {
        hasher_.add(0x1e).add(stage.op);
        continue;
      }
      add_stage(stage);
    }
    return hasher_.finish();
  }

 private:
  void add_stage(const Stage& stage) {
    hasher_.add(0x57).add(stage.op).add(static_cast<uint64_t>(stage.kind));
    hasher_.add(static_cast<uint64_t>(stage.place));
    if (stage.place == Attachment::At) hasher_.add(code(stage.at_loop));
    hasher_.add(stage.loops.size());
    for (const VarIndex loop : stage.loops) {
      const LoopVar& var = tree_.var(loop);
      hasher_.add(static_cast<uint64_t>(var.annotation) << 8 | static_cast<uint64_t>(var.kind));
      hasher_.add_signed(var.extent);
    }
    for (const VarIndex loop : stage.loops) {  // with default values, these do not change the hash
      const LoopVar& var = tree_.var(loop);
      if (var.bound != ThreadAxis::None)
        hasher_.add(0xb1).add(static_cast<uint64_t>(var.bound)).add(code(loop));
    }
    if (stage.streams) hasher_.add(0x5f);
    for (const VarIndex loop : stage.loops) {
      const TensorizedLoop* tensorized = tree_.find_tensorized(loop);
      if (tensorized != nullptr)
        hasher_.add(0x7e).add(code(loop)).add_text(tensorized->intrinsic.text());
    }
    for (const PrefetchRequest& request : tree_.prefetches) {
      if (tree_.stage(request.stage).name != stage.name) continue;
      hasher_.add(0x9e).add(code(request.loop)).add_signed(request.distance);
      hasher_.add(rank_[static_cast<size_t>(tree_.buffer(request.buffer).stage)]);
    }
    for (const VarIndex axis : stage.axes) add_value(axis);
    for (const Access& access : tree_.reads_of(stage)) {
      hasher_.add(rank_[static_cast<size_t>(tree_.buffer(access.buffer).stage)]);
    }
    const Buffer& buffer = tree_.buffer(stage.first_buffer);
    if (buffer.scope && distinct(*buffer.scope) != distinct(default_scope(stage))) {
      hasher_.add(0x5c).add(static_cast<uint64_t>(distinct(*buffer.scope)));
    }
    if (buffer.packed_for != kNone) layout_of(tree_, stage.first_buffer).hash_into(hasher_);
  }

  MemoryScope distinct(MemoryScope scope) const {
    return target_ == nullptr ? scope : target_->distinct_scope(scope);
  }

  // How a variable is computed: from loops by weights, or by division from a fusion.
  void add_value(VarIndex index) {
    const LoopVar& var = tree_.var(index);
    if (var.is_split()) {
      // Without a remainder, the tail does not matter.
      const bool divides = var.remainder == 0 && !var.ragged;
      const Tail tail = divides ? Tail::Peel : var.tail;
      hasher_.add(0x59).add(static_cast<uint64_t>(tail)).add_signed(var.remainder);
      for (int k = 0; k < var.parts; ++k) {
        const auto part = static_cast<VarIndex>(var.first_part + k);
        if (tree_.var(part).extent == 1) continue;
        hasher_.add_signed(tree_.var(part).stride);
        add_value(part);
      }
      return;
    }
    if (var.fused_into != kNone) {
      hasher_.add(0xf5).add_signed(var.divisor).add_signed(var.extent);
      return add_value(var.fused_into);
    }
    hasher_.add(code(index));
  }

  uint64_t code(VarIndex loop) const {
    const LoopVar& var = tree_.var(loop);
    return uint64_t{rank_[static_cast<size_t>(var.stage)]} << 8 |
           static_cast<uint16_t>(var.position);
  }

  const LoopTree& tree_;
  const Target* target_;  // null: all memories are distinguished
  Hasher hasher_;
  std::array<uint16_t, kMaxStages> rank_{};
};

}  // namespace

Hash128 program_hash(const LoopTree& tree) { return ProgramHasher(tree, nullptr).run(); }

Hash128 program_hash(const LoopTree& tree, const Target& target) {
  return ProgramHasher(tree, &target).run();
}

}  // namespace tilewright::schedule
