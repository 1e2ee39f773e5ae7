#include "graph/passes/recognize_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/attention.h"
#include "graph/ops/letters.h"
#include "graph/passes/reshape_parts.h"
#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

using Extents = std::vector<int64_t>;

constexpr int kDeepest = 12;  // nodes between the two contractions

struct Mask {
  ValueId value = kNone;
  Extents at;  // the shape of the scores where it is applied
};

// The operand of the softmax.
struct Scores {
  ValueId products = kNone;  // the result of a contraction
  double scale = 1;
  std::vector<Mask> masks;  // in the order of application
  std::optional<double> hidden;
  bool visible = true;
};

class Scorer {
 public:
  explicit Scorer(const Rewrite& rewrite) : rewrite_(rewrite) {}

  std::optional<Scores> scores_of(ValueId value, int depth) const {
    const Node* node = rewrite_.made_by(value);
    if (node == nullptr || depth == kDeepest || !rewrite_.read_once(value)) return std::nullopt;
    if (node->op == "contract") {
      Scores scores;
      scores.products = value;
      return scores;
    }
    if (node->op == "reshape") return scores_of(node->inputs[0], depth + 1);
    if (node->op == "mul") return scaled(*node, value, depth);
    if (node->op == "add") return with_addend(*node, value, depth);
    if (node->op == "where") return with_hidden(*node, value, depth);
    return std::nullopt;
  }

 private:
  // The operand that has the scores; it has the shape of the result.
  std::optional<Scores> operand(ValueId input, ValueId result, int depth) const {
    if (rewrite_.shape(input) != rewrite_.shape(result)) return std::nullopt;
    return scores_of(input, depth + 1);
  }

  std::optional<Scores> scaled(const Node& node, ValueId value, int depth) const {
    const auto found = with_constant(rewrite_, node);
    if (!found) return std::nullopt;
    const auto factor = rewrite_.scalar(found->constant);
    if (!factor || !std::isfinite(*factor)) return std::nullopt;
    auto scores = operand(found->value, value, depth);
    if (!scores || !scores->masks.empty()) return std::nullopt;
    scores->scale *= *factor;
    return scores;
  }

  std::optional<Scores> with_addend(const Node& node, ValueId value, int depth) const {
    if (node.inputs.size() != 2) return std::nullopt;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      auto scores = operand(node.inputs[side], value, depth);
      if (!scores || scores->masks.size() == kMaxMasks) continue;
      scores->masks.push_back({.value = node.inputs[1 - side], .at = rewrite_.shape(value)});
      return scores;
    }
    return std::nullopt;
  }

  std::optional<Scores> with_hidden(const Node& node, ValueId value, int depth) const {
    for (const size_t side : {size_t{1}, size_t{2}}) {
      const auto hidden = rewrite_.scalar(node.inputs[3 - side]);
      if (!hidden || std::isnan(*hidden)) continue;
      auto scores = operand(node.inputs[side], value, depth);
      if (!scores || scores->hidden || scores->masks.size() == kMaxMasks) continue;
      scores->masks.push_back({.value = node.inputs[0], .at = rewrite_.shape(value)});
      scores->hidden = hidden;
      scores->visible = side == 1;
      return scores;
    }
    return std::nullopt;
  }

  const Rewrite& rewrite_;
};

// A shape that broadcasts to `at`, reshaped to broadcast to `to`; nothing if that is not possible.
std::optional<Extents> viewed(Extents mask, const Extents& at, const Extents& to) {
  if (at == to) return mask;
  mask.insert(mask.begin(), at.size() - mask.size(), 1);
  Extents result;
  for (const ReshapePart& part : reshape_parts(at, to)) {
    bool whole = true;
    bool ones = true;
    for (size_t d = part.from; d < part.from + part.count; ++d) {
      whole = whole && mask[d] == at[d];
      ones = ones && mask[d] == 1;
    }
    if (!whole && !ones) return std::nullopt;
    for (size_t d = part.to; d < part.to + part.made; ++d) result.push_back(whole ? to[d] : 1);
  }
  return result;
}

// The letters of the second contraction renamed to those of the first: `scores` of the first are
// `weights` of the second. Other letters of the second are renamed to unused ones.
class Renaming {
 public:
  Renaming(const std::string& weights, const std::string& scores, const std::string& taken)
      : from_(weights), to_(scores), taken_(taken + scores) {}

  std::string operator()(const std::string& letters) {
    std::string result;
    for (const char letter : letters) {
      size_t at = from_.find(letter);
      if (at == std::string::npos) {
        at = from_.size();
        from_ += letter;
        to_ += fresh_letter("efgh", taken_);
      }
      result += to_[at];
    }
    return result;
  }

 private:
  std::string from_, to_, taken_;
};

bool has_twice(const std::string& letters) {
  return std::ranges::any_of(letters,
                             [&](char letter) { return std::ranges::count(letters, letter) > 1; });
}

struct Operand {
  ValueId value = kNone;
  Extents shape;  // that it is reshaped to
};

struct Found {
  std::vector<Operand> operands;  // q, k, v
  Scores scores;
  bool nan_is_zero = false;
  Attributes attributes;
};

// The weights of values: a softmax over the last dimension, possibly followed by a reshape or
// where(is_nan(p), 0, p), without other readers.
struct Weights {
  const Node* softmax = nullptr;  // null: not a softmax
  bool nan_is_zero = false;
};

