#include "graph/passes/absorb_broadcasts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "graph/op_table.h"
#include "graph/ops/letters.h"
#include "graph/passes/reshape_parts.h"
#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

using Extents = std::vector<int64_t>;

// A broadcast of `source`.
struct Repeated {
  ValueId source = kNone;
  Extents shape;              // with broadcast dimensions
  std::vector<bool> repeats;  // by dimension of that shape
};

std::optional<Repeated> repeated(const Rewrite& rewrite, ValueId value) {
  const Node* node = rewrite.made_by(value, "reshape");
  const ValueId whole = node == nullptr ? value : node->inputs[0];
  node = rewrite.made_by(whole);
  if (node == nullptr || (node->op != "broadcast" && node->op != "tile")) return std::nullopt;
  Repeated found{.source = node->inputs[0], .shape = rewrite.shape(whole), .repeats = {}};
  Extents from = rewrite.shape(found.source);
  if (from.size() > found.shape.size()) return std::nullopt;
  from.insert(from.begin(), found.shape.size() - from.size(), 1);
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != found.shape[d] && from[d] != 1) return std::nullopt;
    found.repeats.push_back(from[d] != found.shape[d]);
  }
  return found;
}

// One operand, or the result, of a contraction.
struct Side {
  std::string letters;
  Extents shape;
};

int64_t count_of(const Side& side, char letter) { return std::ranges::count(side.letters, letter); }

// Splits a letter and its dimension into several.
void split_letter(Side& side, char letter, const std::string& letters, const Extents& extents) {
  const size_t at = side.letters.find(letter);
  if (at == std::string::npos) return;
  side.letters.replace(at, 1, letters);
  const auto place = side.shape.erase(side.shape.begin() + static_cast<std::ptrdiff_t>(at));
  side.shape.insert(place, extents.begin(), extents.end());
}

class Contraction {
 public:
  Contraction(const Rewrite& rewrite, const Node& node, std::array<ValueId, 2> in,
              const Extents& result)
      : rewrite_(&rewrite), in_(in) {
    sides_ = {Side{.letters = node.attributes.text("a"), .shape = rewrite.shape(in[0])},
              Side{.letters = node.attributes.text("b"), .shape = rewrite.shape(in[1])}};
    out_ = {.letters = node.attributes.text("out"), .shape = result};
    taken_ = sides_[0].letters + sides_[1].letters;
  }

  // Drops the broadcast dimensions of the operand; false if there are none or they must stay.
  bool absorb(size_t side) {
    const auto found = repeated(*rewrite_, in_[side]);
    if (!found || rewrite_->shape(in_[side]) != sides_[side].shape) return false;
    Contraction next = *this;
    next.sides_[side] = {};
    for (const ReshapePart& part : reshape_parts(found->shape, sides_[side].shape)) {
      if (!next.take(*this, side, *found, part)) return false;
    }
    next.in_[side] = found->source;
    for (const Side* each : {&next.sides_[0], &next.sides_[1], &next.out_}) {
      if (each->shape.size() > kMaxRank) return false;
    }
    *this = std::move(next);
    return true;
  }

  Result<ValueId> emit(Rewrite& rewrite) const {
    std::vector<ValueId> inputs;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const auto now = TRY(rewrite.reshape(in_[side], sides_[side].shape));
      inputs.push_back(now);
    }
    return rewrite.add("contract", inputs,
                       {{"a", sides_[0].letters}, {"b", sides_[1].letters}, {"out", out_.letters}});
  }

 private:
  // Dimensions of the operand `side` of `from`, as this one has them.
  bool take(const Contraction& from, size_t side, const Repeated& found, const ReshapePart& part) {
    const Side& old = from.sides_[side];
    Side& now = sides_[side];
    std::vector<size_t> dims;  // of the repeated shape that are longer than 1
    bool repeats = false;
    for (size_t d = part.from; d < part.from + part.count; ++d) {
      if (found.shape[d] > 1) dims.push_back(d);
      repeats = repeats || found.repeats[d];
    }
    if (!repeats) {
      for (size_t d = part.to; d < part.to + part.made; ++d) {
        now.letters += old.letters[d];
        now.shape.push_back(old.shape[d]);
      }
      return true;
    }
    if (part.made != 1) return false;
    const char letter = old.letters[part.to];
    const Side& other = from.sides_[1 - side];
    if (count_of(old, letter) != 1 || count_of(other, letter) != 1 ||
        other.shape[other.letters.find(letter)] != old.shape[part.to]) {
      return false;
    }
    if (dims.size() == 1) return true;  // the letter is dropped
    std::string letters;
    Extents extents;
    for (const size_t d : dims) {
      const char fresh = letters.empty() ? letter : fresh_letter("ghrs", taken_);
      letters += fresh;
      extents.push_back(found.shape[d]);
      if (found.repeats[d]) continue;
      now.letters += fresh;
      now.shape.push_back(found.shape[d]);
    }
    split_letter(sides_[1 - side], letter, letters, extents);
    split_letter(out_, letter, letters, extents);
    return true;
  }

  const Rewrite* rewrite_;
  std::array<ValueId, 2> in_;
  std::array<Side, 2> sides_;
  Side out_;
  std::string taken_;  // letters
};

}  // namespace

Result<Graph> absorb_broadcasts(const Graph& graph, const PassOptions& /*options*/) {
  return rewrite_nodes(graph, [](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (node.op != "contract") return false;
    const std::vector<ValueId> in = rewrite.operands(node);
    const Extents& result = rewrite.from().value(node.outputs[0]).type.shape;
    Contraction contraction(rewrite, node, {in[0], in[1]}, result);
    const bool first = contraction.absorb(0);
    const bool second = contraction.absorb(1);
    if (!first && !second) return false;
    const auto now = TRY(contraction.emit(rewrite));
    TRY(rewrite.replace_as(node.outputs[0], now));
    return true;
  });
}

}  // namespace tilewright::graph
