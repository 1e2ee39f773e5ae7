#include "record/ansor_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <queue>

#include "base/json.h"
#include "schedule/apply.h"

namespace tilewright::record {
namespace {

using schedule::LoopTree;
using schedule::StageIndex;
using schedule::Trace;

constexpr int64_t kMostUnrolled = 512;  // Ansor's own largest choice for processors

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::Unsupported, std::move(message));
}

struct Loop {
  std::string name;
  int64_t extent = 0;  // of the whole axis, not of what an attached stage computes of it
  bool reduce = false;
};

struct StageState {
  std::string name;
  bool input = false;
  std::vector<Loop> loops;
  std::string target, at;  // compute_at: stage and loop; empty: not attached
  int64_t unroll = 0;      // auto_unroll_max_step
};

// Who reads what, each producer once, in the order of the body.
std::vector<StageIndex> producers_of(const LoopTree& tree, StageIndex stage) {
  std::vector<StageIndex> producers;
  for (const schedule::Access& access : tree.reads_of(tree.stage(stage))) {
    const StageIndex writer = tree.buffer(access.buffer).stage;
    if (std::ranges::find(producers, writer) == producers.end()) producers.push_back(writer);
  }
  return producers;
}

// Ansor's order: a depth-first walk from the outputs numbers the stages as it meets them; then,
// producers before readers, of those that are ready the one met last comes first.
std::vector<StageIndex> ansor_order(const LoopTree& tree) {
  const size_t count = tree.stages.size();
  std::vector<int> met(count, -1);
  std::vector<size_t> missing(count, 0);
  std::vector<std::vector<StageIndex>> readers(count);
  std::vector<StageIndex> stack;
  for (size_t k = 0; k < count; ++k) {
    const auto stage = static_cast<StageIndex>(k);
    if (tree.is_output(stage) && tree.stage(stage).kind != schedule::StageKind::Input) {
      stack.push_back(stage);
    }
  }
  int number = 0;
  while (!stack.empty()) {
    const StageIndex stage = stack.back();
    stack.pop_back();
    const auto at = static_cast<size_t>(stage);
    if (met[at] >= 0) continue;
    met[at] = number++;
    const std::vector<StageIndex> producers = producers_of(tree, stage);
    missing[at] = producers.size();
    for (const StageIndex producer : producers) {
      readers[static_cast<size_t>(producer)].push_back(stage);
      stack.push_back(producer);
    }
  }
  std::priority_queue<std::pair<int, StageIndex>> ready;
  for (size_t k = 0; k < count; ++k) {
    if (met[k] >= 0 && missing[k] == 0) ready.emplace(met[k], static_cast<StageIndex>(k));
  }
  std::vector<StageIndex> order;
  while (!ready.empty()) {
    const StageIndex stage = ready.top().second;
    ready.pop();
    order.push_back(stage);
    for (const StageIndex reader : readers[static_cast<size_t>(stage)]) {
      if (--missing[static_cast<size_t>(reader)] == 0) {
        ready.emplace(met[static_cast<size_t>(reader)], reader);
      }
    }
  }
  return order;
}

StageState state_of(const LoopTree& tree, StageIndex index) {
  const schedule::Stage& stage = tree.stage(index);
  StageState state;
  state.name = stage.name.text();
  state.input = stage.kind == schedule::StageKind::Input;
  for (const schedule::VarIndex loop : stage.loops) {
    const schedule::LoopVar& var = tree.var(loop);
    state.loops.push_back({.name = var.name.text(),
                           .extent = var.extent,
                           .reduce = var.kind == schedule::IterKind::Reduce});
  }
  return state;
}

constexpr std::array<std::string_view, 11> kAnnotations = {
    "",         "unroll",  "vectorise", "parallel", "virtual_thread", "block_x",
    "thread_x", "block_y", "thread_y",  "block_z",  "thread_z"};

// ---- the walk ----

class Walk {
 public:
  explicit Walk(const LoopTree& initial) : initial_(initial) {
    // Extents are numbers: the tree of the empty trace has them.
    Result<LoopTree> sized = apply_or_explain(initial, Trace{});
    const LoopTree& tree = sized ? *sized : initial;
    for (const StageIndex stage : ansor_order(tree)) stages_.push_back(state_of(tree, stage));
  }

