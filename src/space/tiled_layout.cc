#include "space/tiled_layout.h"

#include <algorithm>
#include <utility>

#include "heuristic/thread_loops.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

void append(std::vector<Name>& loops, const std::vector<Name>& more) {
  loops.insert(loops.end(), more.begin(), more.end());
}

bool belongs_to(Name loop, Name axis) {
  return loop == axis || loop.text().starts_with(axis.text() + ".");
}

// The orders of a level: axis order, and with the lanes' axis first.
std::vector<std::vector<Name>> orders_of(const std::vector<Name>& level, Name lane_axis,
                                         bool several) {
  std::vector<std::vector<Name>> orders = {level};
  if (!several || lane_axis.empty()) return orders;
  std::vector<Name> first, rest;
  for (const Name loop : level) (belongs_to(loop, lane_axis) ? first : rest).push_back(loop);
  append(first, rest);
  if (first != level) orders.push_back(first);
  return orders;
}

class TiledLayout {
 public:
  TiledLayout(const LayoutContext& layout, const TiledStage& tiled)
      : layout_(layout), writer_(layout.writer), tiled_(tiled) {}

  Name run() {
    const Name threads = lay_out_owner();
    if (tiled_.is_fused()) {
      writer_.annotate_innermost(tiled_.owner, tiled_.owner_tile.back(), tiled_.owner_lane);
      lay_out_inner();
    }
    writer_.annotate_innermost(tiled_.inner, tiled_.inner_levels.back(), tiled_.inner_lane);
    unroll_windows();
    unroll_reductions();
    return threads;
  }

 private:
  using Steps = DraftWriter::Steps;

  // Order, threads and copy of the owner. Returns the loop that threads share.
  Name lay_out_owner() {
    const te::Op& op = layout_.op(op_of(layout_.space, tiled_.owner));
    const bool spatial_lane = tiled_.lane_axis >= 0 && !tiled_.lane_reduces;
    const Name lane_axis =
        spatial_lane ? op.axes[static_cast<size_t>(tiled_.lane_axis)].name : Name();
    const bool two_levels = tiled_.outer.size() > 1;
    const auto orders =
        orders_of(tiled_.outer.back(), lane_axis, two_levels && layout_.has("tile_structures"));
    const bool fused = tiled_.is_fused();
    std::vector<Step> reorders, places;
    const FusedLoops threads =
        tiled_.outer[0].empty() ? FusedLoops{} : fuse_loops(tiled_.owner, tiled_.outer[0]);
    for (const std::vector<Name>& order : orders) {
      std::vector<Name> loops = tiled_.owner_units;
      if (two_levels) append(loops, tiled_.outer[0]);
      append(loops, order);
      append(loops, tiled_.phases);
      Name attach = loops.empty() ? Name() : loops.back();
      if (!two_levels && !tiled_.outer[0].empty()) attach = threads.name;
      if (two_levels && order.empty() && !tiled_.outer[0].empty()) attach = threads.name;
      for (const auto& level : fused ? tiled_.owner_tile : tiled_.inner_levels)
        append(loops, level);
      reorders.push_back(reorder_step(tiled_.owner, loops));
      if (!attach.empty()) places.emplace_back(ComputeAt{tiled_.inner, tiled_.owner, attach});
    }
    std::vector<int16_t> sites = {writer_.add(reorders[0])};
    writer_.add(threads.steps);
    if (!threads.name.empty() && layout_.target().threads() > 1) {
      const Annotate parallel{tiled_.owner, threads.name, Annotation::Parallel};
      if (heuristic::is_always_threaded(layout_.tree, LayoutContext::index_of(tiled_.op),
                                        layout_.target())) {
        writer_.add(parallel);
      } else {
        writer_.add_maybe(tiled_.owner, HoleKind::Parallel, parallel);
      }
    }
    if (fused && !places.empty()) sites.push_back(writer_.add(places[0]));
    if (orders.size() > 1) {
      std::vector<std::vector<Steps>> choices;
      for (size_t k = 0; k < orders.size(); ++k) {
        choices.push_back({{reorders[k]}});
        if (sites.size() > 1) choices.back().push_back({places[k]});
      }
      writer_.fill_sites(tiled_.inner, HoleKind::Other, sites, std::move(choices));
    }
    return threads.name;
  }

