#include "ansor_log/replay.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/json.h"
#include "base/rounding.h"
#include "schedule/apply.h"

namespace tilewright::ansor_log {

using schedule::LoopTree;
using schedule::StageIndex;
using schedule::Trace;

namespace {

constexpr int64_t kMaxUnrolled = 512;  // Ansor's largest choice for CPUs

constexpr std::array<std::string_view, 11> kAnnotations = {
    "",         "unroll",  "vectorize", "parallel", "virtual_thread", "block_x",
    "thread_x", "block_y", "thread_y",  "block_z",  "thread_z"};

}  // namespace

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::Unsupported, std::move(message));
}

Replay::Replay(const LoopTree& initial) : initial_(initial) {
  // Extents are in the tree of the empty trace.
  Result<LoopTree> sized = apply_or_explain(initial, Trace{});
  const LoopTree& tree = sized ? *sized : initial;
  for (const StageIndex stage : stage_order(tree)) stages_.push_back(state_of(tree, stage));
}

Status Replay::step(const Json& json) {
  if (!json.is_array() || json.empty() || !json[0].is_string()) {
    return refuse("a step is an array that begins with its code");
  }
  splits_.emplace_back();  // steps are referred to by their number
  struct Code {
    std::string_view text;
    Status (Replay::*take)(const Json&);
  };
  static constexpr std::array<Code, 13> kCodes = {{{"SP", &Replay::split},
                                                   {"FSP", &Replay::follow_split},
                                                   {"FFSP", &Replay::follow_fused_split},
                                                   {"FU", &Replay::fuse},
                                                   {"RE", &Replay::reorder},
                                                   {"AN", &Replay::annotate},
                                                   {"PR", &Replay::pragma},
                                                   {"CA", &Replay::compute_at},
                                                   {"CI", &Replay::compute_inline},
                                                   {"CR", &Replay::compute_root},
                                                   {"CHW", &Replay::cache_write},
                                                   {"CHR", &Replay::cache_read},
                                                   {"RF", &Replay::rfactor}}};
  const auto text = json[0].get<std::string>();
  for (const Code& code : kCodes) {
    if (code.text == text) return (this->*code.take)(json);
  }
  if (text == "SA") return refuse("storage_align (SA) is not supported");
  return refuse(fmt::format("'{}' is not a known step of Ansor", text));
}

// --- steps that change loops ---

void Replay::replace_by_parts(const LoopRef& at_loop, const std::vector<int64_t>& factors) {
  const Loop whole = at_loop.stage->loops[at_loop.loop];
  int64_t inner = 1;
  for (const int64_t factor : factors) inner *= factor;
  std::vector<Loop> parts;
  for (size_t k = 0; k <= factors.size(); ++k) {
    const int64_t extent = k == 0 ? ceil_div(whole.extent, inner) : factors[k - 1];
    parts.push_back({fmt::format("{}.{}", whole.name, k), extent, whole.reduce});
  }
  // A stage attached to the loop is attached to its innermost part.
  move_attached(at_loop.stage->name, whole.name, parts.back().name);
  auto& loops = at_loop.stage->loops;
  const auto at = loops.begin() + static_cast<std::ptrdiff_t>(at_loop.loop);
  loops.insert(loops.erase(at), parts.begin(), parts.end());
}

void Replay::move_attached(const std::string& target, const std::string& from,
                           const std::string& to) {
  for (StageState& stage : stages_) {
    if (stage.target == target && stage.at == from) stage.at = to;
  }
}

Status Replay::split(const Json& json) {
  const LoopRef where = TRY(loop_ref(json));
  const int64_t extent = TRY(integer(json, 3));
  std::vector<int64_t> lengths = TRY(integers(json, 4));
  const int64_t inner_to_outer = TRY(integer(json, 5));
  const Loop& loop = where.stage->loops[where.loop];
  if (extent != 0 && extent != loop.extent) {
    return refuse(
        fmt::format("loop {} of {} has {} iterations, in the log {}: is it another "
                    "workload?",
                    loop.name, where.stage->name, loop.extent, extent));
  }
  int64_t product = 1;
  for (const int64_t length : lengths) {
    if (length < 1 || length > (int64_t{1} << 31)) return refuse("a length is not positive");
    product = std::min(product * length, int64_t{1} << 40);
  }
  if (inner_to_outer == 0) {  // extents of the outer parts: the innermost gets the rest
    lengths.push_back(ceil_div(loop.extent, product));
    lengths.erase(lengths.begin());
  }
  splits_.back() = {where.stage->name, loop.name, lengths};
  text_ +=
      fmt::format("split {} {} [{}]\n", where.stage->name, loop.name, fmt::join(lengths, ", "));
  replace_by_parts(where, lengths);
  return {};
}

