#include "space/nest_placer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "heuristic/nest_plan.h"
#include "heuristic/thread_loops.h"
#include "space/placements.h"
#include "space/plain_layout.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

using Steps = DraftWriter::Steps;

struct Member {
  te::OpId op = 0;
  StageName stage;
  PlacedMember rules{};
  int16_t inline_site = -1, place_site = -1;
  Steps threads{};  // at root
};

// The open operators that only stages of a nest read.
class MemberFinder {
 public:
  MemberFinder(const LayoutContext& layout, Nest& nest) : layout_(layout), nest_(nest) {}

  // Readers come before their operands. Members become part of the nest.
  template <class IsFree>
  std::vector<Member> run(const IsFree& is_free) {
    std::vector<Member> members;
    for (te::OpId op = static_cast<te::OpId>(layout_.space.dag().ops().size()); op-- > 0;) {
      if (nest_.inside.contains(op) || !is_free(op)) continue;
      std::optional<PlacedMember> rules = rules_of(op);
      if (!rules) continue;
      numbers_[op] = static_cast<int>(members.size());
      members.push_back({.op = op, .stage = {layout_.op(op).name}, .rules = *std::move(rules)});
      nest_.inside.insert(op);
    }
    return members;
  }

 private:
  // Nothing for an operator that is an output, or that a stage outside of the nest reads.
  std::optional<PlacedMember> rules_of(te::OpId op) const {
    const LoopTree& tree = layout_.tree;
    const StageIndex index = LayoutContext::index_of(op);
    const auto reads = heuristic::accesses_to(tree, index);
    if (reads.empty() || tree.is_output(index)) return std::nullopt;
    PlacedMember rules{.may_inline = may_inline(op)};
    for (const Access* access : reads) {
      const te::OpId reader = tree.stage(access->stage).op;
      if (!nest_.inside.contains(reader)) return std::nullopt;
      const auto number = numbers_.find(reader);
      rules.readers.push_back(number == numbers_.end() ? kNestItself : number->second);
    }
    for (const Access& read : tree.reads_of(tree.stage(index))) {
      const StageIndex source = tree.buffer(read.buffer).stage;
      if (nest_.blocked.contains(tree.stage(source).op)) rules.outermost = 1;
    }
    return rules;
  }

  bool may_inline(te::OpId id) const {
    const te::Op& op = layout_.op(id);
    if (op.has_reduction() || op.outputs.size() != 1) return false;
    return !layout_.space.dag().access(id).has_expensive_call ||
           heuristic::copies_inlined(layout_.tree, LayoutContext::index_of(id)) <= 4;
  }

  const LayoutContext& layout_;
  Nest& nest_;
  std::map<te::OpId, int> numbers_;  // of members
};

// The loops of the members, and the sites that the hole of the nest fills.
void write_members(const LayoutContext& layout, std::vector<Member>& members) {
  for (Member& member : members) {
    if (member.rules.may_inline) {
      member.inline_site = layout.writer.add_site(ComputeInline{member.stage});
    }
    const PlainLoops loops = lay_out_plain(layout, member.op, 0, RowBlocks::Own);
    if (heuristic::is_always_threaded(layout.tree, LayoutContext::index_of(member.op),
                                      layout.target())) {
      member.threads = parallel_steps(layout.target(), member.stage, loops.outer);
    }
    member.place_site = layout.writer.add_site(ComputeRoot{member.stage});
  }
}

std::vector<int16_t> sites_of(const Nest& nest, const std::vector<Member>& members) {
  std::vector<int16_t> sites;
  if (nest.site >= 0) sites.push_back(nest.site);
  for (const Member& member : members) {
    if (member.inline_site >= 0) sites.push_back(member.inline_site);
    sites.push_back(member.place_site);
  }
  return sites;
}

// The steps that one placement writes, per site.
std::vector<Steps> choice_of(const Nest& nest, const ThreadVariant& variant,
                             const std::vector<Member>& members,
                             const std::vector<int>& placement) {
  std::vector<Steps> choice;
  if (nest.site >= 0) choice.push_back(variant.steps);
  for (size_t k = 0; k < members.size(); ++k) {
    const Member& member = members[k];
    const int place = placement[k];
    Steps inlined, placed;
    if (place == kInlined) {
      inlined.emplace_back(ComputeInline{member.stage});
    } else if (place == kAtRoot) {
      placed = member.threads;
    } else {
      placed.emplace_back(
          ComputeAt{member.stage, nest.root, variant.loops[static_cast<size_t>(place)]});
    }
    if (member.inline_site >= 0) choice.push_back(std::move(inlined));
    choice.push_back(std::move(placed));
  }
  return choice;
}

}  // namespace

void NestPlacer::place(Nest nest) {
  std::vector<Member> members = MemberFinder(layout_, nest).run([&](te::OpId op) {
    const auto is_op = [&](const TransformTiles& tiles) {
      return tiles.transform.op == layout_.op(op).name;
    };
    return !placed_.contains(op) &&
           (is_open(layout_.space, draft_, op) || std::ranges::any_of(draft_.transforms, is_op));
  });
  std::vector<PlacedMember> rules;
  for (const Member& member : members) {
    placed_.insert(member.op);
    rules.push_back(member.rules);
  }
  write_members(layout_, members);
  std::vector<int16_t> sites = sites_of(nest, members);
  if (sites.empty()) return;
  std::vector<std::vector<Steps>> choices;
  for (const ThreadVariant& variant : nest.variants) {
    const size_t loops = variant.loops.size();
    const size_t depth = layout_.has("locations") ? loops : std::min<size_t>(1, loops);
    for (const std::vector<int>& placement : placements_of(rules, static_cast<int>(depth))) {
      choices.push_back(choice_of(nest, variant, members, placement));
    }
  }
  const HoleKind kind = members.empty() ? HoleKind::Parallel : HoleKind::Location;
  layout_.writer.fill_sites(nest.root, kind, std::move(sites), std::move(choices));
}

}  // namespace tilewright::space
