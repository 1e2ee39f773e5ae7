#include "schedule/loop_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "schedule/fields.h"
#include "schedule/nesting_depth.h"
#include "schedule/region.h"
#include "schedule/steps/bind.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {
namespace {

// Prints loops with their attached stages, from the outside in.
class TreePrinter {
 public:
  explicit TreePrinter(const LoopTree& tree) : tree_(tree) {}

  std::string run() {
    for (const StageIndex index : tree_.order) {
      const Stage& stage = tree_.stage(index);
      if (stage.kind == StageKind::Input) {
        line(0, fmt::format("{}: input{}", stage.name.text(), packed(stage)));
      } else if (stage.place == Attachment::Inlined) {
        line(0, fmt::format("{}: inlined", stage.name.text()));
      }
    }
    for (const StageIndex index : tree_.order) {
      const Stage& stage = tree_.stage(index);
      if (stage.kind != StageKind::Input && stage.place == Attachment::Root) print_stage(index, 0);
    }
    return out_;
  }

 private:
  void line(int depth, const std::string& text) {
    out_.append(2 * static_cast<size_t>(depth), ' ');
    out_ += text + '\n';
  }

  std::string packed(const Stage& stage) const {
    const Buffer& buffer = tree_.buffer(stage.first_buffer);
    if (buffer.packed_for == kNone) return "";
    return " packed for " + tree_.stage(buffer.packed_for).name.text();
  }

  std::string scope(const Stage& stage) const {
    const MemoryScope scope = memory_scope(tree_, stage.first_buffer);
    return scope == default_scope(stage) ? "" : fmt::format(" in {} memory", word_of(scope));
  }

  void print_stage(StageIndex index, int depth) {
    const Stage& stage = tree_.stage(index);
    for (const VarIndex loop : stage.loops) {
      const LoopVar& var = tree_.var(loop);
      std::string head = "for ";
      if (var.annotation != Annotation::None) head = std::string(word_of(var.annotation)) + " for ";
      if (var.bound != ThreadAxis::None) head = std::string(word_of(var.bound)) + " for ";
      if (const TensorizedLoop* tensorized = tree_.find_tensorized(loop)) {
        head = tensorized->intrinsic.text() + " for ";
      }
      const char* tail = var.ragged ? " or fewer" : "";
      line(depth, fmt::format("{}{} < {}{}", head, var.name.text(), var.extent, tail));
      ++depth;
      for (const PrefetchRequest& request : tree_.prefetches) {
        if (request.loop != loop) continue;
        const StageName source = tree_.stage(tree_.buffer(request.buffer).stage).name;
        line(depth, request.distance == 0
                        ? fmt::format("prefetch {}, next tile", source.text())
                        : fmt::format("prefetch {}, {} ahead", source.text(), request.distance));
      }
      for (const StageIndex other : tree_.order) {
        const Stage& s = tree_.stage(other);
        if (s.place == Attachment::At && s.at_loop == loop) print_stage(other, depth);
      }
    }
    std::string shape;
    for (const int64_t extent : tree_.buffer(stage.first_buffer).extent) {
      shape += fmt::format("{}{}", shape.empty() ? "" : "x", extent);
    }
    std::string reads;
    for (const Access& access : tree_.reads_of(stage)) {
      if (!reads.empty()) reads += ", ";
      reads += tree_.stage(tree_.buffer(access.buffer).stage).name.text();
    }
    line(depth, fmt::format("{} ({}){}{}{} <- {}", stage.name.text(), shape, scope(stage),
                            packed(stage), stage.streams ? " streamed" : "", reads));
  }