Result<Replay::SplitMade> Replay::split_of_step(int64_t number) const {
  if (number < 0 || number >= std::ssize(splits_) ||
      splits_[static_cast<size_t>(number)].stage.empty()) {
    return refuse(fmt::format("step {} that it follows is not a split", number));
  }
  return splits_[static_cast<size_t>(number)];
}

Status Replay::follow_split(const Json& json) {
  const LoopRef where = TRY(loop_ref(json));
  const Result<int64_t> step = integer(json, 3);
  const Result<int64_t> count = integer(json, 4);
  if (!step || !count) return refuse("it follows no step");
  const SplitMade source = TRY(split_of_step(*step));
  const auto have = std::ssize(source.factors);
  if (*count < 1 || *count > have) {
    return refuse(fmt::format("it takes {} lengths of {}", *count, have));
  }
  std::vector<int64_t> factors(source.factors.begin(), source.factors.begin() + *count);
  for (int64_t k = *count; k < have; ++k) factors.back() *= source.factors[static_cast<size_t>(k)];
  text_ += fmt::format("follow_split {} {} {} {} {}\n", where.stage->name,
                       where.stage->loops[where.loop].name, source.stage, source.loop, *count + 1);
  replace_by_parts(where, factors);
  return {};
}

Status Replay::follow_fused_split(const Json& json) {
  const LoopRef where = TRY(loop_ref(json));
  const std::vector<int64_t> steps = TRY(integers(json, 3));
  const Result<int64_t> level = integer(json, 4);
  const Result<int64_t> is_factor = integer(json, 5);
  if (!level || !is_factor) return refuse("its level is missing");
  if (*is_factor == 0) return refuse("it gives the number of parts, not their length");
  std::vector<std::string> loops;
  std::string stage;
  int64_t factor = 1;
  for (const int64_t step : steps) {
    const SplitMade source = TRY(split_of_step(step));
    if (!stage.empty() && stage != source.stage) return refuse("it follows two stages");
    if (*level < 0 || *level >= std::ssize(source.factors)) return refuse("no such level");
    stage = source.stage;
    loops.push_back(source.loop);
    factor *= source.factors[static_cast<size_t>(*level)];
  }
  text_ += fmt::format("follow_fused_split {} {} {} [{}] {}\n", where.stage->name,
                       where.stage->loops[where.loop].name, stage, fmt::join(loops, ", "), *level);
  replace_by_parts(where, {factor});
  return {};
}

Status Replay::fuse(const Json& json) {
  StageState* const stage = TRY(stage_at(json, 1));
  const std::vector<int64_t> numbers = TRY(integers(json, 2));
  if (numbers.empty()) return refuse("it fuses no loops");
  std::vector<std::string> members;
  Loop fused{.name = "", .extent = 1, .reduce = false};
  for (size_t k = 0; k < numbers.size(); ++k) {
    const size_t at = TRY(loop_at(*stage, numbers[k]));
    if (numbers[k] != numbers.front() + static_cast<int64_t>(k)) {
      return refuse("it fuses loops that are not neighbors");
    }
    const Loop& loop = stage->loops[at];
    members.push_back(loop.name);
    fused.extent *= loop.extent;
    fused.reduce = fused.reduce || loop.reduce;
  }
  if (members.size() == 1) return {};  // a single loop: unchanged
  fused.name = fmt::format("({})", fmt::join(members, ","));
  for (const std::string& member : members) move_attached(stage->name, member, fused.name);
  text_ += fmt::format("fuse {} [{}]\n", stage->name, fmt::join(members, ", "));
  auto& loops = stage->loops;
  const auto begin = loops.begin() + numbers.front();
  loops.insert(loops.erase(begin, begin + std::ssize(members)), fused);
  return {};
}

