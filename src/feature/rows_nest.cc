#include "feature/rows_nest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "schedule/region.h"

namespace tilewright::feature {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

// How a loop of a statement runs. Only the update uses the intrinsic; the initialization is
// vectorized along its lanes.
Annotation annotation_of(const LoopVar& var, IntrinsicAxis axis, StatementKind kind) {
  if (axis == IntrinsicAxis::None) return var.annotation;
  if (axis == IntrinsicAxis::Lane) return Annotation::Vectorize;
  return kind == StatementKind::Update ? Annotation::Unroll : Annotation::None;
}

}  // namespace

bool reduces(const LoopTree& tree, const Stage& stage) {
  return stage.kind != StageKind::Copy && tree.dag->op(stage.op).has_reduction();
}

void NestFinder::begin(const LoopTree& tree) {
  tree_ = &tree;
  trips_.resize(tree.vars.size());
  level_of_.assign(tree.vars.size(), -1);
  facts_.assign(tree.stages.size(), {});
  bool ragged = false;
  for (size_t k = 0; k < tree.vars.size(); ++k) {
    const LoopVar& var = tree.vars[k];
    if (var.origin == VarOrigin::Axis) {
      trips_[k] = static_cast<double>(var.extent);
      ragged |= var.ragged;
    } else {
      set_trips(static_cast<VarIndex>(k));
    }
  }
  if (ragged) set_attached_means();
  statements_.clear();
  for (const StageIndex index : tree.order) {
    const Stage& stage = tree.stage(index);
    if (stage.kind != StageKind::Input && stage.place == Attachment::Root) add_statements(index);
  }
}

// For a part or a fusion, once its components are known.
void NestFinder::set_trips(VarIndex index) {
  const LoopVar& var = tree_->var(index);
  if (var.origin == VarOrigin::Fused) {
    double product = 1;
    for (VarIndex m = var.first_member; m != kNone; m = tree_->var(m).next_member) {
      product *= trips_[static_cast<size_t>(m)];
    }
    trips_[static_cast<size_t>(index)] = product;
    return;
  }
  if (var.part == 0) set_parts(tree_->var(var.parent), trips_[static_cast<size_t>(var.parent)]);
}

// `count` values, on average, of a split variable. The mean trips of its parts:
//
//   ceil(count / stride), those of the part outside included
void NestFinder::set_parts(const LoopVar& whole, double count) {
  const auto first = static_cast<size_t>(whole.first_part);
  if (whole.unordered || (whole.remainder == 0 && !whole.ragged)) {
    for (size_t k = 0; k < whole.parts; ++k) {
      trips_[first + k] = static_cast<double>(tree_->vars[first + k].extent);
    }
    return;
  }
  const auto extent = static_cast<double>(whole.extent);
  const Tail tail = tail_of(whole);
  const auto tile = static_cast<double>(tree_->vars[first + whole.parts - 2].stride);
  const bool overlaps = tail == Tail::Overlap && extent >= tile;
  double covered = count;
  if (tail == Tail::Pad || overlaps) covered = std::ceil(count / tile) * tile;
  double before = 1;
  for (size_t k = 0; k < whole.parts; ++k) {
    const auto stride = static_cast<double>(tree_->vars[first + k].stride);
    const double through = stride == 1 ? covered : std::ceil(covered / stride);
    trips_[first + k] = through / before;
    before = through;
  }
  if (whole.remainder == 0 || whole.stage == kNone) return;
  StageFacts& facts = facts_[static_cast<size_t>(whole.stage)];
  facts.even *= 1 - static_cast<double>(whole.remainder) / extent;
  if (overlaps) facts.overlap *= covered / count;
}

// Attached stages compute less in a tail of their reader. Readers come first.
void NestFinder::set_attached_means() {
  facts_.assign(tree_->stages.size(), {});
  for (size_t k = tree_->order.size(); k-- > 0;) {
    const StageIndex index = tree_->order[k];
    const Stage& stage = tree_->stage(index);
    if (!stage.has_loops()) continue;
    if (stage.place == Attachment::At) set_attached_means(index);
    for (size_t v = 0; v < tree_->vars.size(); ++v) {
      const LoopVar& var = tree_->vars[v];
      if (var.stage == index && var.origin != VarOrigin::Axis) {
        set_trips(static_cast<VarIndex>(v));
      }
    }
  }
}

// Extents of regions are linear in the trips of the reader's loops, and so are their means.
void NestFinder::set_attached_means(StageIndex index) {
  const Stage& stage = tree_->stage(index);
  for (const Access& access : tree_->accesses) {
    if (tree_->buffer(access.buffer).stage != index || !is_live(*tree_, access)) continue;
    for (size_t d = 0; d < access.rank; ++d) {
      const auto axis = static_cast<size_t>(stage.dims[d]);
      const LoopVar& var = tree_->vars[axis];
      if (!var.ragged || var.origin != VarOrigin::Axis) continue;
      if (!tree_->dims[access.first_dim + d].affine) continue;
      double missing = 0;
      for (const arith::Term& term : tree_->forms[access.first_dim + d].terms) {
        const auto inner = static_cast<VarIndex>(term.var);
        const LoopVar& moving = tree_->var(inner);
        if (!moving.ragged ||
            is_outside(*tree_, inner, stage.at_stage, stage.at_loop) == Outside::Yes) {
          continue;
        }
        missing += static_cast<double>(std::abs(term.coefficient)) *
                   (static_cast<double>(moving.extent) - trips_[term.var]);
      }
      trips_[axis] = std::max(1.0, static_cast<double>(var.extent) - missing);
    }
    return;  // the first of several reads represents all
  }
}