  const LoopTree& tree_;
  std::string out_;
};

// One digit of a packed dimension: a terminal variable of the reader's index.
struct PackedPart {
  uint32_t dim;
  int64_t weight;
  int depth;        // of its loop: outer loops give outer digits
  int64_t divisor;  // in the fusion that the loop is: so do outer members
};

PackedPart packed_part(const LoopTree& tree, uint32_t dim, const arith::Term& term) {
  const LoopVar* loop = &tree.var(static_cast<VarIndex>(term.var));
  int64_t divisor = 1;
  while (!loop->is_loop()) {
    if (loop->fused_into != kNone) divisor *= loop->divisor;
    loop = &tree.var(loop->fused_into != kNone ? loop->fused_into : loop->first_part);
  }
  return {dim, term.coefficient, nesting_depth(tree, *loop), divisor};
}

// The digits of a buffer for its reader: the variables inside the allocation of the buffer, since
// those outside are fixed. Weights divide one another (PackTiles); two loops with the same weight,
// as in a stencil, are one digit.
std::vector<PackedPart> packed_parts(const LoopTree& tree, BufferIndex index) {
  const Buffer& buffer = tree.buffer(index);
  const Stage& reader = tree.stage(buffer.packed_for);
  const Stage& writer = tree.stage(buffer.stage);
  std::vector<PackedPart> parts;
  for (const Access& access : tree.reads_of(reader)) {
    if (access.buffer != index) continue;
    for (uint32_t d = 0; d < access.rank; ++d) {
      if (!is_one_axis(tree.dims[access.first_dim + d])) continue;  // it stays whole
      std::vector<PackedPart> dim;
      for (const arith::Term& term : tree.forms[access.first_dim + d].terms) {
        const bool fixed = writer.place == Attachment::At &&
                           is_outside(tree, static_cast<VarIndex>(term.var), writer.at_stage,
                                      writer.at_loop) == Outside::Yes;
        if (!fixed) dim.push_back(packed_part(tree, d, term));
      }
      std::ranges::sort(dim, {}, &PackedPart::weight);
      int64_t below = 0;
      for (const PackedPart& part : dim) {
        if (part.weight != below) parts.push_back(part);
        below = part.weight;
      }
    }
  }
  return parts;
}

}  // namespace

bool LoopTree::is_output(StageIndex index) const {
  const Stage& s = stage(index);
  for (int k = 0; k < s.buffers; ++k) {
    if (buffer(static_cast<BufferIndex>(s.first_buffer + k)).is_argument) return true;
  }
  return false;
}

StageIndex LoopTree::find_stage(StageName name) const {
  for (size_t k = 0; k < stages.size(); ++k) {
    if (stages[k].name == name) return static_cast<StageIndex>(k);
  }
  return kNone;
}

VarIndex LoopTree::find_loop(StageIndex index, Name name) const {
  for (const VarIndex loop : stage(index).loops) {
    if (var(loop).name == name) return loop;
  }
  return kNone;
}

const TensorizedLoop* LoopTree::find_tensorized(VarIndex loop) const {
  const auto found = std::ranges::find(tensorized, loop, &TensorizedLoop::loop);
  return found == tensorized.end() ? nullptr : &*found;
}

const TensorizedLoop* LoopTree::tensorized_around(const Stage& stage, size_t position) const {
  if (tensorized.empty()) return nullptr;
  for (size_t k = 0; k <= position; ++k) {
    if (const TensorizedLoop* found = find_tensorized(stage.loops[k])) return found;
  }
  return nullptr;
}

IntrinsicAxis LoopTree::intrinsic_axis(const Stage& stage, size_t position) const {
  const TensorizedLoop* around = tensorized_around(stage, position);
  if (around == nullptr) return IntrinsicAxis::None;
  const auto first = static_cast<size_t>(var(around->loop).position);
  const TensorIntrinsic& intrinsic = intrinsic_of(*around);
  if (intrinsic.reduces(position - first)) return IntrinsicAxis::Factor;
  return position + 1 == first + intrinsic.spatial_axes() ? IntrinsicAxis::Lane
                                                          : IntrinsicAxis::Row;
}

const TensorIntrinsic& LoopTree::intrinsic_of(const TensorizedLoop& loop) const {
  const TensorIntrinsic* found = find_intrinsic(loop.intrinsic, intrinsics);
  CHECK(found != nullptr, "no intrinsic {}", loop.intrinsic.text());
  return *found;
}

std::string LoopTree::to_string() const { return TreePrinter(*this).run(); }