Weights weights_of(const Rewrite& rewrite, ValueId value) {
  Weights found;
  int readers = 1;
  for (int depth = 0; depth < kDeepest && rewrite.reads(value) == readers; ++depth) {
    readers = 1;
    const Node* node = rewrite.made_by(value);
    if (node == nullptr) return {};
    if (node->op == "reshape") {
      value = node->inputs[0];
    } else if (node->op == "where" && !found.nan_is_zero) {
      const Node* is_nan = rewrite.made_by(node->inputs[0], "is_nan");
      if (is_nan == nullptr || is_nan->inputs[0] != node->inputs[2] ||
          !rewrite.read_once(node->inputs[0]) || rewrite.scalar(node->inputs[1]) != 0) {
        return {};
      }
      found.nan_is_zero = true;
      value = node->inputs[2];
      readers = 2;
    } else {
      const size_t rank = rewrite.shape(value).size();
      if (node->op != "softmax" || node->attributes.integer("log", 0) != 0 ||
          axis_of(*node, rank) + 1 != static_cast<int64_t>(rank)) {
        return {};
      }
      found.softmax = node;
      return found;
    }
  }
  return {};
}

// An operand of the products without its scalar factor, which scales the scores instead.
Operand without_factor(const Rewrite& rewrite, ValueId value, double& scale) {
  Operand operand{.value = value, .shape = rewrite.shape(value)};
  const Node* view = rewrite.made_by(value, "reshape");
  const ValueId whole = view != nullptr && rewrite.read_once(value) ? view->inputs[0] : value;
  const Node* product = rewrite.made_by(whole, "mul");
  if (product == nullptr || !rewrite.read_once(whole)) return operand;
  const auto found = with_constant(rewrite, *product);
  const auto factor = found ? rewrite.scalar(found->constant) : std::nullopt;
  if (!factor || !std::isfinite(*factor) || rewrite.shape(found->value) != rewrite.shape(whole)) {
    return operand;
  }
  operand.value = found->value;
  scale *= *factor;
  return operand;
}

// contract(weights, values), the weights its operand `side`.
std::optional<Found> match(const Rewrite& rewrite, const Node& node, size_t side) {
  const std::vector<ValueId> in = rewrite.operands(node);
  const Weights made = weights_of(rewrite, in[side]);
  if (made.softmax == nullptr) return std::nullopt;
  auto scores = Scorer(rewrite).scores_of(made.softmax->inputs[0], 0);
  if (!scores) return std::nullopt;
  const Extents& shape = rewrite.shape(scores->products);
  if (shape.empty() || shape != rewrite.shape(in[side]) ||
      shape.back() != rewrite.shape(made.softmax->inputs[0]).back()) {
    return std::nullopt;  // the same rows
  }
  const Node& first = *rewrite.made_by(scores->products);
  const std::array<std::string, 2> factors = {first.attributes.text("a"),
                                              first.attributes.text("b")};
  const std::string order = first.attributes.text("out");
  const std::string& weights = node.attributes.text(side == 0 ? "a" : "b");
  const std::string& values = node.attributes.text(side == 0 ? "b" : "a");
  for (const std::string& letters : {factors[0], factors[1], weights, values}) {
    if (has_twice(letters)) return std::nullopt;
  }
  const size_t keys = factors[0].contains(order.back()) ? 0 : 1;
  Renaming rename(weights, order, factors[0] + factors[1]);
  const std::string renamed = rename(values);
  Found found{.operands = {},
              .scores = *std::move(scores),
              .nan_is_zero = made.nan_is_zero,
              .attributes = {{"q", factors[1 - keys]},
                             {"k", factors[keys]},
                             {"v", renamed},
                             {"scores", order},
                             {"out", rename(node.attributes.text("out"))}}};
  if (!attention_letters(found.attributes)) return std::nullopt;
  found.operands = {without_factor(rewrite, first.inputs[1 - keys], found.scores.scale),
                    without_factor(rewrite, first.inputs[keys], found.scores.scale),
                    {.value = in[1 - side], .shape = rewrite.shape(in[1 - side])}};
  return found;
}

// The operands, with masks reshaped to broadcast to the scores; empty if they do not.
Result<std::vector<ValueId>> operands_of(Rewrite& rewrite, const Found& found) {
  const Extents scores = rewrite.shape(found.scores.products);
  std::vector<Extents> shapes;
  for (const Mask& mask : found.scores.masks) {
    auto shape = viewed(rewrite.shape(mask.value), mask.at, scores);
    if (!shape) return std::vector<ValueId>();
    shapes.push_back(*std::move(shape));
  }
  std::vector<Operand> operands = found.operands;
  for (size_t i = 0; i < shapes.size(); ++i) {
    operands.push_back({.value = found.scores.masks[i].value, .shape = shapes[i]});
  }
  std::vector<ValueId> inputs;
  inputs.reserve(operands.size());
  for (const Operand& operand : operands) {
    const auto now = TRY(rewrite.reshape(operand.value, operand.shape));
    inputs.push_back(now);
  }
  return inputs;
}

}  // namespace

Result<Graph> recognize_attention(const Graph& graph, const PassOptions& options) {
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (!options.permissions.reassociate || node.op != "contract") return false;
    auto found = match(rewrite, node, 0);
    if (!found) found = match(rewrite, node, 1);
    if (!found) return false;
    auto inputs = TRY(operands_of(rewrite, *found));
    if (inputs.empty()) return false;
    if (found->scores.scale != 1) found->attributes.set("scale", found->scores.scale);
    if (found->scores.hidden) {
      found->attributes.set("hidden", *found->scores.hidden);
      found->attributes.set("visible", int64_t{found->scores.visible ? 1 : 0});
    }
    if (found->nan_is_zero) found->attributes.set("nan_is_zero", int64_t{1});
    const auto now = rewrite.add("attention", std::move(inputs), found->attributes);
    if (!now) return false;  // unlike contract, attention takes operands of one type only
    rewrite.replace(node.outputs[0], *now);
    return true;
  });
}

}  // namespace tilewright::graph