Status Replay::reorder(const Json& json) {
  StageState* const stage = TRY(stage_at(json, 1));
  const std::vector<int64_t> order = TRY(integers(json, 2));
  std::vector<int64_t> sorted = order;
  std::ranges::sort(sorted);
  for (size_t k = 0; k < sorted.size(); ++k) {
    if (sorted[k] != static_cast<int64_t>(k)) return refuse("it is not a permutation of all loops");
  }
  if (sorted.size() != stage->loops.size()) return refuse("it is not a permutation of all loops");
  std::vector<Loop> loops;
  loops.reserve(order.size());
  for (const int64_t at : order) loops.push_back(stage->loops[static_cast<size_t>(at)]);
  stage->loops = std::move(loops);
  write_order(*stage);
  return {};
}

void Replay::write_order(const StageState& stage) {
  std::vector<std::string> list;
  list.reserve(stage.loops.size());
  for (const Loop& loop : stage.loops) list.push_back(loop.name);
  text_ += fmt::format("reorder {} [{}]\n", stage.name, fmt::join(list, ", "));
}

Status Replay::annotate(const Json& json) {
  const LoopRef where = TRY(loop_ref(json));
  const int64_t how = TRY(integer(json, 3));
  if (how == 0) return {};
  if (how < 0 || how >= std::ssize(kAnnotations)) {
    return refuse(fmt::format("annotation {} is not supported", how));
  }
  const std::string_view word = kAnnotations[static_cast<size_t>(how)];
  text_ += fmt::format("{} {} {} {}\n", how <= 3 ? "annotate" : "bind", where.stage->name,
                       where.stage->loops[where.loop].name, word);
  annotated_.push_back(where.stage->name + " " + where.stage->loops[where.loop].name);
  return {};
}

Status Replay::pragma(const Json& json) {
  StageState* const stage = TRY(stage_at(json, 1));
  constexpr std::string_view kUnroll = "auto_unroll_max_step$";
  if (json.size() < 4 || !json[3].is_string()) return refuse("its text is missing");
  const auto text = json[3].get<std::string>();
  int64_t max_step = 0;
  const char* const end = text.data() + text.size();
  if (!text.starts_with(kUnroll) ||
      std::from_chars(text.data() + kUnroll.size(), end, max_step).ptr != end) {
    return refuse(fmt::format("the pragma '{}' is not known", text));
  }
  stage->unroll = std::clamp<int64_t>(max_step, 0, kMaxUnrolled);
  return {};
}

// --- steps that attach or create stages ---

Status Replay::compute_at(const Json& json) {
  StageState* const stage = TRY(stage_at(json, 1));
  StageState* const target = TRY(stage_at(json, 2));
  const int64_t number = TRY(integer(json, 3));
  const size_t loop = TRY(loop_at(*target, number));
  stage->target = target->name;
  stage->at = target->loops[loop].name;
  return {};
}

Status Replay::compute_inline(const Json& json) {
  StageState* const stage = TRY(stage_at(json, 1));
  text_ += fmt::format("compute_inline {}\n", stage->name);
  return {};
}

Status Replay::compute_root(const Json& json) {
  StageState* const stage = TRY(stage_at(json, 1));
  stage->at.clear();
  stage->target.clear();
  return {};
}

Status Replay::cache_write(const Json& json) {
  const size_t at = TRY(position(json, 1));
  StageState written = stages_[at];
  text_ += fmt::format("cache_write {}\n", written.name);
  std::erase_if(stages_[at].loops, [](const Loop& loop) { return loop.reduce; });
  written.name += ".write";
  stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(at), std::move(written));
  return {};
}

Status Replay::cache_read(const Json& json) {
  const size_t at = TRY(position(json, 1));
  const std::vector<int64_t> readers = TRY(integers(json, 3));
  std::vector<std::string> list;
  for (const int64_t reader : readers) {
    if (reader < 0 || reader >= std::ssize(stages_)) return refuse("there is no such reader");
    list.push_back(stages_[static_cast<size_t>(reader)].name);
  }
  const std::string name = stages_[at].name;
  const int ordinal = reads_[name]++;
  text_ += fmt::format("cache_read {} [{}]{}\n", name, fmt::join(list, ", "),
                       ordinal == 0 ? "" : fmt::format(" ordinal={}", ordinal));
  StageState made =
      TRY(made_stage(ordinal == 0 ? name + ".read" : fmt::format("{}.read.{}", name, ordinal)));
  stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(made));
  return {};
}