layout::Layout layout_of(const LoopTree& tree, BufferIndex index) {
  const Buffer& buffer = tree.buffer(index);
  if (buffer.packed_for == kNone) {
    const auto& storage_shape = buffer.storage_shape();
    return layout::Layout::row_major({storage_shape.begin(), storage_shape.size()});
  }
  const std::vector<int64_t> shape(buffer.extent.begin(), buffer.extent.end());
  std::vector<PackedPart> parts = packed_parts(tree, index);
  for (uint32_t d = 0; d < buffer.rank; ++d) {  // dimensions that no loop traverses are outermost
    if (std::ranges::find(parts, d, &PackedPart::dim) == parts.end())
      parts.push_back({d, 1, -1, 1});
  }
  std::ranges::sort(parts, {},
                    [](const PackedPart& p) { return std::tuple(p.depth, -p.divisor, p.dim); });
  layout::Layout layout;
  for (const PackedPart& part : parts) {
    int64_t above = 0;  // the next larger weight of the dimension; 0: the outermost digit
    for (const PackedPart& other : parts) {
      if (other.dim != part.dim || other.weight <= part.weight) continue;
      if (above == 0 || other.weight < above) above = other.weight;
    }
    const int64_t whole = (shape[part.dim] + part.weight - 1) / part.weight;
    layout.digits.push_back({part.dim, part.weight, above == 0 ? whole : above / part.weight});
  }
  for (uint32_t d = 0; d < buffer.rank; ++d) {  // a separate digit below the smallest weight
    int64_t smallest = INT64_MAX;
    for (const PackedPart& part : parts) {
      if (part.dim == d) smallest = std::min(smallest, part.weight);
    }
    if (smallest > 1) layout.digits.push_back({d, 1, smallest});
  }
  return layout;
}

namespace {

constexpr int64_t kManyInstructions = int64_t{1} << 40;  // products saturate here

// Branches that a loop creates for the tails of splits: full tiles and the last tile, for it and
// for each member of its fusion.
int64_t branches_at(const LoopTree& tree, const LoopVar& var) {
  int64_t branches = 1;
  if (var.origin == VarOrigin::Part && var.part == 0) {
    const LoopVar& whole = tree.var(var.parent);
    branches = whole.remainder != 0 ? 2 : 1;
  }
  if (var.origin != VarOrigin::Fused) return branches;
  for (VarIndex m = var.first_member; m != kNone; m = tree.var(m).next_member) {
    branches *= branches_at(tree, tree.var(m));
  }
  return branches;
}

// The number of copies of the code inside the outer `count` loops of a stage.
int64_t code_copies(const LoopTree& tree, const Stage& stage, size_t count, int64_t lanes) {
  int64_t copies = 1;
  for (size_t k = 0; k < count; ++k) {
    const LoopVar& var = tree.var(stage.loops[k]);
    if (var.annotation == Annotation::Unroll) copies *= var.extent;
    if (var.annotation == Annotation::Vectorize) {  // whole vectors, then halves of one
      copies *= var.extent / lanes + std::min<int64_t>(var.extent % lanes, 4);
    }
    copies *= branches_at(tree, var);
    copies = std::min(copies, kManyInstructions);
  }
  return copies;
}

}  // namespace

int64_t estimated_instructions(const LoopTree& tree, int vector_bytes) {
  int64_t total = 0;
  for (const Stage& stage : tree.stages) {
    if (!stage.has_loops()) continue;
    const int element = ir::bytes_of(tree.buffer(stage.first_buffer).element);
    const int64_t lanes = std::max(1, vector_bytes / element);
    int64_t copies =
        int64_t{stage.instructions} * code_copies(tree, stage, stage.loops.size(), lanes);
    for (const Stage* inner = &stage; inner->place == Attachment::At;) {
      const Stage& around = tree.stage(inner->at_stage);
      const auto outside = static_cast<size_t>(tree.var(inner->at_loop).position) + 1;
      copies = std::min(copies, kManyInstructions) *
               std::min<int64_t>(code_copies(tree, around, outside, lanes), 1 << 20);
      inner = &around;
    }
    total += std::min(copies, kManyInstructions);
  }
  return total;
}

}  // namespace tilewright::schedule