  Status step(const Json& json) {
    if (!json.is_array() || json.empty() || !json[0].is_string()) {
      return refuse("a step is an array that begins with its code");
    }
    splits_.emplace_back();  // steps are referred to by their number
    const auto code = json[0].get<std::string>();
    if (code == "SP") return split(json);
    if (code == "FSP") return follow_split(json);
    if (code == "FFSP") return follow_fused_split(json);
    if (code == "FU") return fuse(json);
    if (code == "RE") return reorder(json);
    if (code == "AN") return annotate(json);
    if (code == "PR") return pragma(json);
    if (code == "CA") return compute_at(json);
    if (code == "CI") return compute_inline(json);
    if (code == "CR") return compute_root(json);
    if (code == "CHW") return cache_write(json);
    if (code == "CHR") return cache_read(json);
    if (code == "RF") return rfactor(json);
    if (code == "SA") return refuse("storage_align (SA) is no step of ours");
    return refuse(fmt::format("'{}' is no step of Ansor's that is known", code));
  }

  // What was written so far, then where the stages are computed; later what makes it quick: of
  // those, as much as is legal.
  Result<Trace> finish() {
    for (const StageState& stage : stages_) {
      if (!stage.at.empty()) {
        text_ += fmt::format("compute_at {} {} {}\n", stage.name, stage.target, stage.at);
      }
    }
    Result<Trace> trace = legal(text_);
    if (!trace) return trace;
    for (const std::string& more : {packs(), unrolls()}) {
      for (size_t begin = 0; begin < more.size();) {
        const size_t end = more.find('\n', begin) + 1;
        const std::string longer = text_ + more.substr(begin, end - begin);
        begin = end;
        Result<Trace> better = legal(longer);
        if (!better) continue;
        trace = std::move(better);
        text_ = longer;
      }
    }
    return trace;
  }

 private:
  // -- arguments; a position that is not there is an error --

  static Result<int64_t> integer(const Json& json, size_t at) {
    if (at >= json.size() || !json[at].is_number_integer()) {
      return refuse(fmt::format("argument {} is no integer", at));
    }
    return json[at].get<int64_t>();
  }
  static Result<std::vector<int64_t>> integers(const Json& json, size_t at) {
    if (at >= json.size() || !json[at].is_array()) {
      return refuse(fmt::format("argument {} is no list", at));
    }
    std::vector<int64_t> list;
    for (size_t k = 0; k < json[at].size(); ++k) {
      const Result<int64_t> one = integer(json[at], k);
      if (!one) return std::unexpected(one.error());
      list.push_back(*one);
    }
    return list;
  }
  Result<size_t> position(const Json& json, size_t at) const {
    const Result<int64_t> number = integer(json, at);
    if (!number) return std::unexpected(number.error());
    if (*number < 0 || *number >= std::ssize(stages_)) {
      return refuse(fmt::format("there is no stage {}; stages are {}", *number, names()));
    }
    return static_cast<size_t>(*number);
  }
  Result<StageState*> stage_at(const Json& json, size_t at) {
    const Result<size_t> place = position(json, at);
    if (!place) return std::unexpected(place.error());
    return &stages_[*place];
  }
  static Result<size_t> loop_at(const StageState& stage, int64_t number) {
    if (number < 0 || number >= std::ssize(stage.loops)) {
      return refuse(fmt::format("{} has no loop {}: it has {} loops", stage.name, number,
                                stage.loops.size()));
    }
    return static_cast<size_t>(number);
  }
  // The stage and loop that arguments 1 and 2 name.
  struct Place {
    StageState* stage = nullptr;
    size_t loop = 0;
  };
  Result<Place> place(const Json& json) {
    const Result<StageState*> stage = stage_at(json, 1);
    if (!stage) return std::unexpected(stage.error());
    const Result<int64_t> number = integer(json, 2);
    if (!number) return std::unexpected(number.error());
    const Result<size_t> loop = loop_at(**stage, *number);
    if (!loop) return std::unexpected(loop.error());
    return Place{*stage, *loop};
  }
  std::string names() const {
    std::vector<std::string> list;
    list.reserve(stages_.size());
    for (const StageState& stage : stages_) list.push_back(stage.name);
    return fmt::format("{}", fmt::join(list, ", "));
  }