// A stage with its attached stages, in execution order.
void NestFinder::add_statements(StageIndex index) {
  const Stage& stage = tree_->stage(index);
  const bool folds = reduces(*tree_, stage);
  uint64_t has_attached = 0;
  for (const StageIndex other : tree_->order) {
    const Stage& inner = tree_->stage(other);
    if (inner.place != Attachment::At || inner.at_stage != index) continue;
    has_attached |= uint64_t{1} << tree_->var(inner.at_loop).position;
  }
  bool begun = !folds;
  for (size_t k = 0; k < stage.loops.size(); ++k) {
    const VarIndex loop = stage.loops[k];
    if (!begun && tree_->var(loop).kind == IterKind::Reduce) {
      add_statement(index, StatementKind::Init);
      begun = true;
    }
    if ((has_attached >> k & 1) == 0) continue;
    for (const StageIndex other : tree_->order) {
      const Stage& inner = tree_->stage(other);
      if (inner.place == Attachment::At && inner.at_loop == loop) add_statements(other);
    }
  }
  if (!begun) add_statement(index, StatementKind::Init);
  add_statement(index, folds                           ? StatementKind::Update
                       : stage.kind == StageKind::Copy ? StatementKind::Copy
                                                       : StatementKind::Value);
}

void NestFinder::add_statement(StageIndex index, StatementKind kind) {
  const Stage& stage = tree_->stage(index);
  double iterations = trips_around(stage);
  for (const VarIndex loop : stage.loops) {
    if (kind == StatementKind::Init && tree_->var(loop).kind == IterKind::Reduce) continue;
    iterations *= trips_[static_cast<size_t>(loop)];
  }
  statements_.push_back({.stage = index, .kind = kind, .iterations = iterations});
}

double NestFinder::trips_around(const Stage& inner) const {
  double trips = 1;
  for (const Stage* stage = &inner; stage->place == Attachment::At;) {
    const int last = tree_->var(stage->at_loop).position;
    stage = &tree_->stage(stage->at_stage);
    for (int k = 0; k <= last; ++k) {
      trips *= trips_[static_cast<size_t>(stage->loops[static_cast<size_t>(k)])];
    }
  }
  return trips;
}

void NestFinder::make_nest(const Statement& statement, Nest* nest) {
  for (const NestLoop& level : nest->levels) {
    if (static_cast<size_t>(level.var) < level_of_.size()) {
      level_of_[static_cast<size_t>(level.var)] = -1;
    }
  }
  nest->levels.clear();
  nest->outside = 1;
  nest->own = 0;
  add_levels(statement, statement.stage,
             static_cast<int>(tree_->stage(statement.stage).loops.size()), nest);
  const size_t size = nest->levels.size();
  nest->inner[size] = 1;
  for (size_t k = size; k-- > 0;) {
    nest->inner[k] = nest->inner[k + 1] * nest->levels[k].trips;
    level_of_[static_cast<size_t>(nest->levels[k].var)] = static_cast<int16_t>(k);
  }
}

// The outer `count` loops of a stage, after the loops around it.
void NestFinder::add_levels(const Statement& statement, StageIndex index, int count, Nest* nest) {
  const Stage& stage = tree_->stage(index);
  if (stage.place == Attachment::At) {
    add_levels(statement, stage.at_stage, tree_->var(stage.at_loop).position + 1, nest);
  }
  const bool is_own = index == statement.stage;
  if (is_own) nest->own = nest->size();
  const bool has_tensorized = !tree_->tensorized.empty();
  for (int k = 0; k < count; ++k) {
    const VarIndex loop = stage.loops[static_cast<size_t>(k)];
    const LoopVar& var = tree_->var(loop);
    if (var.extent == 1) continue;
    if (is_own && statement.kind == StatementKind::Init && var.kind == IterKind::Reduce) continue;
    if (nest->levels.full()) {
      nest->outside *= nest->levels[0].trips;
      nest->levels.erase_at(0);
      nest->own -= std::min<size_t>(nest->own, 1);
    }
    const IntrinsicAxis axis = is_own && has_tensorized
                                   ? tree_->intrinsic_axis(stage, static_cast<size_t>(k))
                                   : IntrinsicAxis::None;
    nest->levels.push_back(
        {.var = loop,
         .stage = index,
         .annotation = annotation_of(var, axis, statement.kind),
         .kind = var.kind,
         .bound = var.bound,
         .intrinsic = statement.kind == StatementKind::Update ? axis : IntrinsicAxis::None,
         .extent = var.extent,
         .trips = trips_[static_cast<size_t>(loop)]});
  }
}

size_t NestFinder::levels_outside(const Nest& nest, StageIndex stage, VarIndex loop) const {
  const int position = tree_->var(loop).position;
  size_t outside = 0;
  bool reached = false;
  for (size_t k = 0; k < nest.size(); ++k) {
    const bool same = nest.levels[k].stage == stage;
    if (reached && !same) break;
    if (same && tree_->var(nest.levels[k].var).position > position) break;
    reached |= same;
    if (!same && is_within(*tree_, nest.levels[k].stage, stage, loop)) break;
    outside = k + 1;
  }
  return outside;
}

double NestFinder::ragged_share(StageIndex index) const {
  double even = 1;
  while (true) {
    even *= facts_[static_cast<size_t>(index)].even;
    const Stage& stage = tree_->stage(index);
    if (stage.place != Attachment::At) return 1 - even;
    index = stage.at_stage;
  }
}

}  // namespace tilewright::feature