  void lay_out_inner() {
    std::vector<Name> loops = tiled_.inner_units;
    for (const auto& level : tiled_.inner_levels) append(loops, level);
    writer_.reorder(tiled_.inner, loops);
  }

  // The loop is of a reduce axis with the hint always_unroll_inner.
  bool unrolls_always(te::OpId op, Name loop) const {
    return std::ranges::any_of(layout_.op(op).reduce_axes, [&](const te::Axis& axis) {
      return axis.hints.always_unroll_inner && belongs_to(loop, axis.name);
    });
  }

  // Keeps only the choices that unroll every loop of `stage` whose axis has the hint
  // always_unroll_inner; if there are none, the last choice, which unrolls most.
  void keep_hinted(StageName stage, const std::vector<Name>& loops,
                   std::vector<Steps>& choices) const {
    std::vector<Step> wanted;
    for (const Name loop : loops) {
      if (!unrolls_always(op_of(layout_.space, stage), loop)) continue;
      wanted.emplace_back(Annotate{stage, loop, Annotation::Unroll});
    }
    const auto lacks = [&](const Steps& choice) {
      return std::ranges::any_of(wanted, [&](const Step& step) {
        return std::ranges::find(choice, step) == choice.end();
      });
    };
    const auto kept = std::ranges::find_if_not(choices, lacks);
    choices.erase(choices.begin(), kept == choices.end() ? choices.end() - 1 : kept);
  }

  // Windows are unrolled from the inside out, as far as the code size permits.
  void unroll_windows() {
    constexpr int64_t kMaxCopies = 64;
    const te::Op& op = layout_.op(tiled_.op);
    std::vector<Steps> choices = {{}};
    int64_t copies = 1;
    for (size_t k = tiled_.windows.size(); k-- > 0;) {
      const Name loop = tiled_.windows[k];
      copies *= std::ranges::find(op.reduce_axes, loop, &te::Axis::name)->extent.high;
      if (copies > kMaxCopies || (choices.size() > 1 && !layout_.has("unroll_and_jam"))) break;
      Steps more = choices.back();
      more.emplace_back(Annotate{tiled_.inner, loop, Annotation::Unroll});
      choices.push_back(std::move(more));
    }
    keep_hinted(tiled_.inner, tiled_.windows, choices);
    writer_.add_one_of(tiled_.inner, HoleKind::Unroll, std::move(choices));
  }

  // A hole for the parts of the reduction that are unrolled around the accumulators.
  void unroll_reductions() {
    size_t last = 0;  // level of reductions
    size_t levels = 0;
    for (size_t k = 0; k < tiled_.inner_levels.size(); ++k) {
      if (!tiled_.inner_reduces[k]) continue;
      last = k;
      ++levels;
    }
    const std::vector<Name>& loops = tiled_.inner_levels[last];
    if (levels < 2 || loops.empty()) return;
    const Step innermost = Annotate{tiled_.inner, loops.back(), Annotation::Unroll};
    const bool jammed = tiled_.structure.find('R') == tiled_.structure.rfind('R');
    if (jammed) {
      for (const Name loop : loops) {
        const Step unroll = Annotate{tiled_.inner, loop, Annotation::Unroll};
        if (unroll == innermost || unrolls_always(tiled_.op, loop)) writer_.add(unroll);
      }
      return;
    }
    std::vector<Steps> choices = {{}, {innermost}};
    if (loops.size() > 1 && layout_.has("unroll_and_jam")) {
      Steps all;
      for (const Name loop : loops)
        all.emplace_back(Annotate{tiled_.inner, loop, Annotation::Unroll});
      choices.push_back(std::move(all));
    }
    keep_hinted(tiled_.inner, loops, choices);
    writer_.add_one_of(tiled_.inner, HoleKind::Unroll, std::move(choices));
  }

  const LayoutContext& layout_;
  DraftWriter& writer_;
  const TiledStage& tiled_;
};

}  // namespace

Name lay_out_tiled(const LayoutContext& layout, const TiledStage& tiled) {
  return TiledLayout(layout, tiled).run();
}

}  // namespace tilewright::space
