#include "schedule/tree_editor.h"

#include <algorithm>
#include <array>

#include "schedule/region.h"

namespace tilewright::schedule {
namespace {

constexpr size_t kMaxReads = UINT16_MAX;  // per tree, and their dimensions

}  // namespace

Illegal TreeEditor::find_stage(StageName name, StageIndex* stage) const {
  *stage = tree_.find_stage(name);
  return *stage == kNone ? reject(IllegalCode::NoSuchStage, name) : Illegal{};
}

Illegal TreeEditor::find_scheduled(StageName name, StageIndex* stage) const {
  if (const Illegal illegal = find_stage(name, stage)) return illegal;
  const Stage& found = tree_.stage(*stage);
  if (found.kind == StageKind::Input) return reject(IllegalCode::StageIsInput, name);
  if (found.place == Attachment::Inlined) return reject(IllegalCode::StageIsInlined, name);
  return {};
}

Illegal TreeEditor::find_loop(StageIndex stage, Name name, VarIndex* loop) const {
  *loop = tree_.find_loop(stage, name);
  if (*loop != kNone) return {};
  return reject(IllegalCode::NoSuchLoop, tree_.stage(stage).name, name);
}

Illegal TreeEditor::find_prefetch(StageName name, Name loop, StageName source,
                                  PrefetchRequest* request) const {
  StageIndex from = kNone;
  if (const Illegal illegal = find_scheduled(name, &request->stage)) return illegal;
  if (const Illegal illegal = find_loop(request->stage, loop, &request->loop)) return illegal;
  if (const Illegal illegal = find_stage(source, &from)) return illegal;
  request->buffer = tree_.stage(from).first_buffer;
  request->step = step_;
  const auto reads = tree_.reads_of(tree_.stage(request->stage));
  if (std::ranges::find(reads, request->buffer, &Access::buffer) == reads.end()) {
    return reject(IllegalCode::NotAReader, name);
  }
  return {};
}

Illegal TreeEditor::find_split(StageName name, Name loop, int* parts) const {
  StageIndex stage = kNone;
  if (const Illegal illegal = find_scheduled(name, &stage)) return illegal;
  for (const LoopVar& var : tree_.vars) {
    if (var.stage != stage || var.name != loop || !var.is_split()) continue;
    *parts = var.parts;
    return {};
  }
  return reject(IllegalCode::NoSuchSplit, name, loop);
}

Illegal TreeEditor::check_unused(StageIndex stage, VarIndex loop) const {
  const LoopVar& var = tree_.var(loop);
  if (var.annotation != Annotation::None || var.bound != ThreadAxis::None) {
    return reject(IllegalCode::LoopIsAnnotated, tree_.stage(stage).name, var.name);
  }
  for (const PrefetchRequest& request : tree_.prefetches) {
    if (request.loop == loop) {
      return reject(IllegalCode::LoopIsAnnotated, tree_.stage(stage).name, var.name);
    }
  }
  if (tree_.find_tensorized(loop) != nullptr) {
    return reject(IllegalCode::LoopIsAnnotated, tree_.stage(stage).name, var.name);
  }
  for (const Stage& other : tree_.stages) {
    if (other.place == Attachment::At && other.at_loop == loop) {
      return reject(IllegalCode::LoopIsAttachPoint, tree_.stage(stage).name, var.name);
    }
  }
  return {};
}

Illegal TreeEditor::check_fresh(StageIndex index) const {
  const Stage& stage = tree_.stage(index);
  const bool same =
      std::equal(stage.axes.begin(), stage.axes.end(), stage.loops.begin(), stage.loops.end());
  if (!same || stage.place != Attachment::Root)
    return reject(IllegalCode::StageHasSteps, stage.name);
  for (const VarIndex loop : stage.loops) {
    if (const Illegal illegal = check_unused(index, loop)) return illegal;
  }
  return {};
}

Illegal TreeEditor::check_room(StageName name) const {
  if (tree_.stages.size() < kMaxStages) return {};
  return reject(IllegalCode::TooManyStages, name, {}, kMaxStages);
}

VarIndex TreeEditor::add_var(const LoopVar& var) {
  tree_.vars.push_back(var);
  return static_cast<VarIndex>(tree_.vars.size() - 1);
}

bool TreeEditor::replace_loops(StageIndex stage, size_t position, size_t count,
                               std::span<const VarIndex> replacement) {
  auto& loops = tree_.stage(stage).loops;
  if (loops.size() - count + replacement.size() > kMaxLoops) return false;
  std::array<VarIndex, kMaxLoops> behind{};
  const size_t tail = loops.size() - position - count;
  std::copy(loops.begin() + position + count, loops.end(), behind.begin());
  loops.resize(position + replacement.size() + tail);
  std::copy(replacement.begin(), replacement.end(), loops.begin() + position);
  std::copy_n(behind.begin(), tail, loops.begin() + position + replacement.size());
  return true;
}

StageIndex TreeEditor::add_stage(const Stage& stage, StageIndex neighbor, bool before) {
  const auto index = static_cast<StageIndex>(tree_.stages.size());
  tree_.stages.push_back(stage);
  auto at = std::find(tree_.order.begin(), tree_.order.end(), neighbor);
  CHECK(at != tree_.order.end(), "stage {} is not in the order", neighbor);
  tree_.order.insert(before ? at : at + 1, index);
  return index;
}

BufferIndex TreeEditor::add_buffer(const Buffer& buffer) {
  tree_.buffers.push_back(buffer);
  return static_cast<BufferIndex>(tree_.buffers.size() - 1);
}

VarIndex TreeEditor::add_axis(StageIndex stage, Name name, IterKind kind) {
  const VarIndex var = add_var({.name = name, .stage = stage, .kind = kind});
  Stage& owner = tree_.stage(stage);
  owner.axes.push_back(var);
  owner.loops.push_back(var);
  if (kind == IterKind::Spatial) owner.dims.push_back(var);
  return var;
}

void TreeEditor::add_identity_access(StageIndex reader, BufferIndex buffer) {
  const uint8_t rank = tree_.buffer(buffer).rank;
  Stage& stage = tree_.stage(reader);
  if (stage.accesses == 0) stage.first_access = static_cast<uint16_t>(tree_.accesses.size());
  CHECK(stage.first_access + stage.accesses == static_cast<int>(tree_.accesses.size()),
        "accesses of a stage are consecutive");
  ++stage.accesses;
  tree_.accesses.push_back({.stage = reader,
                            .buffer = buffer,
                            .rank = rank,
                            .first_dim = static_cast<uint16_t>(tree_.dims.size())});
  for (uint8_t k = 0; k < rank; ++k) {
    AccessDim dim{.affine = true, .index = {}};
    CHECK(dim.index.add_term(k, 1));
    tree_.dims.push_back(dim);
  }
}

namespace {

// outer: P reads X at forms over P's axes. inner: the reader reads P at forms over its own axes.
// Returns the reader's read of X; a form that cannot be composed becomes "any element".
class Composer {
 public:
  Composer(LoopTree& tree, std::span<const AccessDim> inner) : tree_(tree), inner_(inner) {}