  // -- loops --

  // Puts the parts of a split in the place of their loop.
  void replace_by_parts(const Place& place, const std::vector<int64_t>& factors) {
    const Loop whole = place.stage->loops[place.loop];
    int64_t inner = 1;
    for (const int64_t factor : factors) inner *= factor;
    std::vector<Loop> parts;
    for (size_t k = 0; k <= factors.size(); ++k) {
      const int64_t extent = k == 0 ? (whole.extent + inner - 1) / inner : factors[k - 1];
      parts.push_back({fmt::format("{}.{}", whole.name, k), extent, whole.reduce});
    }
    // What was attached to the loop is attached to its innermost part.
    move_attached(place.stage->name, whole.name, parts.back().name);
    auto& loops = place.stage->loops;
    const auto at = loops.begin() + static_cast<std::ptrdiff_t>(place.loop);
    loops.insert(loops.erase(at), parts.begin(), parts.end());
  }
  void move_attached(const std::string& target, const std::string& from, const std::string& to) {
    for (StageState& stage : stages_) {
      if (stage.target == target && stage.at == from) stage.at = to;
    }
  }

  Status split(const Json& json) {
    const Result<Place> where = place(json);
    if (!where) return std::unexpected(where.error());
    const Result<int64_t> extent = integer(json, 3);
    if (!extent) return std::unexpected(extent.error());
    Result<std::vector<int64_t>> lengths = integers(json, 4);
    if (!lengths) return std::unexpected(lengths.error());
    const Result<int64_t> inner_to_outer = integer(json, 5);
    if (!inner_to_outer) return std::unexpected(inner_to_outer.error());
    const Loop& loop = where->stage->loops[where->loop];
    if (*extent != 0 && *extent != loop.extent) {
      return refuse(
          fmt::format("loop {} of {} has {} iterations, in the log {}: is it another "
                      "workload?",
                      loop.name, where->stage->name, loop.extent, *extent));
    }
    int64_t product = 1;
    for (const int64_t length : *lengths) {
      if (length < 1 || length > (int64_t{1} << 31)) return refuse("a length is not positive");
      product = std::min(product * length, int64_t{1} << 40);
    }
    if (*inner_to_outer == 0) {  // lengths of the outer parts: the innermost gets what is left
      lengths->push_back((loop.extent + product - 1) / product);
      lengths->erase(lengths->begin());
    }
    splits_.back() = {where->stage->name, loop.name, *lengths};
    text_ +=
        fmt::format("split {} {} [{}]\n", where->stage->name, loop.name, fmt::join(*lengths, ", "));
    replace_by_parts(*where, *lengths);
    return {};
  }

  struct SplitMade {
    std::string stage, loop;
    std::vector<int64_t> factors;
  };
  Result<SplitMade> split_of_step(int64_t number) const {
    if (number < 0 || number >= std::ssize(splits_) ||
        splits_[static_cast<size_t>(number)].stage.empty()) {
      return refuse(fmt::format("step {} that it follows is no split", number));
    }
    return splits_[static_cast<size_t>(number)];
  }

  Status follow_split(const Json& json) {
    const Result<Place> where = place(json);
    if (!where) return std::unexpected(where.error());
    const Result<int64_t> step = integer(json, 3);
    const Result<int64_t> count = integer(json, 4);
    if (!step || !count) return refuse("it follows no step");
    const Result<SplitMade> source = split_of_step(*step);
    if (!source) return std::unexpected(source.error());
    const auto have = std::ssize(source->factors);
    if (*count < 1 || *count > have) {
      return refuse(fmt::format("it takes {} lengths of {}", *count, have));
    }
    std::vector<int64_t> factors(source->factors.begin(), source->factors.begin() + *count);
    for (int64_t k = *count; k < have; ++k)
      factors.back() *= source->factors[static_cast<size_t>(k)];
    text_ +=
        fmt::format("follow_split {} {} {} {} {}\n", where->stage->name,
                    where->stage->loops[where->loop].name, source->stage, source->loop, *count + 1);
    replace_by_parts(*where, factors);
    return {};
  }