Status Replay::rfactor(const Json& json) {
  const size_t at = TRY(position(json, 1));
  const LoopRef where = TRY(loop_ref(json));
  const int64_t to = TRY(integer(json, 3));
  const std::string name = where.stage->name;
  const std::string factored = where.stage->loops[where.loop].name;
  text_ += fmt::format("rfactor {} {}\n", name, factored);
  StageState made = TRY(made_stage(name + ".rfactor"));
  StageState rest = TRY(made_stage(name));
  // There, the factored loop is a spatial loop at the position given by the step.
  auto& loops = made.loops;
  const auto found = std::ranges::find(loops, factored, &Loop::name);
  if (found == loops.end() || to < 0 || to >= std::ssize(loops)) {
    return refuse("its loop has no place in the factored stage");
  }
  Loop loop = std::move(*found);
  loops.erase(found);
  loops.insert(loops.begin() + to, std::move(loop));
  write_order(made);
  stages_[at] = std::move(rest);
  stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(at), std::move(made));
  return {};
}

Result<StageState> Replay::made_stage(const std::string& name) const {
  const LoopTree tree = TRY(tree_of(text_));
  const auto parsed = schedule::StageName::parse(name);
  const StageIndex stage = parsed ? tree.find_stage(*parsed) : schedule::kNone;
  if (stage == schedule::kNone) return refuse(fmt::format("there is no stage {}", name));
  return state_of(tree, stage);
}

// --- the trace ---

Result<Trace> Replay::finish() {
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

Result<int64_t> Replay::integer(const Json& json, size_t at) {
  if (at >= json.size() || !json[at].is_number_integer()) {
    return refuse(fmt::format("argument {} is not an integer", at));
  }
  return json[at].get<int64_t>();
}

Result<std::vector<int64_t>> Replay::integers(const Json& json, size_t at) {
  if (at >= json.size() || !json[at].is_array()) {
    return refuse(fmt::format("argument {} is not a list", at));
  }
  std::vector<int64_t> list;
  for (size_t k = 0; k < json[at].size(); ++k) {
    const int64_t one = TRY(integer(json[at], k));
    list.push_back(one);
  }
  return list;
}

Result<size_t> Replay::position(const Json& json, size_t at) const {
  const int64_t number = TRY(integer(json, at));
  if (number < 0 || number >= std::ssize(stages_)) {
    return refuse(fmt::format("there is no stage {}; stages are {}", number, names()));
  }
  return static_cast<size_t>(number);
}

Result<StageState*> Replay::stage_at(const Json& json, size_t at) {
  const size_t place = TRY(position(json, at));
  return &stages_[place];
}

Result<size_t> Replay::loop_at(const StageState& stage, int64_t number) {
  if (number < 0 || number >= std::ssize(stage.loops)) {
    return refuse(
        fmt::format("{} has no loop {}: it has {} loops", stage.name, number, stage.loops.size()));
  }
  return static_cast<size_t>(number);
}

Result<Replay::LoopRef> Replay::loop_ref(const Json& json) {
  StageState* const stage = TRY(stage_at(json, 1));
  const int64_t number = TRY(integer(json, 2));
  const size_t loop = TRY(loop_at(*stage, number));
  return LoopRef{stage, loop};
}

std::string Replay::names() const {
  std::vector<std::string> list;
  list.reserve(stages_.size());
  for (const StageState& stage : stages_) list.push_back(stage.name);
  return fmt::format("{}", fmt::join(list, ", "));
}

std::string Replay::unrolls() const {
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

std::string Replay::packs() const {
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

Result<LoopTree> Replay::tree_of(const std::string& text) const {
  const Result<Trace> trace = schedule::trace_from_text(text);
  if (!trace) return refuse(trace.error().message);
  Result<LoopTree> tree = apply_or_explain(initial_, *trace);
  if (!tree) return refuse(tree.error().message);
  return tree;
}

Result<Trace> Replay::legal(const std::string& text) const {
  TRY(tree_of(text));
  return schedule::trace_from_text(text);
}

}  // namespace tilewright::ansor_log
