#include "random_sketch.h"

#include <algorithm>
#include <array>
#include <map>

#include "schedule/intrinsics.h"
#include "space/tile_domain.h"
#include "te/predicates.h"

namespace tilewright::testing {
namespace {

using namespace schedule;  // NOLINT: a test about nothing else

struct Loop {
  Name name;
  bool reduces = false;
  int64_t extent = 1;    // about
  bool may_pad = false;  // its surplus has room: a whole axis of a stage that is not an output
};
using Loops = std::vector<Loop>;

// The steps and holes of a sketch as it grows.
class SketchWriter {
 public:
  explicit SketchWriter(Rng& rng) : rng_(rng) {}

  void add(const Step& step) { sketch_.trace.steps.push_back(step); }

  // A step with choices; nullopt among them leaves it out.
  void add_choice(StageName stage, std::vector<std::optional<Step>> choices) {
    Step any;
    for (const auto& choice : choices) {
      if (choice) any = *choice;
    }
    sketch_.holes.push_back({hole(), stage, StepDomain{std::move(choices)}});
    add(any);
  }
  void add_maybe(StageName stage, const Step& step) { add_choice(stage, {std::nullopt, step}); }

  void add_split(StageName stage, const Loop& loop, int parts) {
    TileDomain domain = space::tile_domain({.extent = loop.extent, .factors = parts - 1});
    for (int k = 0; k < 3; ++k) {  // and some that leave a remainder or exceed the extent
      Factors factors;
      for (int p = 1; p < parts; ++p) {
        factors.push_back(rng_.between(1, std::min<int64_t>(loop.extent + 2, 9)));
      }
      domain.choices.push_back(factors);
    }
    sketch_.holes.push_back({hole(), stage, domain});
    add(Split{.stage = stage, .loop = loop.name, .factors = domain.choices[0], .tail = tail(loop)});
  }

  // Legal in most cases.
  Tail tail(const Loop& loop) {
    constexpr std::array kTails = {Tail::Peel, Tail::Mask, Tail::Overlap, Tail::Pad};
    const Tail drawn = kTails[rng_.below(kTails.size())];
    const bool refused = drawn == Tail::Overlap
                             ? loop.reduces
                             : drawn == Tail::Pad && !loop.reduces && !loop.may_pad;
    return refused && !rng_.chance(0.05) ? Tail::Peel : drawn;
  }

  Sketch finish() && { return std::move(sketch_); }

 private:
  int16_t hole() const { return static_cast<int16_t>(sketch_.trace.steps.size()); }

  Rng& rng_;
  Sketch sketch_;
};

// Cuts, orders and fuses the loops of stages.
class Tiler {
 public:
  Tiler(SketchWriter& writer, Rng& rng) : writer_(writer), rng_(rng) {}

  // Splits every axis in up to three and interleaves the parts: all first parts, then all second
  // ones and so on, with the reduce loops somewhere between. The loops, outside in.
  Loops tile(StageName stage, bool output, const std::vector<te::Axis>& spatial,
             const std::vector<te::Axis>& reduce) {
    const size_t parts = rng_.below(3) + 1;
    std::vector<Loops> levels(parts);
    for (const te::Axis& axis : spatial) {
      split_into(stage, {axis.name, false, axis.extent.high, !output}, levels);
    }
    std::vector<Loops> reduce_levels(rng_.below(2) + 1);
    for (const te::Axis& axis : reduce) {
      split_into(stage, {axis.name, true, axis.extent.high}, reduce_levels);
    }
    const size_t first = rng_.below(parts + 1);
    Loops order;
    for (size_t level = 0; level < std::max(parts, first + reduce_levels.size()); ++level) {
      if (level >= first && level - first < reduce_levels.size()) {
        append(order, reduce_levels[level - first]);
      }
      if (level < parts) append(order, levels[level]);
    }
    LoopList names;
    for (const Loop& loop : order) names.push_back(loop.name);
    writer_.add(Reorder{.stage = stage, .loops = names});
    if (!order.empty() && rng_.chance(0.2)) split_again(stage, order);
    if (rng_.chance(parts == 1 ? 0.5 : 0.2)) fuse(stage, order);
    return order;
  }

 private:
  struct Cut {  // a loop that a split has cut, of a stage that is always there
    StageName stage;
    Name loop;
    int parts;
  };

