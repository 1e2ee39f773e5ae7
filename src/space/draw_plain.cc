#include <algorithm>

#include "space/stage_draws.h"

namespace tilewright::space {
namespace {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

class PlainDraw {
 public:
  PlainDraw(SketchWriter& writer, const DrawnStage& drawn)
      : writer_(writer),
        drawn_(drawn),
        tree_(*drawn.tree),
        roles_(drawn.roles),
        name_(drawn.stage().name),
        lanes_(drawn.target->lanes(roles_.element_bytes)) {}

  std::vector<AttachPoint> run(int lead, bool attached) {
    const Stage& stage = drawn_.stage();
    for (size_t axis = 0; axis < stage.axes.size(); ++axis) draw_axis(axis, lead);
    DrawnLoops inner;
    if (!rows_.name.empty()) inner.push_back(rows_);
    if (!vector_.name.empty()) inner.push_back(vector_);
    if (lead == 0 && !attached && writer_.chance(0.1)) writer_.shuffle(outer_);
    writer_.add_reorder(name_, {&lead_, &outer_, &reduce_, &inner});
    if (!vector_.name.empty() && writer_.chance(0.95)) {
      writer_.add(Annotate{name_, vector_.name, Annotation::Vectorise});
    }
    if (!rows_.name.empty() && writer_.chance(0.6)) {
      writer_.add(Annotate{name_, rows_.name, Annotation::Unroll});
    }
    if (!reduce_.empty() && reduce_.back().extent <= 9) {
      writer_.add_maybe(name_, Annotate{name_, reduce_.back().name, Annotation::Unroll});
    }
    if (!attached) draw_threads(lead);
    std::vector<AttachPoint> points;
    for (const DrawnLoops* loops : {&lead_, &outer_}) {
      for (const DrawnLoop& loop : *loops) points.push_back({name_, loop.name});
    }
    return points;
  }

 private:
  void draw_axis(size_t axis, int lead) {
    const LoopVar& var = tree_.var(drawn_.stage().axes[axis]);
    const auto is = [&](int role) { return role == static_cast<int>(axis); };
    const bool reduces = var.kind == IterKind::Reduce;
    if (static_cast<int>(axis) < lead) return draw_lead({var.name, var.extent}, lead, axis);
    DrawnLoops& outer = reduces ? reduce_ : outer_;
    if (is(roles_.vector)) {
      vector_ = cut({var.name, var.extent}, vector_lengths(), outer);
    } else if (is(roles_.across)) {
      rows_ = cut({var.name, var.extent}, {8, 16, 32}, outer);
    } else if (is(roles_.rows) && !roles_.vector_reduces && writer_.chance(0.5)) {
      rows_ = cut({var.name, var.extent}, {2, 4, 8}, outer);
    } else {
      outer.push_back({var.name, var.extent});
    }
  }

  std::vector<int64_t> vector_lengths() const {
    if (roles_.across != kNoAxis) return {lanes_, 8, 16, 32};
    return {lanes_, 2 * lanes_, 4 * lanes_, 8 * lanes_};
  }

  // Cuts off an inner loop of one of the lengths, whichever is shorter than the axis.
  DrawnLoop cut(const DrawnLoop& axis, const std::vector<int64_t>& lengths, DrawnLoops& outer) {
    std::vector<Factors> choices;
    for (const int64_t length : lengths) {
      if (length < axis.extent) choices.push_back({length});
    }
    if (choices.empty() || (axis.extent <= 8 * lanes_ && writer_.chance(0.2))) return axis;
    writer_.add_split(name_, axis.name, choices);
    outer.push_back({axis.name.child(0), ceil_div(axis.extent, choices.front()[0])});
    return {axis.name.child(1), choices.front()[0]};
  }

  // Leading axes, the last of them in blocks of rows.
  void draw_lead(const DrawnLoop& axis, int lead, size_t number) {
    if (static_cast<int>(number) + 1 < lead || axis.extent < 4 || writer_.chance(0.4)) {
      lead_.push_back(axis);
      return;
    }
    writer_.add_split(name_, axis.name, writer_.some_factors(axis.extent, 16));
    lead_.push_back({axis.name.child(0), ceil_div(axis.extent, 4)});
    outer_.push_back({axis.name.child(1), 4});
  }

