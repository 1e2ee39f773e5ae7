// Members of a nest: stages that only stages of the nest read are computed inside it, at root, or
// inlined. One hole decides all of them, because a producer must not be computed further in than
// its readers:
//
//   Y[i, j] with loops i.0, i.1        S at i.1, M at i.0       yes
//                                      S at i.0, M at i.1       no: S reads M
#include <functional>

#include "space/annotator.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

constexpr size_t kMostPlacements = 300;
constexpr int kAtRoot = -1;
constexpr int kInlined = -2;

// A stage that may be computed inside a nest.
struct Member {
  te::OpId op = 0;
  StageName stage;
  std::vector<int> readers{};  // members by index; -1: a stage of the nest itself
  bool may_inline = false;
  int least = kAtRoot;  // outermost legal location: its operands are computed there
  int16_t inline_site = -1, place_site = -1;
  DraftWriter::Steps threads{};  // at root
};

// All placements of the members with `depth` loops to choose from.
class Placements {
 public:
  Placements(const std::vector<Member>& members, const std::vector<int>& loops, int depth,
             bool roots)
      : members_(members), loops_(loops), depth_(depth), roots_(roots) {}

  std::vector<std::vector<int>> run() {
    place(0);
    return std::move(found_);
  }

 private:
  // The location of the reads of member k, which limits how far in it may be.
  int deepest(size_t k) const {
    int least = depth_;
    for (const int reader : members_[k].readers) {
      if (reader < 0) continue;
      const auto r = static_cast<size_t>(reader);
      least = std::min(least, chosen_[r] == kInlined ? deepest(r) : chosen_[r]);
    }
    return least;
  }

  void place(size_t k) {
    if (found_.size() > kMostPlacements) return;
    if (k == members_.size()) {
      found_.push_back(chosen_);
      return;
    }
    const int deepest_place = deepest(k);
    std::vector<int> places;
    if (members_[k].may_inline) places.push_back(kInlined);
    const int least = std::min(members_[k].least, depth_ - 1);
    if (least == kAtRoot && (roots_ || deepest_place == kAtRoot || depth_ == 0)) {
      places.push_back(kAtRoot);
    }
    for (const int loop : loops_) {
      if (loop <= deepest_place && loop >= least) places.push_back(loop);
    }
    for (const int chosen : places) {
      chosen_.push_back(chosen);
      place(k + 1);
      chosen_.pop_back();
    }
  }

  const std::vector<Member>& members_;
  const std::vector<int>& loops_;  // loops that are tried
  int depth_;
  bool roots_;
  std::vector<int> chosen_;
  std::vector<std::vector<int>> found_;
};

// All placements, or fewer if there are too many: not all loops, not each member separately at
// root.
std::vector<std::vector<int>> placements_of(const std::vector<Member>& members, int depth) {
  std::vector<int> all, ends;
  for (int k = 0; k < depth; ++k) all.push_back(k);
  if (depth > 0) ends.push_back(0);
  if (depth > 1) ends.push_back(depth - 1);
  const std::vector<int> last = depth > 0 ? std::vector<int>{depth - 1} : std::vector<int>{};
  std::vector<std::vector<int>> found;
  for (const auto& [loops, roots] : {std::pair(all, true), std::pair(ends, true),
                                     std::pair(ends, false), std::pair(last, false)}) {
    found = Placements(members, loops, depth, roots).run();
    if (found.size() <= kMostPlacements) break;
  }
  return found;
}

}  // namespace

void Annotator::place_members(Nest& nest) {
  std::vector<Member> members;
  std::map<te::OpId, int> numbers;
  const auto find = [&](te::OpId op) -> bool {
    const auto reads = heuristic::accesses_to(tree_, index_of(op));
    if (!is_open(op) || placed_.contains(op) || nest.inside.contains(op) || reads.empty() ||
        tree_.is_output(index_of(op))) {
      return false;
    }
    Member member{.op = op, .stage = {context_.dag().op(op).name}};
    for (const Access* access : reads) {
      const te::OpId reader = tree_.stage(access->stage).op;
      if (!nest.inside.contains(reader)) return false;
      const auto number = numbers.find(reader);
      member.readers.push_back(number == numbers.end() ? -1 : number->second);
    }
    for (const Access& read : tree_.reads_of(tree_.stage(index_of(op)))) {
      const StageIndex source = tree_.buffer(read.buffer).stage;
      if (nest.blocked.contains(tree_.stage(source).op)) member.least = 1;
    }
    const te::OpAccess& access = context_.dag().access(op);
    const bool cheap =
        !access.has_expensive_call || heuristic::copies_inlined(tree_, index_of(op)) <= 4;
    member.may_inline = !context_.dag().op(op).has_reduction() && cheap &&
                        context_.dag().op(op).outputs.size() == 1;
    numbers[op] = static_cast<int>(members.size());
    members.push_back(std::move(member));
    return true;
  };
  for (te::OpId op = static_cast<te::OpId>(context_.dag().ops().size()); op-- > 0;) {
    if (find(op)) nest.inside.insert(op);
  }
  const bool open = context_.has("locations");
  for (Member& member : members) {
    placed_.insert(member.op);
    if (member.may_inline) member.inline_site = writer_.add_site(ComputeInline{member.stage});
    const PlainLoops loops = lay_out_plain(member.op, 0, RowBlocks::Own);
    if (is_worth_threads(member.op)) member.threads = parallel_steps(member.stage, loops.outer);
    member.place_site = writer_.add_site(ComputeRoot{member.stage});
  }
  std::vector<int16_t> sites;
  if (nest.site >= 0) sites.push_back(nest.site);
  for (const Member& member : members) {
    if (member.inline_site >= 0) sites.push_back(member.inline_site);
    sites.push_back(member.place_site);
  }
  if (sites.empty()) return;
  std::vector<std::vector<Steps>> choices;
  for (const Nest::Variant& variant : nest.variants) {
    const int depth =
        static_cast<int>(open ? variant.loops.size() : std::min<size_t>(1, variant.loops.size()));
    for (const std::vector<int>& placement : placements_of(members, depth)) {
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
      choices.push_back(std::move(choice));
    }
  }
  const HoleKind kind = members.empty() ? HoleKind::Parallel : HoleKind::Location;
  writer_.fill_sites(nest.root, kind, std::move(sites), std::move(choices));
}

}  // namespace tilewright::space