  static void append(Loops& to, const Loops& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  void split_into(StageName stage, const Loop& whole, std::vector<Loops>& levels) {
    const int parts = static_cast<int>(levels.size());
    if (parts == 1) {
      levels[0].push_back(whole);
      return;
    }
    if (!follow(stage, whole, parts)) writer_.add_split(stage, whole, parts);
    if (stage.role == StageRole::Main) cuts_.push_back({stage, whole.name, parts});
    for (int k = 0; k < parts; ++k) {
      levels[static_cast<size_t>(k)].push_back({whole.name.child(static_cast<unsigned>(k)),
                                                whole.reduces, std::min<int64_t>(4, whole.extent)});
    }
  }

  // Occasionally with the factors of a loop of that name in another stage.
  bool follow(StageName stage, const Loop& loop, int parts) {
    for (const Cut& cut : cuts_) {
      if (cut.stage == stage || !(cut.loop == loop.name) || cut.parts < parts) continue;
      if (!rng_.chance(0.4)) continue;
      writer_.add(FollowSplit{.stage = stage,
                              .loop = loop.name,
                              .source = cut.stage,
                              .source_loop = cut.loop,
                              .parts = parts,
                              .tail = writer_.tail(loop)});
      return true;
    }
    return false;
  }

  void split_again(StageName stage, Loops& order) {
    const size_t at = rng_.below(order.size());
    const Loop loop = order[at];
    writer_.add_split(stage, loop, 2);
    replace(order, at, 1, loop);
  }

  // One loop of two neighbors, which may be cut again.
  void fuse(StageName stage, Loops& order) {
    if (order.size() < 2) return;
    const size_t at = rng_.below(order.size() - 1);
    const Loop a = order[at], b = order[at + 1];
    if (a.reduces != b.reduces) return;
    writer_.add(Fuse{.stage = stage, .loops = {a.name, b.name}});
    const Loop fused{Name::fuse(std::vector<Name>{a.name, b.name}), a.reduces, a.extent * b.extent};
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(at));
    order[at] = fused;
    if (!follow_fused(stage, fused, a, b)) {
      if (!rng_.chance(0.4)) return;
      writer_.add_split(stage, fused, 2);
    }
    replace(order, at, 1, fused);
  }

  bool follow_fused(StageName stage, const Loop& fused, const Loop& a, const Loop& b) {
    const auto cut_of = [&](StageName source, const Loop& loop) {
      return std::ranges::any_of(
          cuts_, [&](const Cut& cut) { return cut.stage == source && cut.loop == loop.name; });
    };
    for (const Cut& cut : cuts_) {
      if (cut.stage == stage || !cut_of(cut.stage, a) || !cut_of(cut.stage, b)) continue;
      writer_.add(FollowFusedSplit{.stage = stage,
                                   .loop = fused.name,
                                   .source = cut.stage,
                                   .source_loops = {a.name, b.name},
                                   .level = 0,
                                   .tail = writer_.tail(fused)});
      return true;
    }
    return false;
  }

  // The parts of a loop in its place.
  static void replace(Loops& order, size_t at, size_t count, const Loop& loop) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(at);
    const Loops parts = {{loop.name.child(0), loop.reduces, 2},
                         {loop.name.child(1), loop.reduces, 2}};
    order.insert(order.erase(begin, begin + static_cast<std::ptrdiff_t>(count)), parts.begin(),
                 parts.end());
  }

  SketchWriter& writer_;
  Rng& rng_;
  std::vector<Cut> cuts_;
};

class SketchMaker {
 public:
  SketchMaker(const Workload& workload, const Target& target, Rng& rng)
      : dag_(*workload.dag),
        workload_(workload),
        target_(target),
        rng_(rng),
        writer_(rng),
        tiler_(writer_, rng) {}

  Sketch run() {
    for (te::OpId op = static_cast<te::OpId>(dag_.ops().size()); op-- > 0;) {
      if (dag_.op(op).kind != te::OpKind::Placeholder) add_operator(op);
      add_shared_copy(op);
    }
    return std::move(writer_).finish();
  }

 private:
  struct Placed {  // a stage whose loops are laid out
    StageName stage;
    Loops loops;
  };

  void add_operator(te::OpId id) {
    const te::Op& op = dag_.op(id);
    const StageName main{.op = op.name};
    const bool output = te::is_output(dag_, id);
    const bool reduces = op.has_reduction();
    if (reduces && rng_.chance(0.6) && add_tensorized(id, main)) return;
    if (reduces && rng_.chance(0.5)) return add_cached(id, main, output);
    if (reduces && rng_.chance(0.4)) return add_factored(id, main, output);
    if (!output && rng_.chance(0.4)) {
      place(main, id, reduces);
      readers_.emplace_back(id, main);
      return;
    }
    const Loops order = tiler_.tile(main, output, op.axes, op.reduce_axes);
    annotate(main, order);
    if (!output) place(main, id, reduces);
    placed_.push_back({main, order});
    add_reads(main, id);
  }

