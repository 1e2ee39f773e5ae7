#include "ansor_log/replay.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/json.h"
#include "schedule/apply.h"

namespace tilewright::ansor_log {

using schedule::LoopTree;
using schedule::StageIndex;
using schedule::Trace;

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
