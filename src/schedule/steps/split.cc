#include "schedule/steps/split.h"

#include <algorithm>
#include <array>

namespace tilewright::schedule {

Illegal check_factors(const Factors& factors, Illegal refusal) {
  constexpr int64_t kMaxFactor = int64_t{1} << 31;
  constexpr int64_t kMaxProduct = int64_t{1} << 40;
  const auto reject = [&](int64_t factor) {
    refusal.a = factor;
    return refusal;
  };
  if (factors.empty()) return reject(0);
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (factor < 1 || factor > kMaxFactor || factor > kMaxProduct / product) return reject(factor);
    product *= factor;
  }
  return {};
}

Illegal split_loop(TreeEditor& editor, StageName name, Name loop_name, size_t count, Tail tail) {
  StageIndex stage = kNone;
  VarIndex loop = kNone;
  if (const Illegal illegal = editor.find_scheduled(name, &stage)) return illegal;
  if (const Illegal illegal = editor.find_loop(stage, loop_name, &loop)) return illegal;
  if (const Illegal illegal = editor.check_unused(stage, loop)) return illegal;

  LoopTree& tree = editor.tree();
  const LoopVar whole = tree.var(loop);
  std::array<VarIndex, Factors::kCapacity + 1> parts{};
  for (size_t k = 0; k < count; ++k) {
    parts[k] = editor.add_var({.name = whole.name.child(static_cast<unsigned>(k)),
                               .stage = stage,
                               .origin = VarOrigin::Part,
                               .kind = whole.kind,
                               .part = static_cast<uint8_t>(k),
                               .parent = loop,
                               .step = editor.step()});
  }
  LoopVar& var = tree.var(loop);
  var.parts = static_cast<uint8_t>(count);
  var.first_part = parts[0];
  var.tail = tail;
  const auto& loops = tree.stage(stage).loops;
  const auto position =
      static_cast<size_t>(std::find(loops.begin(), loops.end(), loop) - loops.begin());
  if (!editor.replace_loops(stage, position, 1, std::span(parts.data(), count))) {
    return editor.reject(IllegalCode::TooManyLoops, name, loop_name, kMaxLoops);
  }
  return {};
}

Illegal apply_step(TreeEditor& editor, const Split& step) {
  if (const Illegal illegal =
          split_loop(editor, step.stage, step.loop, step.factors.size() + 1, step.tail)) {
    return illegal;
  }
  return check_factors(step.factors, editor.reject(IllegalCode::BadFactor, step.stage, step.loop));
}

}  // namespace tilewright::schedule