  // A sum of products that a tensor intrinsic of the target computes. False: there is none.
  bool add_tensorized(te::OpId id, StageName main) {
    const te::Op& op = dag_.op(id);
    for (const TensorIntrinsic& intrinsic : all_intrinsics()) {
      const bool fits = !match_operands(intrinsic, op.body[0]).empty();
      if (!fits || op.axes.empty() || !target_.has(intrinsic.capability)) continue;
      const Name lanes = op.axes.back().name, factors = op.reduce_axes.back().name;
      writer_.add(Split{main, lanes, {intrinsic.lanes()}, Tail::Peel});
      writer_.add(Split{main, factors, {intrinsic.factors()}, Tail::Peel});
      writer_.add(
          Reorder{main, {lanes.child(0), factors.child(0), lanes.child(1), factors.child(1)}});
      for (const te::OpId producer : dag_.producers(id)) {
        const StageName operand{.op = dag_.op(producer).name};
        const bool input = dag_.op(producer).kind == te::OpKind::Placeholder;
        if (input && workload_.operand_of(dag_.op(producer).outputs[0]).role == Role::Constant) {
          writer_.add(Pack{operand, main});
        }
      }
      writer_.add_maybe(main, Tensorize{main, lanes.child(1), intrinsic.name});
      placed_.push_back({main, {{lanes.child(0)}}});
      return true;
    }
    return false;
  }

  // A reduction with separate accumulators, as in real kernels.
  void add_cached(te::OpId id, StageName main, bool output) {
    const te::Op& op = dag_.op(id);
    const StageName write{.op = op.name, .role = StageRole::Write};
    writer_.add_maybe(main, CacheWrite{main});
    const Loops outer = tiler_.tile(main, output, op.axes, {});
    std::vector<std::optional<Step>> at = {std::nullopt};
    for (const Loop& loop : outer) at.push_back(ComputeAt{write, main, loop.name});
    writer_.add_choice(write, std::move(at));
    const Loops inner = tiler_.tile(write, false, op.axes, op.reduce_axes);
    annotate(write, inner);
    if (rng_.chance(0.5)) annotate(main, outer);
    if (!output && rng_.chance(0.5)) place(main, id, true);
    placed_.push_back({main, outer});
    placed_.push_back({write, inner});
    add_reads(write, id);
  }

  void add_factored(te::OpId id, StageName main, bool output) {
    const te::Op& op = dag_.op(id);
    const te::Axis& axis = op.reduce_axes[rng_.below(op.reduce_axes.size())];
    writer_.add_split(main, {axis.name, true, axis.extent.high}, 2);
    const Name loop = axis.name.child(static_cast<unsigned>(rng_.below(2)));
    writer_.add(Rfactor{main, loop});
    const StageName partial{.op = op.name, .role = StageRole::Rfactor};
    writer_.add_choice(partial, {std::nullopt, Annotate{partial, loop, Annotation::Unroll},
                                 Annotate{partial, loop, Annotation::Parallel}});
    writer_.add_choice(main, {std::nullopt, Annotate{main, loop, Annotation::Vectorize},
                              Annotate{main, loop, Annotation::Unroll}});
    if (!op.axes.empty()) {
      const Name outer = op.axes[0].name;
      writer_.add_choice(partial, {std::nullopt, ComputeAt{partial, main, outer}});
      placed_.push_back({partial, {{outer, false, op.axes[0].extent.high}}});
    }
    if (!output && rng_.chance(0.5)) place(main, id, true);
    add_reads(partial, id);
  }

  void annotate(StageName stage, const Loops& order) {
    if (order.empty()) return;
    const Name inner = order.back().name;
    const bool folds = std::ranges::any_of(order, &Loop::reduces);
    if (rng_.chance(folds ? 0.02 : 0.2)) {
      const Name loop = order[rng_.below(order.size())].name;
      writer_.add_maybe(stage, Annotate{stage, loop, Annotation::Stream});
    }
    writer_.add_choice(stage, {std::nullopt, Annotate{stage, inner, Annotation::Vectorize},
                               Annotate{stage, inner, Annotation::Unroll}});
    if (order.size() > 2) {
      const Name next = order[order.size() - 2].name;
      writer_.add_maybe(stage, Annotate{stage, next, Annotation::Unroll});
    }
    if (order.size() > 1 && !order[0].reduces && rng_.chance(0.5)) {
      writer_.add_maybe(stage, Annotate{stage, order[0].name, Annotation::Parallel});
    }
  }

