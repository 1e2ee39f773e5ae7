#include "graph/passes/recognise_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/attention.h"
#include "graph/passes/reshape_parts.h"
#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

using Extents = std::vector<int64_t>;

constexpr int kDeepest = 12;      // nodes between the two contractions
constexpr size_t kMostMasks = 2;  // that the operator takes

struct Mask {
  ValueId value = kNone;
  Extents at;  // the shape of the scores where it stands
};

// What a softmax is of.
struct Scores {
  ValueId products = kNone;  // what a contraction makes
  double scale = 1;
  std::vector<Mask> masks;  // as they come
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
  // The scores that one operand is; it has the shape of the result.
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
      if (!scores || scores->masks.size() == kMostMasks) continue;
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
      if (!scores || scores->hidden || scores->masks.size() == kMostMasks) continue;
      scores->masks.push_back({.value = node.inputs[0], .at = rewrite_.shape(value)});
      scores->hidden = hidden;
      scores->visible = side == 1;
      return scores;
    }
    return std::nullopt;
  }

  const Rewrite& rewrite_;
};

// What broadcasts to `at`, as it broadcasts to `to` when that is reshaped so; none where it does
// not.
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

// Letters of the second contraction as those of the first: `scores` of the one are `weights` of the
// other. What only the second has gets letters of its own.
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
        to_ += fresh_letter();
      }
      result += to_[at];
    }
    return result;
  }

 private:
  char fresh_letter() {
    char letter = 'e';
    while (taken_.contains(letter)) letter = letter == 'z' ? 'A' : static_cast<char>(letter + 1);
    taken_ += letter;
    return letter;
  }

  std::string from_, to_, taken_;
};

bool has_twice(const std::string& letters) {
  return std::ranges::any_of(letters,
                             [&](char letter) { return std::ranges::count(letters, letter) > 1; });
}

struct Found {
  std::vector<ValueId> inputs;  // q, k, v
  Scores scores;
  Attributes attributes;
};

// The softmax behind a reshape, or not, that alone reads what it is of; null: none.
const Node* softmax_of(const Rewrite& rewrite, ValueId weights) {
  if (!rewrite.read_once(weights)) return nullptr;
  if (const Node* view = rewrite.made_by(weights, "reshape")) {
    weights = view->inputs[0];
    if (!rewrite.read_once(weights)) return nullptr;
  }
  const Node* softmax = rewrite.made_by(weights, "softmax");
  if (softmax == nullptr || softmax->attributes.integer("log", 0) != 0) return nullptr;
  const size_t rank = rewrite.shape(weights).size();
  return axis_of(*softmax, rank) + 1 == static_cast<int64_t>(rank) ? softmax : nullptr;
}

// contract(weights, values), the weights its operand `side`.
std::optional<Found> match(const Rewrite& rewrite, const Node& node, size_t side) {
  const std::vector<ValueId> in = rewrite.operands(node);
  const Node* softmax = softmax_of(rewrite, in[side]);
  if (softmax == nullptr) return std::nullopt;
  auto scores = Scorer(rewrite).scores_of(softmax->inputs[0], 0);
  if (!scores || rewrite.shape(scores->products) != rewrite.shape(in[side])) return std::nullopt;
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
  Found found{.inputs = {first.inputs[1 - keys], first.inputs[keys], in[1 - side]},
              .scores = *std::move(scores),
              .attributes = {{"q", factors[1 - keys]},
                             {"k", factors[keys]},
                             {"v", renamed},
                             {"scores", order},
                             {"out", rename(node.attributes.text("out"))}}};
  if (!attention_letters(found.attributes)) return std::nullopt;
  return found;
}

// The operands, masks as they broadcast to the scores; empty where they do not.
Result<std::vector<ValueId>> operands_of(Rewrite& rewrite, const Found& found) {
  std::vector<ValueId> inputs = found.inputs;
  const Extents scores = rewrite.shape(found.scores.products);
  std::vector<Extents> shapes;
  for (const Mask& mask : found.scores.masks) {
    auto shape = viewed(rewrite.shape(mask.value), mask.at, scores);
    if (!shape) return std::vector<ValueId>();
    shapes.push_back(*std::move(shape));
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    const auto mask = rewrite.reshape(found.scores.masks[i].value, shapes[i]);
    if (!mask) return std::unexpected(mask.error());
    inputs.push_back(*mask);
  }
  return inputs;
}

}  // namespace

Result<Graph> recognise_attention(const Graph& graph, const PassOptions& options) {
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (!options.licences.reassociate || node.op != "contract") return false;
    auto found = match(rewrite, node, 0);
    if (!found) found = match(rewrite, node, 1);
    if (!found) return false;
    auto inputs = operands_of(rewrite, *found);
    if (!inputs) return std::unexpected(inputs.error());
    if (inputs->empty()) return false;
    if (found->scores.scale != 1) found->attributes.set("scale", found->scores.scale);
    if (found->scores.hidden) {
      found->attributes.set("hidden", *found->scores.hidden);
      found->attributes.set("visible", int64_t{found->scores.visible ? 1 : 0});
    }
    const auto now = rewrite.add("attention", *std::move(inputs), found->attributes);
    if (!now) return std::unexpected(now.error());
    rewrite.replace(node.outputs[0], *now);
    return true;
  });
}

}  // namespace tilewright::graph