  Status follow_fused_split(const Json& json) {
    const Result<Place> where = place(json);
    if (!where) return std::unexpected(where.error());
    const Result<std::vector<int64_t>> steps = integers(json, 3);
    if (!steps) return std::unexpected(steps.error());
    const Result<int64_t> level = integer(json, 4);
    const Result<int64_t> is_factor = integer(json, 5);
    if (!level || !is_factor) return refuse("its level is missing");
    if (*is_factor == 0) return refuse("it gives the number of parts, not their length");
    std::vector<std::string> loops;
    std::string stage;
    int64_t factor = 1;
    for (const int64_t step : *steps) {
      const Result<SplitMade> source = split_of_step(step);
      if (!source) return std::unexpected(source.error());
      if (!stage.empty() && stage != source->stage) return refuse("it follows two stages");
      if (*level < 0 || *level >= std::ssize(source->factors)) return refuse("no such level");
      stage = source->stage;
      loops.push_back(source->loop);
      factor *= source->factors[static_cast<size_t>(*level)];
    }
    text_ +=
        fmt::format("follow_fused_split {} {} {} [{}] {}\n", where->stage->name,
                    where->stage->loops[where->loop].name, stage, fmt::join(loops, ", "), *level);
    replace_by_parts(*where, {factor});
    return {};
  }

  Status fuse(const Json& json) {
    const Result<StageState*> stage = stage_at(json, 1);
    if (!stage) return std::unexpected(stage.error());
    const Result<std::vector<int64_t>> numbers = integers(json, 2);
    if (!numbers) return std::unexpected(numbers.error());
    if (numbers->empty()) return refuse("it fuses no loops");
    std::vector<std::string> members;
    Loop fused{.name = "", .extent = 1, .reduce = false};
    for (size_t k = 0; k < numbers->size(); ++k) {
      const Result<size_t> at = loop_at(**stage, (*numbers)[k]);
      if (!at) return std::unexpected(at.error());
      if ((*numbers)[k] != numbers->front() + static_cast<int64_t>(k)) {
        return refuse("it fuses loops that are not neighbours");
      }
      const Loop& loop = (*stage)->loops[*at];
      members.push_back(loop.name);
      fused.extent *= loop.extent;
      fused.reduce = fused.reduce || loop.reduce;
    }
    if (members.size() == 1) return {};  // of one loop: that loop
    fused.name = fmt::format("({})", fmt::join(members, ","));
    for (const std::string& member : members) move_attached((*stage)->name, member, fused.name);
    text_ += fmt::format("fuse {} [{}]\n", (*stage)->name, fmt::join(members, ", "));
    auto& loops = (*stage)->loops;
    const auto begin = loops.begin() + numbers->front();
    loops.insert(loops.erase(begin, begin + std::ssize(members)), fused);
    return {};
  }

  Status reorder(const Json& json) {
    const Result<StageState*> stage = stage_at(json, 1);
    if (!stage) return std::unexpected(stage.error());
    const Result<std::vector<int64_t>> order = integers(json, 2);
    if (!order) return std::unexpected(order.error());
    std::vector<int64_t> sorted = *order;
    std::ranges::sort(sorted);
    for (size_t k = 0; k < sorted.size(); ++k) {
      if (sorted[k] != static_cast<int64_t>(k)) return refuse("it is no order of all loops");
    }
    if (sorted.size() != (*stage)->loops.size()) return refuse("it is no order of all loops");
    std::vector<Loop> loops;
    loops.reserve(order->size());
    for (const int64_t at : *order) loops.push_back((*stage)->loops[static_cast<size_t>(at)]);
    (*stage)->loops = std::move(loops);
    write_order(**stage);
    return {};
  }
  void write_order(const StageState& stage) {
    std::vector<std::string> list;
    list.reserve(stage.loops.size());
    for (const Loop& loop : stage.loops) list.push_back(loop.name);
    text_ += fmt::format("reorder {} [{}]\n", stage.name, fmt::join(list, ", "));
  }