  AccessDim compose(const AccessDim& outer) {
    AccessDim out;
    if (!outer.affine && !outer.quasi_affine) return out;
    out.index.constant = outer.index.constant;
    bool affine = true;
    for (const arith::Term& term : outer.index.terms) {
      const bool known = term.var < te::kFirstQuotient ? add_axis(term, out.index, &affine)
                                                       : add_quotient(term, out.index, &affine);
      if (!known) return {};
    }
    out.affine = affine;
    out.quasi_affine = !affine;
    return out;
  }

 private:
  bool add_axis(const arith::Term& term, arith::Affine& out, bool* affine) const {
    const AccessDim& axis = inner_[term.var];
    if (!axis.affine && !axis.quasi_affine) return false;
    *affine &= axis.affine;
    return out.add(axis.index, term.coefficient);
  }

  // floor(f(axes of P) / d) mod m, with the reader's forms in f, which must be affine.
  bool add_quotient(const arith::Term& term, arith::Affine& out, bool* affine) {
    te::Quotient quotient = tree_.quotients[term.var - te::kFirstQuotient];
    const arith::Affine of = quotient.of;
    quotient.of = {};
    quotient.of.constant = of.constant;
    bool inner_affine = true;
    for (const arith::Term& part : of.terms) {
      if (!add_axis(part, quotient.of, &inner_affine) || !inner_affine) return false;
    }
    *affine = false;
    tree_.quotients.push_back(quotient);
    return out.add_term(te::kFirstQuotient + static_cast<uint32_t>(tree_.quotients.size() - 1),
                        term.coefficient);
  }

