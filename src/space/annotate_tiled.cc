// Annotates tiled stages: the outermost level is one parallel loop; the innermost is the register
// tile.
#include "space/annotator.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

void append(std::vector<Name>& loops, const std::vector<Name>& more) {
  loops.insert(loops.end(), more.begin(), more.end());
}

bool belongs_to(Name loop, Name axis) {
  return loop == axis || loop.text().starts_with(axis.text() + ".");
}

// The loop orders of a level that are tried: the order of the axes, and with the lane axis first.
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

}  // namespace

void Annotator::annotate_innermost(StageName stage, const std::vector<Name>& loops, Name lane) {
  for (const Name loop : loops) {
    writer_.annotate(stage, loop, loop == lane ? Annotation::Vectorize : Annotation::Unroll);
  }
}

// Loop order, threads and copy of the owner; returns the parallel loop.
Name Annotator::lay_out_owner(const TiledStage& tiled) {
  const te::Op& op = context_.dag().op(op_of(context_, tiled.owner));
  const bool spatial_lane = tiled.lane_axis >= 0 && !tiled.lane_reduces;
  const Name lane_axis = spatial_lane ? op.axes[static_cast<size_t>(tiled.lane_axis)].name : Name();
  const bool two_levels = tiled.outer.size() > 1;
  const auto orders =
      orders_of(tiled.outer.back(), lane_axis, two_levels && context_.has("tile_structures"));
  const bool fused = tiled.is_fused();
  std::vector<Step> reorders, places;
  const FusedLoops threads =
      tiled.outer[0].empty() ? FusedLoops{} : fuse_loops(tiled.owner, tiled.outer[0]);
  for (const std::vector<Name>& order : orders) {
    std::vector<Name> loops = tiled.owner_units;
    if (two_levels) append(loops, tiled.outer[0]);
    append(loops, order);
    append(loops, tiled.phases);
    Name attach = loops.empty() ? Name() : loops.back();
    if (!two_levels && !tiled.outer[0].empty()) attach = threads.name;
    if (two_levels && order.empty() && !tiled.outer[0].empty()) attach = threads.name;
    for (const auto& level : fused ? tiled.owner_tile : tiled.inner_levels) append(loops, level);
    reorders.push_back(reorder_step(tiled.owner, loops));
    if (!attach.empty()) places.emplace_back(ComputeAt{tiled.inner, tiled.owner, attach});
  }
  std::vector<int16_t> sites = {writer_.add(reorders[0])};
  writer_.add(threads.steps);
  if (!threads.name.empty() && context_.target().threads() > 1) {
    const Annotate parallel{tiled.owner, threads.name, Annotation::Parallel};
    if (is_worth_threads(tiled.op)) {
      writer_.add(parallel);
    } else {
      writer_.add_maybe(tiled.owner, HoleKind::Parallel, parallel);
    }
  }
  if (fused && !places.empty()) sites.push_back(writer_.add(places[0]));
  if (orders.size() > 1) {
    std::vector<std::vector<Steps>> choices;
    for (size_t k = 0; k < orders.size(); ++k) {
      choices.push_back({{reorders[k]}});
      if (sites.size() > 1) choices.back().push_back({places[k]});
    }
    writer_.fill_sites(tiled.inner, HoleKind::Other, sites, std::move(choices));
  }
  return threads.name;
}

void Annotator::lay_out_inner(const TiledStage& tiled) {
  std::vector<Name> loops = tiled.inner_units;
  for (const auto& level : tiled.inner_levels) append(loops, level);
  writer_.reorder(tiled.inner, loops);
}

// True if the loop is of a reduce axis with the hint always_unroll_inner.
bool Annotator::unrolls_always(te::OpId op, Name loop) const {
  return std::ranges::any_of(context_.dag().op(op).reduce_axes, [&](const te::Axis& axis) {
    return axis.hints.always_unroll_inner && belongs_to(loop, axis.name);
  });
}