  Status annotate(const Json& json) {
    const Result<Place> where = place(json);
    if (!where) return std::unexpected(where.error());
    const Result<int64_t> how = integer(json, 3);
    if (!how) return std::unexpected(how.error());
    if (*how == 0) return {};
    if (*how < 0 || *how >= std::ssize(kAnnotations)) {
      return refuse(fmt::format("annotation {} is not one of ours", *how));
    }
    const std::string_view word = kAnnotations[static_cast<size_t>(*how)];
    text_ += fmt::format("{} {} {} {}\n", *how <= 3 ? "annotate" : "bind", where->stage->name,
                         where->stage->loops[where->loop].name, word);
    annotated_.push_back(where->stage->name + " " + where->stage->loops[where->loop].name);
    return {};
  }

  Status pragma(const Json& json) {
    const Result<StageState*> stage = stage_at(json, 1);
    if (!stage) return std::unexpected(stage.error());
    constexpr std::string_view kUnroll = "auto_unroll_max_step$";
    if (json.size() < 4 || !json[3].is_string()) return refuse("its text is missing");
    const auto text = json[3].get<std::string>();
    int64_t most = 0;
    const char* const end = text.data() + text.size();
    if (!text.starts_with(kUnroll) ||
        std::from_chars(text.data() + kUnroll.size(), end, most).ptr != end) {
      return refuse(fmt::format("the pragma '{}' is not known", text));
    }
    (*stage)->unroll = std::clamp<int64_t>(most, 0, kMostUnrolled);
    return {};
  }

  // -- places --

  Status compute_at(const Json& json) {
    const Result<StageState*> stage = stage_at(json, 1);
    if (!stage) return std::unexpected(stage.error());
    const Result<StageState*> target = stage_at(json, 2);
    if (!target) return std::unexpected(target.error());
    const Result<int64_t> number = integer(json, 3);
    if (!number) return std::unexpected(number.error());
    const Result<size_t> loop = loop_at(**target, *number);
    if (!loop) return std::unexpected(loop.error());
    (*stage)->target = (*target)->name;
    (*stage)->at = (*target)->loops[*loop].name;
    return {};
  }

  Status compute_inline(const Json& json) {
    const Result<StageState*> stage = stage_at(json, 1);
    if (!stage) return std::unexpected(stage.error());
    text_ += fmt::format("compute_inline {}\n", (*stage)->name);
    return {};
  }

  Status compute_root(const Json& json) {
    const Result<StageState*> stage = stage_at(json, 1);
    if (!stage) return std::unexpected(stage.error());
    (*stage)->at.clear();
    (*stage)->target.clear();
    return {};
  }

  // -- steps that make a stage --