  void draw_threads(int lead) {
    DrawnLoops& loops = lead > 0 ? lead_ : outer_;
    if (loops.empty()) return;
    if (lead == 0 && loops[0].extent >= 64 && writer_.chance(0.3)) {  // blocks
      const DrawnLoop first = loops[0];
      writer_.add_split(name_, first.name, writer_.some_factors(first.extent, 64));
      loops[0] = {first.name.child(0), ceil_div(first.extent, 8)};
      loops.insert(loops.begin() + 1, {first.name.child(1), 8});
    }
    size_t count = lead > 0 ? loops.size() : 0;
    if (lead == 0) {
      for (int64_t tasks = 1; count < loops.size() && tasks < 2 * drawn_.target->threads; ++count) {
        tasks *= loops[count].extent;
      }
      if (writer_.chance(0.2)) count = writer_.rng().below(loops.size()) + 1;
    }
    writer_.fuse_first(name_, loops, count);
    if (drawn_.target->threads > 1 && writer_.chance(0.95)) {
      writer_.add(Annotate{name_, loops[0].name, Annotation::Parallel});
    }
  }

  SketchWriter& writer_;
  const DrawnStage& drawn_;
  const LoopTree& tree_;
  const AxisRoles& roles_;
  StageName name_;
  int64_t lanes_;
  DrawnLoops lead_, outer_, reduce_;
  DrawnLoop rows_, vector_;
};

}  // namespace

std::vector<AttachPoint> draw_plain(SketchWriter& writer, const DrawnStage& drawn, int lead,
                                    bool attached) {
  return PlainDraw(writer, drawn).run(lead, attached);
}

std::vector<AttachPoint> draw_factored(SketchWriter& writer, const DrawnStage& drawn) {
  const LoopTree& tree = *drawn.tree;
  const Stage& stage = drawn.stage();
  const StageName name = stage.name;
  const StageName partial{.op = name.op, .role = StageRole::Rfactor};
  DrawnLoops reduce;
  for (const VarIndex axis : stage.axes) {
    const LoopVar& var = tree.var(axis);
    if (var.kind == IterKind::Reduce) reduce.push_back({var.name, var.extent});
  }
  const DrawnLoop axis = reduce[writer.rng().below(reduce.size())];
  std::vector<Factors> choices(4);
  for (Factors& factors : choices) {
    const int64_t parts = int64_t{drawn.target->threads} << writer.rng().below(6);
    factors.push_back(writer.chance(0.6) ? std::max<int64_t>(1, ceil_div(axis.extent, parts))
                                         : writer.some_factor(axis.extent, axis.extent));
  }
  writer.add_split(name, axis.name, choices, Tail::Mask);
  writer.add(Rfactor{name, axis.name.child(0)});
  if (drawn.target->threads > 1 && writer.chance(0.9)) {
    writer.add(Annotate{partial, axis.name.child(0), Annotation::Parallel});
  }
  // Lanes along the last reduce axis, or what is left of it.
  const Name last = reduce.back().name == axis.name ? axis.name.child(1) : reduce.back().name;
  const int64_t lanes = drawn.target->lanes(drawn.roles.element_bytes);
  if (writer.chance(0.9)) {
    const bool blocks = writer.chance(0.3);  // of several vectors, in a loop of their own
    std::vector<Factors> lengths = {{lanes}, {2 * lanes}, {4 * lanes}, {8 * lanes}};
    for (Factors& factors : lengths) {
      if (blocks) factors = {writer.rng().between(2, 8), factors[0]};
    }
    writer.add_split(partial, last, lengths);
    if (blocks) {
      writer.add_maybe(partial, Annotate{partial, last.child(1), Annotation::Unroll});
    }
    writer.add(Annotate{partial, last.child(blocks ? 2 : 1), Annotation::Vectorise});
  }
  return {{partial, axis.name.child(0)}};
}

}  // namespace tilewright::space