// Keeps the choices that unroll every loop of `stage` whose axis has the hint always_unroll_inner.
// If there are none, keeps the last choice, which unrolls most.
void Annotator::keep_hinted(StageName stage, const std::vector<Name>& loops,
                            std::vector<Steps>& choices) const {
  std::vector<Step> wanted;
  for (const Name loop : loops) {
    if (!unrolls_always(op_of(context_, stage), loop)) continue;
    wanted.emplace_back(Annotate{stage, loop, Annotation::Unroll});
  }
  const auto lacks = [&](const Steps& choice) {
    return std::ranges::any_of(
        wanted, [&](const Step& step) { return std::ranges::find(choice, step) == choice.end(); });
  };
  const auto kept = std::ranges::find_if_not(choices, lacks);
  choices.erase(choices.begin(), kept == choices.end() ? choices.end() - 1 : kept);
}

// Windows are unrolled from the inside out, as far as the code size permits.
void Annotator::unroll_windows(const TiledStage& tiled) {
  constexpr int64_t kMostCopies = 64;
  const te::Op& op = context_.dag().op(tiled.op);
  std::vector<Steps> choices = {{}};
  int64_t copies = 1;
  for (size_t k = tiled.windows.size(); k-- > 0;) {
    const Name loop = tiled.windows[k];
    copies *= std::ranges::find(op.reduce_axes, loop, &te::Axis::name)->extent.high;
    if (copies > kMostCopies || (choices.size() > 1 && !context_.has("unroll_and_jam"))) break;
    Steps more = choices.back();
    more.emplace_back(Annotate{tiled.inner, loop, Annotation::Unroll});
    choices.push_back(std::move(more));
  }
  keep_hinted(tiled.inner, tiled.windows, choices);
  writer_.add_one_of(tiled.inner, HoleKind::Unroll, std::move(choices));
}

// Parts of the reduction that are unrolled next to the accumulators.
void Annotator::unroll_reductions(const TiledStage& tiled) {
  unroll_windows(tiled);
  size_t last = 0;  // reduce level
  size_t levels = 0;
  for (size_t k = 0; k < tiled.inner_levels.size(); ++k) {
    if (!tiled.inner_reduces[k]) continue;
    last = k;
    ++levels;
  }
  const std::vector<Name>& loops = tiled.inner_levels[last];
  if (levels < 2 || loops.empty()) return;
  const Step innermost = Annotate{tiled.inner, loops.back(), Annotation::Unroll};
  const bool jammed = tiled.structure.find('R') == tiled.structure.rfind('R');
  if (jammed) {
    for (const Name loop : loops) {
      const Step unroll = Annotate{tiled.inner, loop, Annotation::Unroll};
      if (unroll == innermost || unrolls_always(tiled.op, loop)) writer_.add(unroll);
    }
    return;
  }
  std::vector<Steps> choices = {{}, {innermost}};
  if (loops.size() > 1 && context_.has("unroll_and_jam")) {
    Steps all;
    for (const Name loop : loops) all.emplace_back(Annotate{tiled.inner, loop, Annotation::Unroll});
    choices.push_back(std::move(all));
  }
  keep_hinted(tiled.inner, loops, choices);
  writer_.add_one_of(tiled.inner, HoleKind::Unroll, std::move(choices));
}

void Annotator::annotate_tiled(const TiledStage& tiled) {
  const Name threads = lay_out_owner(tiled);
  if (tiled.is_fused()) {
    annotate_innermost(tiled.owner, tiled.owner_tile.back(), tiled.owner_lane);
    lay_out_inner(tiled);
  }
  annotate_innermost(tiled.inner, tiled.inner_levels.back(), tiled.inner_lane);
  unroll_reductions(tiled);

  Nest nest{
      .root = tiled.owner, .variants = {{}}, .inside = {tiled.op, op_of(context_, tiled.owner)}};
  if (!threads.empty()) nest.variants[0].loops.push_back(threads);
  if (tiled.outer.size() > 1) append(nest.variants[0].loops, tiled.outer[1]);
  place_members(nest);
  annotate_operands(tiled, threads);
}

}  // namespace tilewright::space