  Status cache_write(const Json& json) {
    const Result<size_t> at = position(json, 1);
    if (!at) return std::unexpected(at.error());
    StageState written = stages_[*at];
    text_ += fmt::format("cache_write {}\n", written.name);
    std::erase_if(stages_[*at].loops, [](const Loop& loop) { return loop.reduce; });
    written.name += ".write";
    stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(*at), std::move(written));
    return {};
  }

  Status cache_read(const Json& json) {
    const Result<size_t> at = position(json, 1);
    if (!at) return std::unexpected(at.error());
    const Result<std::vector<int64_t>> readers = integers(json, 3);
    if (!readers) return std::unexpected(readers.error());
    std::vector<std::string> list;
    for (const int64_t reader : *readers) {
      if (reader < 0 || reader >= std::ssize(stages_)) return refuse("there is no such reader");
      list.push_back(stages_[static_cast<size_t>(reader)].name);
    }
    const std::string name = stages_[*at].name;
    const int ordinal = reads_[name]++;
    text_ += fmt::format("cache_read {} [{}]{}\n", name, fmt::join(list, ", "),
                         ordinal == 0 ? "" : fmt::format(" ordinal={}", ordinal));
    Result<StageState> made =
        made_stage(ordinal == 0 ? name + ".read" : fmt::format("{}.read.{}", name, ordinal));
    if (!made) return std::unexpected(made.error());
    stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(*at) + 1, std::move(*made));
    return {};
  }

  Status rfactor(const Json& json) {
    const Result<size_t> at = position(json, 1);
    if (!at) return std::unexpected(at.error());
    const Result<Place> where = place(json);
    if (!where) return std::unexpected(where.error());
    const Result<int64_t> to = integer(json, 3);
    if (!to) return std::unexpected(to.error());
    const std::string name = where->stage->name;
    const std::string factored = where->stage->loops[where->loop].name;
    text_ += fmt::format("rfactor {} {}\n", name, factored);
    Result<StageState> made = made_stage(name + ".rfactor");
    if (!made) return std::unexpected(made.error());
    Result<StageState> rest = made_stage(name);
    if (!rest) return std::unexpected(rest.error());
    // There, the factored loop is a spatial one at the place that the step says.
    auto& loops = made->loops;
    const auto found = std::ranges::find(loops, factored, &Loop::name);
    if (found == loops.end() || *to < 0 || *to >= std::ssize(loops)) {
      return refuse("its loop has no place in the factored stage");
    }
    Loop loop = std::move(*found);
    loops.erase(found);
    loops.insert(loops.begin() + *to, std::move(loop));
    write_order(*made);
    stages_[*at] = std::move(*rest);
    stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(*at), std::move(*made));
    return {};
  }

  // A stage as the steps so far have made it.
  Result<StageState> made_stage(const std::string& name) const {
    const Result<LoopTree> tree = tree_of(text_);
    if (!tree) return std::unexpected(tree.error());
    const auto parsed = schedule::StageName::parse(name);
    const StageIndex stage = parsed ? tree->find_stage(*parsed) : schedule::kNone;
    if (stage == schedule::kNone) return refuse(fmt::format("there is no stage {}", name));
    return state_of(*tree, stage);
  }

  // -- what makes it quick --

  std::string unrolls() const {
    std::string text;
    for (const StageState& stage : stages_) {
      int64_t product = 1;
      for (size_t k = stage.loops.size(); k-- > 0;) {
        const Loop& loop = stage.loops[k];
        if (std::ranges::find(annotated_, stage.name + " " + loop.name) != annotated_.end()) {
          continue;
        }
        product *= loop.extent;
        if (product > stage.unroll) break;
        if (loop.extent > 1) text += fmt::format("annotate {} {} unroll\n", stage.name, loop.name);
      }
    }
    return text;
  }

  std::string packs() const {
    std::string text;
    for (const schedule::Buffer& buffer : initial_.buffers) {
      if (!buffer.is_constant) continue;
      const std::string constant = initial_.stage(buffer.stage).name.text();
      for (const StageState& stage : stages_) {
        if (!stage.input) text += fmt::format("pack {} {}\n", constant, stage.name);
      }
    }
    return text;
  }

  Result<LoopTree> tree_of(const std::string& text) const {
    const Result<Trace> trace = schedule::trace_from_text(text);
    if (!trace) return refuse(trace.error().message);
    Result<LoopTree> tree = apply_or_explain(initial_, *trace);
    if (!tree) return refuse(tree.error().message);
    return tree;
  }
  Result<Trace> legal(const std::string& text) const {
    const Result<LoopTree> tree = tree_of(text);
    if (!tree) return std::unexpected(tree.error());
    return schedule::trace_from_text(text);
  }

  const LoopTree& initial_;
  std::vector<StageState> stages_;  // as Ansor numbers them
  std::vector<SplitMade> splits_;   // by step; of other steps empty
  std::vector<std::string> annotated_;
  std::map<std::string, int> reads_;
  std::string text_;
};

}  // namespace

Result<Trace> trace_of_ansor_steps(const Json& steps, const LoopTree& initial) {
  if (!steps.is_array()) return refuse("the steps are no list");
  if (steps.size() > schedule::kMaxSteps) return refuse("there are too many steps");
  Walk walk(initial);
  for (size_t k = 0; k < steps.size(); ++k) {
    const Status status = walk.step(steps[k]);
    if (!status) {
      return refuse(fmt::format("step {} {}: {}", k, print_json(steps[k]), status.error().message));
    }
  }
  return walk.finish();
}

std::vector<std::string> ansor_stages(const LoopTree& initial) {
  std::vector<std::string> names;
  for (const StageIndex stage : ansor_order(initial)) {
    names.push_back(initial.stage(stage).name.text());
  }
  return names;
}

}  // namespace tilewright::record