  LoopTree& tree_;
  std::span<const AccessDim> inner_;
};

}  // namespace

Illegal TreeEditor::compose_accesses(StageIndex reader, StageIndex index) {
  const Stage producer = tree_.stage(index);
  const Stage before = tree_.stage(reader);
  const auto begin = static_cast<uint16_t>(tree_.accesses.size());
  for (size_t k = 0; k < before.accesses; ++k) {
    const Access access = tree_.accesses[before.first_access + k];
    if (tree_.buffer(access.buffer).stage != index) {
      tree_.accesses.push_back(access);
      continue;
    }
    Stage& with = tree_.stage(reader);
    with.instructions = static_cast<int32_t>(
        std::min(int64_t{with.instructions} + producer.instructions, kMaxInstructions + 1));
    // A copy has no expression: its operand is read in its place. The expression of an operator
    // belongs to its stage, even if another stage computes it.
    const StageIndex body =
        producer.kind == StageKind::Copy ? access.via : tree_.find_stage({.op = producer.name.op});
    for (size_t p = 0; p < producer.accesses; ++p) {
      const Access source = tree_.accesses[producer.first_access + p];
      if (std::max(tree_.accesses.size(), tree_.dims.size() + source.rank) >= kMaxReads) {
        return reject(IllegalCode::TooManyReads, before.name, {}, kMaxReads);
      }
      tree_.accesses.push_back({.stage = reader,
                                .buffer = source.buffer,
                                .rank = source.rank,
                                .guarded = access.guarded || source.guarded,
                                .via = source.via == kNone ? body : source.via,
                                .first_dim = static_cast<uint16_t>(tree_.dims.size())});
      std::array<AccessDim, kMaxRank> inner;
      std::copy_n(tree_.dims.begin() + access.first_dim, access.rank, inner.begin());
      Composer composer(tree_, inner);
      for (size_t d = 0; d < source.rank; ++d) {
        const AccessDim outer = tree_.dims[source.first_dim + d];
        tree_.dims.push_back(composer.compose(outer));
      }
    }
  }
  Stage& stage = tree_.stage(reader);
  stage.first_access = begin;
  stage.accesses = static_cast<uint16_t>(tree_.accesses.size() - begin);
  return {};
}

namespace {

// True if a loop around this stage, or a loop of the stage down to `position`, clashes with the
// parallel loop `inner`: threads of a CPU do not nest, and run no loop of a GPU.
bool parallel_around(const LoopTree& tree, StageIndex index, int position, const LoopVar& inner) {
  while (true) {
    const Stage& stage = tree.stage(index);
    for (int k = 0; k <= position; ++k) {
      const LoopVar& outer = tree.var(stage.loops[static_cast<size_t>(k)]);
      const bool is_grid = outer.bound != ThreadAxis::None && inner.bound != ThreadAxis::None;
      if (outer.is_parallel() && !is_grid) return true;
    }
    if (stage.place != Attachment::At) return false;
    index = stage.at_stage;
    position = tree.var(stage.at_loop).position;
  }
}

Illegal check_loops(const LoopTree& tree, StageIndex index) {
  const Stage& stage = tree.stage(index);
  const auto reject = [&](IllegalCode code, VarIndex loop) {
    return Illegal{.code = code, .stage = stage.name, .loop = tree.var(loop).name};
  };
  VarIndex vectorized = kNone;
  for (size_t k = 0; k < stage.loops.size(); ++k) {
    const LoopVar& var = tree.var(stage.loops[k]);
    if (var.annotation == Annotation::Vectorize) {
      if (vectorized != kNone) return reject(IllegalCode::TwoVectorized, stage.loops[k]);
      vectorized = stage.loops[k];
    } else if (vectorized != kNone && var.annotation != Annotation::Unroll) {
      return reject(IllegalCode::VectorizeNotInnermost, vectorized);
    }
    if (var.is_parallel() && parallel_around(tree, index, static_cast<int>(k) - 1, var)) {
      return reject(IllegalCode::NestedParallel, stage.loops[k]);
    }
  }
  return {};
}

Illegal check_place(const LoopTree& tree, StageIndex index) {
  const Stage& stage = tree.stage(index);
  const Stage& target = tree.stage(stage.at_stage);
  const LoopVar& loop = tree.var(stage.at_loop);
  const auto reject = [&](IllegalCode code, StageName where, Name name) {
    return Illegal{.code = code, .step = stage.place_step, .stage = where, .loop = name};
  };
  if (stage.kind == StageKind::Partial && target.kind == StageKind::Combine &&
      loop_positions(tree, target.axes.back()).first <= loop.position) {
    return reject(IllegalCode::InsideFold, target.name, loop.name);
  }
  for (int k = 0; k <= loop.position; ++k) {
    const LoopVar& around = tree.var(target.loops[static_cast<size_t>(k)]);
    if (around.annotation == Annotation::Vectorize) {
      return reject(IllegalCode::VectorizeNotInnermost, target.name, around.name);
    }
  }
  for (const Stage& reader : tree.stages) {
    if (reader.place == Attachment::Inlined) continue;
    for (const Access& access : tree.reads_of(reader)) {
      if (tree.buffer(access.buffer).stage != index) continue;
      if (!is_within(tree, access.stage, stage.at_stage, stage.at_loop)) {
        return reject(IllegalCode::ReaderOutside, reader.name, loop.name);
      }
    }
  }
  return {};
}

// A request applies to what the stage still reads after all steps, and to data that exists when its
// loop begins.
Illegal check_prefetch(const LoopTree& tree, const PrefetchRequest& request) {
  const Stage& stage = tree.stage(request.stage);
  const auto reads = tree.reads_of(stage);
  const bool scheduled = stage.place != Attachment::Inlined && tree.var(request.loop).is_loop();
  if (!scheduled || std::ranges::find(reads, request.buffer, &Access::buffer) == reads.end()) {
    return {IllegalCode::NotAReader, request.step, stage.name, {}};
  }
  const StageIndex writer = tree.buffer(request.buffer).stage;
  if (tree.stage(writer).place == Attachment::At &&
      is_within(tree, writer, request.stage, request.loop)) {
    return {IllegalCode::PrefetchUncomputed, request.step, tree.stage(writer).name,
            tree.var(request.loop).name};
  }
  return {};
}

// One loop per GPU axis around any point, and blocks outside threads.
Illegal check_bound(const LoopTree& tree, StageIndex index) {
  const auto reject = [&](IllegalCode code, const LoopVar& var) {
    return Illegal{.code = code, .stage = tree.stage(var.stage).name, .loop = var.name};
  };
  std::array<const LoopVar*, kThreadAxisCount> inner{};  // by axis; visited from the inside out
  const LoopVar* inner_block = nullptr;
  size_t loops = tree.stage(index).loops.size();
  for (StageIndex at = index;;) {
    const Stage& stage = tree.stage(at);
    for (size_t k = loops; k-- > 0;) {
      const LoopVar& var = tree.var(stage.loops[k]);
      if (var.bound == ThreadAxis::None) continue;
      const LoopVar*& same = inner[static_cast<size_t>(var.bound)];
      if (same != nullptr && var.bound != ThreadAxis::VirtualThread) {
        return reject(IllegalCode::BoundTwice, *same);
      }
      same = &var;
      if (is_block(var.bound)) {
        inner_block = &var;
      } else if (inner_block != nullptr) {
        return reject(IllegalCode::BlockInThread, *inner_block);
      }
    }
    if (stage.place != Attachment::At) return {};
    at = stage.at_stage;
    loops = static_cast<size_t>(tree.var(stage.at_loop).position) + 1;
  }
}

Illegal check_packed(const LoopTree& tree, BufferIndex index) {
  const Buffer& buffer = tree.buffer(index);
  const Illegal illegal = check_packable(tree, index, buffer.packed_for);
  return illegal ? Illegal{illegal.code, buffer.pack_step, illegal.stage, {}, illegal.a} : illegal;
}

// The iterations of a loop that is bound to the axis access the same buffer in this memory.
bool is_shared_along(MemoryScope scope, ThreadAxis axis) {
  if (is_block(axis)) return scope == MemoryScope::Global;
  if (is_thread(axis)) return scope == MemoryScope::Global || scope == MemoryScope::Shared;
  return true;  // one thread executes all virtual threads
}

// Memory of a thread or of a block of threads is allocated in a loop, and no loop distributes the
// elements of its content among several of them. All threads run a writer without bound loops, each
// for the whole buffer.
Illegal check_scope(const LoopTree& tree, BufferIndex index) {
  const MemoryScope scope = memory_scope(tree, index);
  const Stage& writer = tree.stage(tree.buffer(index).stage);
  if (scope == MemoryScope::Global || !writer.has_loops()) return {};
  if (writer.place == Attachment::Root) return {IllegalCode::ScopeAtRoot, -1, writer.name, {}};
  for (const VarIndex loop : writer.loops) {
    const LoopVar& var = tree.var(loop);
    if (is_shared_along(scope, var.bound)) continue;
    return {IllegalCode::ScopeTooNarrow, -1, writer.name, var.name, static_cast<int64_t>(scope)};
  }
  return {};
}

}  // namespace

bool is_one_axis(const AccessDim& dim) {
  if (!dim.affine || dim.index.constant != 0 || dim.index.terms.size() > 1) return false;
  return dim.index.terms.empty() || dim.index.terms[0].coefficient == 1;
}

// Each dimension must be one axis of the reader, and each axis at most one dimension. For a
// constant, one such dimension is enough.
Illegal check_packable(const LoopTree& tree, BufferIndex buffer, StageIndex reader) {
  const Stage& stage = tree.stage(reader);
  const auto reject = [&](IllegalCode code, int64_t dim = 0) {
    return Illegal{.code = code, .stage = stage.name, .loop = {}, .a = dim};
  };
  bool reads = false;
  uint32_t axes_seen = 0;
  for (const Access& access : tree.reads_of(stage)) {
    if (access.buffer != buffer) continue;
    if (reads) return reject(IllegalCode::ReadsTwice);
    reads = true;
    int other = -1;  // a dimension that stays whole
    for (int d = 0; d < access.rank; ++d) {
      const AccessDim& dim = tree.dims[size_t{access.first_dim} + static_cast<size_t>(d)];
      if (!is_one_axis(dim)) {
        if (!tree.buffer(buffer).is_constant) return reject(IllegalCode::PackIndex, d);
        other = d;
        continue;
      }
      if (dim.index.terms.empty()) continue;
      const uint32_t bit = uint32_t{1} << dim.index.terms[0].var;
      if ((axes_seen & bit) != 0) return reject(IllegalCode::PackIndex, d);
      axes_seen |= bit;
    }
    if (other >= 0 && axes_seen == 0) return reject(IllegalCode::PackIndex, other);
  }
  if (!reads || stage.place == Attachment::Inlined) return reject(IllegalCode::NotAReader);
  return {};
}

namespace {

// The loops of a variable in the order of their weights.
void append_loops(const LoopTree& tree, VarIndex index, InlineVector<VarIndex, kMaxLoops>& loops) {
  const LoopVar& var = tree.var(index);
  if (var.fused_into != kNone) {  // once, with the outermost member
    const LoopVar& fusion = tree.var(var.fused_into);
    if (fusion.first_member == index) append_loops(tree, var.fused_into, loops);
  } else if (var.is_split()) {
    for (int k = 0; k < var.parts; ++k) {
      append_loops(tree, static_cast<VarIndex>(var.first_part + k), loops);
    }
  } else {
    loops.push_back(index);
  }
}

// Without the permission, floats are folded in the order of the definition.
Illegal check_fold_order(const LoopTree& tree, StageIndex index) {
  const Stage& stage = tree.stage(index);
  const te::Op& op = tree.dag->op(stage.op);
  if (tree.reassociate || !op.has_reduction() || stage.kind == StageKind::Copy) return {};
  // Not even a maximum of floats may be computed in any order: of -0 and +0 the first one is kept.
  if (!ir::is_float(op.reduction->identity[0].type())) return {};
  InlineVector<VarIndex, kMaxLoops> defined;
  for (const VarIndex axis : stage.axes) {
    if (tree.var(axis).kind == IterKind::Reduce) append_loops(tree, axis, defined);
  }
  size_t next = 0;
  for (const VarIndex loop : stage.loops) {
    if (tree.var(loop).kind != IterKind::Reduce) continue;
    if (next >= defined.size() || defined[next] != loop) {
      return {IllegalCode::NeedsReassociate, -1, stage.name, tree.var(loop).name};
    }
    ++next;
  }
  if (stage.kind == StageKind::Compute) return {};
  return {IllegalCode::NeedsReassociate, -1, stage.name, {}};
}

}  // namespace

Illegal check_structure(LoopTree& tree) {
  for (const Stage& stage : tree.stages) {
    for (size_t k = 0; k < stage.loops.size(); ++k) {
      tree.var(stage.loops[k]).position = static_cast<int16_t>(k);
    }
  }
  for (const StageIndex index : tree.order) {
    const Stage& stage = tree.stage(index);
    if (!stage.has_loops()) continue;
    if (stage.place == Attachment::At) {
      if (const Illegal illegal = check_place(tree, index)) return illegal;
    }
  }
  for (const StageIndex index : tree.order) {
    const Stage& stage = tree.stage(index);
    if (!stage.has_loops()) continue;
    if (const Illegal illegal = check_loops(tree, index)) return illegal;
    if (const Illegal illegal = check_bound(tree, index)) return illegal;
    if (const Illegal illegal = check_fold_order(tree, index)) return illegal;
  }
  for (const PrefetchRequest& request : tree.prefetches) {
    if (const Illegal illegal = check_prefetch(tree, request)) return illegal;
  }
  for (size_t k = 0; k < tree.buffers.size(); ++k) {
    if (const Illegal illegal = check_scope(tree, static_cast<BufferIndex>(k))) return illegal;
    if (tree.buffers[k].packed_for == kNone) continue;
    if (const Illegal illegal = check_packed(tree, static_cast<BufferIndex>(k))) return illegal;
  }
  return {};
}

}  // namespace tilewright::schedule
