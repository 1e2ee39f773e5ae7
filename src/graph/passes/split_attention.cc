#include "graph/passes/split_attention.h"

#include <string>
#include <vector>

#include "base/check.h"
#include "graph/op_table.h"
#include "graph/ops/attention.h"
#include "graph/ops/letters.h"
#include "graph/passes/constant_math.h"
#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

// Measured; see docs/graph.md.
constexpr int64_t kOneKernelBytes = int64_t{8} << 20;

int64_t score_bytes(const Graph& graph, const Node& node, const AttentionLetters& letters) {
  const OpDef* op = find_op(node.op);
  const std::string* const names[] = {&letters.q, &letters.k, &letters.v};
  LetterExtents extents;
  for (size_t i = 0; i < kFirstMask; ++i) {
    const Status fits = add_letters(*op, *names[i], graph.value(node.inputs[i]).type, extents);
    CHECK(fits.has_value(), "{}", fits.error().message);  // the node was valid
  }
  const TensorType scores{.element = graph.value(node.inputs[0]).type.element,
                          .shape = te::letter_shape(letters.scores, extents)};
  return scores.bytes();
}

// The letters of a tensor of the second product: `key` is summed, `width` are the columns.
std::string renamed(std::string letters, const AttentionLetters& names) {
  if (names.inner.size() != 1 || names.width.size() != 1) return letters;
  for (char& letter : letters) {
    if (letter == names.key[0]) {
      letter = names.inner[0];
    } else if (letter == names.width[0]) {
      letter = names.key[0];
    }
  }
  return letters;
}

class Splitter {
 public:
  Splitter(Rewrite& rewrite, const Node& node, const AttentionLetters& letters)
      : rewrite_(rewrite), node_(node), letters_(letters), in_(rewrite.operands(node)) {}

  Result<ValueId> run() {
    value_ = rewrite_.add("contract", {in_[0], in_[1]},
                          {{"a", letters_.q}, {"b", letters_.k}, {"out", letters_.scores}});
    if (const double scale = node_.attributes.number("scale", 1); scale != 1) {
      next("mul", number(scale));
    }
    for (size_t i = kFirstMask; i < in_.size(); ++i) {
      if (in_[i] != kNone) add_mask(in_[i]);
    }
    if (value_) value_ = rewrite_.add("softmax", {*value_}, {{"axis", int64_t{-1}}});
    if (node_.attributes.integer("nan_is_zero", 0) != 0) clear_nan();
    if (!value_) return value_;
    return rewrite_.add("contract", {*value_, in_[2]},
                        {{"a", renamed(letters_.scores, letters_)},
                         {"b", renamed(letters_.v, letters_)},
                         {"out", renamed(letters_.out, letters_)}});
  }

 private:
  ValueId number(double value) {
    const TensorType type{.element = rewrite_.type(in_[0]).element, .shape = {}};
    const std::vector<double> numbers = {value};
    return rewrite_.add_constant(of_numbers(type, numbers));
  }

  void next(const char* op, ValueId other) {
    if (value_) value_ = rewrite_.add(op, {*value_, other});
  }

  void clear_nan() {
    if (!value_) return;
    const auto is_nan = rewrite_.add("is_nan", {*value_});
    value_ = is_nan ? rewrite_.add("where", {*is_nan, number(0), *value_}) : is_nan;
  }

  void add_mask(ValueId mask) {
    if (rewrite_.type(mask).element != ir::Scalar::Bool) return next("add", mask);
    if (!value_) return;
    const ValueId hidden = number(node_.attributes.number("hidden", 0));
    const bool visible = node_.attributes.integer("visible", 1) != 0;
    value_ = rewrite_.add("where", {mask, visible ? *value_ : hidden, visible ? hidden : *value_});
  }

  Rewrite& rewrite_;
  const Node& node_;
  const AttentionLetters& letters_;
  std::vector<ValueId> in_;
  Result<ValueId> value_ = kNone;
};

}  // namespace

bool attention_pays_as_one(int64_t score_bytes) { return score_bytes >= kOneKernelBytes; }

Result<Graph> split_attention(const Graph& graph, const PassOptions& /*options*/) {
  return rewrite_nodes(graph, [](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (node.op != "attention") return false;
    const auto letters = attention_letters(node.attributes);
    if (!letters || attention_pays_as_one(score_bytes(rewrite.from(), node, *letters))) {
      return false;
    }
    const auto now = TRY(Splitter(rewrite, node, *letters).run());
    rewrite.replace(node.outputs[0], now);
    return true;
  });
}

}  // namespace tilewright::graph