  // Where a stage is computed: root, inline, or at a loop of a stage that is laid out already: one
  // of its readers', or now and then another's, into which its readers may have moved.
  void place(StageName stage, te::OpId op, bool reduces) {
    std::vector<std::optional<Step>> choices = {std::nullopt};
    if (!reduces) choices.push_back(ComputeInline{stage});
    const auto consumers = dag_.consumers(op);
    for (const Placed& placed : placed_) {
      const bool reads = std::ranges::any_of(
          consumers, [&](te::OpId c) { return dag_.op(c).name == placed.stage.op; });
      if (!rng_.chance(!reads ? 0.1 : consumers.size() > 1 ? 0.3 : 1)) continue;
      for (const Loop& loop : placed.loops) {
        const bool innermost = &loop == &placed.loops.back() && placed.loops.size() > 1;
        if (!innermost || rng_.chance(0.2)) {  // which may be vectorized
          choices.push_back(ComputeAt{stage, placed.stage, loop.name});
        }
      }
    }
    writer_.add_choice(stage, std::move(choices));
    if (rng_.chance(0.05)) writer_.add(ComputeRoot{stage});
  }

  // Copies of operands, packed or not, packed constants, and requests for what comes next.
  void add_reads(StageName reader, te::OpId id) {
    readers_.emplace_back(id, reader);
    for (const te::OpId producer : dag_.producers(id)) {
      const te::Op& op = dag_.op(producer);
      const StageName stage{.op = op.name};
      const bool input = op.kind == te::OpKind::Placeholder;
      const bool constant = input && workload_.operand_of(op.outputs[0]).role == Role::Constant;
      if (rng_.chance(constant ? 0.7 : input ? 0 : 0.1)) {
        writer_.add_maybe(stage, Pack{stage, reader});
      } else if (rng_.chance(input ? 0.4 : 0.15)) {
        add_copy(producer, {reader});
        copied_.emplace_back(producer, reader);
      } else if (rng_.chance(0.2)) {
        add_prefetch(reader, stage);
      }
    }
  }

  void add_prefetch(StageName reader, StageName source) {
    const auto placed = std::ranges::find(placed_, reader, &Placed::stage);
    if (placed == placed_.end() || placed->loops.empty()) return;
    const Name loop = placed->loops[rng_.below(placed->loops.size())].name;
    if (rng_.chance(0.5)) {
      writer_.add_maybe(reader, PrefetchNext{reader, loop, source});
    } else {
      writer_.add_maybe(reader, Prefetch{reader, loop, source, rng_.between(1, 3)});
    }
  }

  // A copy for all readers of the operator itself, if there are several.
  void add_shared_copy(te::OpId producer) {
    StageList takers;
    for (const auto& [id, reader] : readers_) {
      const auto producers = dag_.producers(id);
      const bool reads = std::ranges::find(producers, producer) != producers.end();
      const bool copied = std::ranges::find(copied_, std::pair(producer, reader)) != copied_.end();
      if (reads && !copied && !takers.full()) takers.push_back(reader);
    }
    if (takers.size() < 2 || !rng_.chance(0.3)) return;
    add_copy(producer, takers);
  }

  void add_copy(te::OpId producer, const StageList& takers) {
    const StageName stage{.op = dag_.op(producer).name};
    const uint8_t ordinal = copies_[producer]++;
    const StageName copy{.op = stage.op, .role = StageRole::Read, .ordinal = ordinal};
    writer_.add_maybe(stage, CacheRead{stage, takers, ordinal});
    if (rng_.chance(0.15)) {  // a copy of the copy
      writer_.add_maybe(stage, CacheRead{stage, {copy}, copies_[producer]++});
    }
    const auto loops = std::ranges::find(placed_, takers[0], &Placed::stage);
    if (loops != placed_.end()) {
      std::vector<std::optional<Step>> at = {std::nullopt};
      for (const Loop& loop : loops->loops) at.push_back(ComputeAt{copy, takers[0], loop.name});
      writer_.add_choice(copy, std::move(at));
    }
    if (rng_.chance(0.5)) writer_.add_maybe(copy, Pack{copy, takers[0]});
  }

  const te::Dag& dag_;
  const Workload& workload_;
  const Target& target_;
  Rng& rng_;
  SketchWriter writer_;
  Tiler tiler_;
  std::vector<Placed> placed_;
  std::vector<std::pair<te::OpId, StageName>>
      readers_;  // the stage that computes an operator's body
  std::vector<std::pair<te::OpId, StageName>> copied_;  // producers that a reader reads a copy of
  std::map<te::OpId, uint8_t> copies_;                  // made of an operator
};

}  // namespace

Sketch random_sketch(const Workload& workload, const Target& target, Rng& rng) {
  return SketchMaker(workload, target, rng).run();
}

}  // namespace tilewright::testing
