#include "space/rules/rfactor.h"

#include <numeric>
#include <set>

#include "base/rounding.h"
#include "space/draft_writer.h"
#include "space/tile_domain.h"
#include "te/predicates.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

// Threads get the longest of the outer axes, lanes the last one.
size_t factored_axis(const te::Op& op, bool outer) {
  size_t chosen = outer ? 0 : op.reduce_axes.size() - 1;
  for (size_t k = 0; k < op.reduce_axes.size(); ++k) {
    const size_t axis = outer ? k : op.reduce_axes.size() - 1 - k;
    if (op.reduce_axes[axis].extent.high >= 16) return axis;
    if (op.reduce_axes[axis].extent.high > op.reduce_axes[chosen].extent.high) chosen = axis;
  }
  return chosen;
}

TileDomain factor_domain(const SpaceContext& context, const te::Axis& axis, bool outer) {
  const int64_t extent = axis.extent.high;
  TileDomain domain;
  domain.extent = extent;
  if (outer) {  // extents of the parts; several parts per thread
    constexpr int64_t kMaxParts = 4096, kMaxUneven = 64;
    std::set<int64_t> lengths;
    for (int64_t parts = std::min<int64_t>(extent, 2); parts <= std::min(extent, kMaxParts);
         ++parts) {
      const bool balanced = context.has("tails") && parts <= kMaxUneven;
      if (balanced || extent % parts == 0) lengths.insert(ceil_div(extent, parts));
    }
    if (!context.has("tails")) {  // then lanes of the rest must divide it
      const int64_t lanes = std::max(1, context.target().lanes(4));
      const auto uneven = [&](int64_t length) { return length % lanes != 0; };
      if (!std::ranges::all_of(lengths, uneven)) std::erase_if(lengths, uneven);
    }
    for (const int64_t length : lengths) domain.choices.push_back({length});
  } else {
    for (int64_t length = 1; length <= std::min<int64_t>(extent, 512); ++length) {
      const bool even = extent % length == 0;
      const bool lanes = context.has("tails") && (length & (length - 1)) == 0;
      if (even || lanes) domain.choices.push_back({length});
    }
  }
  return domain;
}

std::vector<NextDraft> apply_rfactor(const SpaceContext& context, const Draft& draft,
                                     StageName stage) {
  const te::Op& op = context.dag().op(op_of(context, stage));
  std::vector<NextDraft> drafts;
  for (const bool outer : {true, false}) {
    Draft next = draft;
    DraftWriter writer(next.sketch);
    const te::Axis& axis = op.reduce_axes[factored_axis(op, outer)];
    TileDomain domain = factor_domain(context, axis, outer);
    FactoredStage factored{.stage = stage, .axis = axis.name, .outer = outer};
    for (const Factors& length : domain.choices) {
      factored.unit = std::gcd(factored.unit, length[0]);
    }
    const Tail tail = leaves_remainder(domain) ? Tail::Mask : Tail::Peel;
    writer.add_split(stage, axis.name, std::move(domain), tail);
    writer.add(Rfactor{stage, axis.name.child(outer ? 0 : 1)});
    next.factored.push_back(factored);
    next.sketch.name += "rfactor " + stage.text() + (outer ? " for threads, " : " for lanes, ");
    drafts.push_back({std::move(next), previous_stage(context, stage)});
  }
  return drafts;
}

}  // namespace

SketchRule rfactor_rule() {
  return {.name = "rfactor",
          .what = "splits a long reduction with few spatial iterations, for threads or lanes",
          .applies =
              [](const SpaceContext& context, const Draft& draft, StageName stage) {
                const te::OpId op = op_of(context, stage);
                const bool few = te::spatial_size(context.dag(), op) < int64_t{32} * context.cores;
                if (context.has("reduction_lanes") && !few) return Applies::No;
                const bool applies = stage.role == StageRole::Main && !draft.is_cached(stage) &&
                                     context.dag().op(op).has_reduction() &&
                                     te::needs_rfactor(context.dag(), op, context.cores);
                return applies ? Applies::Yes : Applies::No;
              },
          .apply = apply_rfactor};
}

}  // namespace tilewright::space
