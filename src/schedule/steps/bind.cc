#include "schedule/steps/bind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tilewright::schedule {
namespace {

constexpr std::array<std::string_view, 8> kThreadAxes = {
    "none", "block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z", "virtual_thread"};

}  // namespace

std::string_view word_of(ThreadAxis axis) { return kThreadAxes[static_cast<size_t>(axis)]; }
std::string all_words(ThreadAxis) { return fmt::format("{}", fmt::join(kThreadAxes, "|")); }
bool from_word(std::string_view word, ThreadAxis* axis) {
  const auto found = std::ranges::find(kThreadAxes, word);
  if (found == kThreadAxes.end()) return false;
  *axis = static_cast<ThreadAxis>(found - kThreadAxes.begin());
  return true;
}

Illegal apply_step(TreeEditor& editor, const Bind& step) {
  StageIndex stage = kNone;
  VarIndex loop = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &stage)) return illegal;
  if (const Illegal illegal = editor.find_loop(stage, step.loop, &loop)) return illegal;
  LoopVar& var = editor.tree().var(loop);
  if (var.kind == IterKind::Reduce) {
    return editor.reject(IllegalCode::ParallelReduce, step.stage, step.loop);
  }
  if (var.annotation != Annotation::None || var.bound != ThreadAxis::None) {
    return editor.reject(IllegalCode::LoopIsAnnotated, step.stage, step.loop);
  }
  var.bound = step.axis;
  return {};
}

}  // namespace tilewright::schedule
