// Simplifications of Move and View nodes, and of pads, pools and reductions.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op_table.h"
#include "graph/passes/constant_math.h"
#include "graph/passes/simplify_rules.h"
#include "graph/view.h"

namespace tilewright::graph {
namespace {

using Extents = std::vector<int64_t>;

bool all_are(const Extents& list, int64_t number) {
  return std::ranges::all_of(list, [&](int64_t entry) { return entry == number; });
}

// A list with default 0.
Extents from_nought(const Node& node, std::string_view name, size_t rank) {
  return node.attributes.list(name, Extents(rank, 0));
}

Result<ValueId> simplify_reshape(const Simplification& s) {
  const Node* before = s.rewrite.made_by(s.in[0], "reshape");
  if (before != nullptr) return s.rewrite.reshape(s.in[0], s.type.shape);
  return s.rewrite.shape(s.in[0]) == s.type.shape ? s.in[0] : kNone;
}

Result<ValueId> same_type(const Simplification& s) {
  return s.rewrite.type(s.in[0]) == s.type ? s.in[0] : kNone;
}

Result<ValueId> simplify_slice(const Simplification& s) {
  const Extents begin = from_nought(s.node, "begin", s.type.shape.size());
  const Extents step = s.node.attributes.list("step", Extents(begin.size(), 1));
  if (all_are(begin, 0) && all_are(step, 1) && s.rewrite.shape(s.in[0]) == s.type.shape) {
    return s.in[0];
  }
  const Node* before = s.rewrite.made_by(s.in[0], "slice");
  if (before == nullptr) return kNone;
  // Parts of one row: the row is a view, and the kernels of other rows are equal.
  if (view_offset(s.rewrite.to(), *before) && !s.rewrite.read_once(s.in[0])) return kNone;
  Extents start = from_nought(*before, "begin", begin.size());
  Extents stride = before->attributes.list("step", Extents(start.size(), 1));
  for (size_t i = 0; i < begin.size(); ++i) {
    start[i] += begin[i] * stride[i];
    stride[i] *= step[i];
  }
  const ValueId x = before->inputs[0];
  return s.rewrite.add(
      "slice", {x}, {{"begin", start}, {"size", s.node.attributes.list("size")}, {"step", stride}});
}

Result<ValueId> simplify_concat(const Simplification& s) {
  return s.in.size() == 1 ? s.in[0] : kNone;
}

Result<ValueId> simplify_pad(const Simplification& s) {
  const bool nothing = all_are(s.node.attributes.list("before", {}), 0) &&
                       all_are(s.node.attributes.list("after", {}), 0);
  return nothing ? s.in[0] : kNone;
}

// gather(x, [4, 6, 8]) -> slice(x) from 4 by 2
Result<ValueId> simplify_gather(const Simplification& s) {
  const Constant& known = s.rewrite.constant(s.in[1]);
  if (known.empty() || !s.rewrite.constant(s.in[0]).empty()) return kNone;
  const Extents& shape = s.rewrite.shape(s.in[0]);
  const auto axis = static_cast<size_t>(axis_of(s.node, shape.size(), 0));
  if (axis >= shape.size() || known.type().elements() > shape[axis]) return kNone;
  Extents indices = known.integers();
  for (int64_t& index : indices) {
    if (index < 0) index += shape[axis];
    if (index < 0 || index >= shape[axis]) return kNone;
  }
  const int64_t by = indices.size() > 1 ? indices[1] - indices[0] : 1;
  for (size_t i = 1; i < indices.size(); ++i) {
    if (indices[i] - indices[i - 1] != by) return kNone;
  }
  if (by == 0) return kNone;
  Extents begin(shape.size(), 0);
  Extents size = shape;
  Extents step(shape.size(), 1);
  begin[axis] = indices[0];
  size[axis] = static_cast<int64_t>(indices.size());
  step[axis] = by;
  if (size == shape && by == 1) return s.in[0];
  return s.rewrite.add("slice", {s.in[0]}, {{"begin", begin}, {"size", size}, {"step", step}});
}

// conv(pad(x; before 0,0,1,1)) -> conv(x; pad_begin + 1)
Result<ValueId> simplify_conv(const Simplification& s) {
  const Node* pad = s.rewrite.made_by(s.in[0], "pad");
  if (pad == nullptr || pad->attributes.text("mode", "constant") != "constant") return kNone;
  if (pad->inputs.size() > 1 && pad->inputs[1] != kNone &&
      s.rewrite.scalar(pad->inputs[1]).value_or(1) != 0) {
    return kNone;
  }
  const Extents before = from_nought(*pad, "before", s.type.shape.size());
  const Extents after = from_nought(*pad, "after", s.type.shape.size());
  const bool last = s.node.attributes.integer("channels_last", 0) != 0;
  const size_t spatial = before.size() - 2;
  const size_t first = last ? 1 : 2;
  const size_t channel = last ? before.size() - 1 : 1;
  if (before[0] != 0 || after[0] != 0 || before[channel] != 0 || after[channel] != 0) return kNone;
  Extents pad_begin = s.node.attributes.list("pad_begin", Extents(spatial, 0));
  Extents pad_end = s.node.attributes.list("pad_end", Extents(spatial, 0));
  for (size_t i = 0; i < spatial; ++i) {
    if (before[first + i] < 0 || after[first + i] < 0) return kNone;
    pad_begin[i] += before[first + i];
    pad_end[i] += after[first + i];
  }
  Attributes attributes = s.node.attributes;
  attributes.set("pad_begin", pad_begin);
  attributes.set("pad_end", pad_end);
  return s.rewrite.add("conv", {pad->inputs[0], s.in[1]}, attributes);
}

// The letters of constant weights in the order of a matrix product: batches, then summed letters
// and the others if the weights are on the right, the reverse on the left.
std::string usual_letters(const std::string& letters, const std::string& other,
                          const std::string& out, bool right) {
  std::string batches;
  std::string free;
  std::string summed;
  for (const char letter : out) {
    if (letters.find(letter) == std::string::npos) continue;
    (other.find(letter) == std::string::npos ? free : batches) += letter;
  }
  for (const char letter : other) {
    const bool both = letters.find(letter) != std::string::npos;
    if (both && out.find(letter) == std::string::npos) summed += letter;
  }
  return batches + (right ? summed + free : free + summed);
}

// contract(x, w; a=ik, b=jk, out=ij) -> contract(x, transposed w; b=kj)
Result<ValueId> simplify_contract(const Simplification& s) {
  for (const size_t side : {size_t{1}, size_t{0}}) {
    const Constant weights = s.rewrite.constant(s.in[side]);
    if (weights.empty() || !s.rewrite.constant(s.in[1 - side]).empty()) continue;
    const Attributes& a = s.node.attributes;
    const std::string& letters = a.text(side == 0 ? "a" : "b");
    const std::string usual =
        usual_letters(letters, a.text(side == 0 ? "b" : "a"), a.text("out"), side == 1);
    // A repeated letter, or one summed in this operand alone, is not moved.
    if (usual == letters || !std::ranges::is_permutation(usual, letters)) return kNone;
    Extents perm;
    for (const char letter : usual) perm.push_back(static_cast<int64_t>(letters.find(letter)));
    Attributes attributes = a;
    attributes.set(side == 0 ? "a" : "b", usual);
    std::vector<ValueId> inputs = s.in;
    inputs[side] = s.rewrite.add_constant(transposed(weights, perm));
    return s.rewrite.add("contract", inputs, attributes);
  }
  return kNone;
}

Result<ValueId> simplify_pool(const Simplification& s) {
  const Attributes& a = s.node.attributes;
  if (a.text("kind", "max") == "lp" || s.rewrite.type(s.in[0]) != s.type) return kNone;
  const bool single = all_are(a.list("kernel"), 1) && all_are(a.list("stride", {}), 1) &&
                      all_are(a.list("pad_begin", {}), 0) && all_are(a.list("pad_end", {}), 0);
  return single ? s.in[0] : kNone;
}

Result<ValueId> simplify_reduce(const Simplification& s) {
  constexpr std::array<std::string_view, 5> kNothing = {"sum", "mean", "max", "min", "prod"};
  if (std::ranges::count(kNothing, s.node.attributes.text("kind", "sum")) == 0) return kNone;
  return s.fits(s.in[0]) ? s.in[0] : kNone;
}

struct MoveRule {
  std::string_view op;
  Result<ValueId> (*rule)(const Simplification& s);
};

constexpr std::array kMoveRules = {
    MoveRule{"broadcast", same_type},
    MoveRule{"concat", simplify_concat},
    MoveRule{"contract", simplify_contract},
    MoveRule{"conv", simplify_conv},
    MoveRule{"gather", simplify_gather},
    MoveRule{"pad", simplify_pad},
    MoveRule{"pool", simplify_pool},
    MoveRule{"reduce", simplify_reduce},
    MoveRule{"reshape", simplify_reshape},
    MoveRule{"slice", simplify_slice},
    MoveRule{"tile", same_type},
};

// A Map node that has no attributes of axes.
bool follows_broadcasting(const Node& node) {
  constexpr std::array<std::string_view, 3> kOwnAxes = {"batch_norm", "quantize_linear",
                                                        "dequantize_linear"};
  return is_map(node) && std::ranges::count(kOwnAxes, node.op) == 0;
}

Extents without_ones(Extents shape) {
  std::erase(shape, 1);
  return shape;
}

// A shape that broadcasts to `from`, as one that broadcasts to `to`, which differs from it by
// extents of 1 only.
Extents viewed(Extents shape, const Extents& from, const Extents& to) {
  shape.insert(shape.begin(), from.size() - shape.size(), 1);
  Extents kept;
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1) kept.push_back(shape[d]);
  }
  Extents result;
  size_t next = 0;
  for (const int64_t extent : to) result.push_back(extent == 1 ? 1 : kept[next++]);
  const auto first = std::ranges::find_if(result, [](int64_t extent) { return extent != 1; });
  result.erase(result.begin(), first);
  return result;
}

// The shape of a product, perhaps after other Map nodes, that is reshaped by extents of 1 and has
// no other reader; null if it is not that.
const Extents* shape_of_product(const Simplification& s, ValueId reshaped) {
  const Node* view = s.rewrite.made_by(reshaped, "reshape");
  if (view == nullptr || !s.rewrite.read_once(reshaped)) return nullptr;
  const ValueId product = view->inputs[0];
  const Node* made = s.rewrite.made_by(product);
  if (made == nullptr || !s.rewrite.read_once(product)) return nullptr;
  if (!is_map(*made) && find_op(made->op)->work != Work::Heavy) return nullptr;
  const Extents& shape = s.rewrite.shape(product);
  return without_ones(shape) == without_ones(s.rewrite.shape(reshaped)) ? &shape : nullptr;
}

}  // namespace

Result<ValueId> simplify_move(const Simplification& s) {
  for (const MoveRule& rule : kMoveRules) {
    if (rule.op == s.node.op) return rule.rule(s);
  }
  return kNone;
}

Result<ValueId> sink_broadcasts(const Simplification& s) {
  if (!follows_broadcasting(s.node)) return kNone;
  std::vector<ValueId> operands = s.in;
  bool found = false;
  for (ValueId& operand : operands) {
    const Node* before = s.rewrite.made_by(operand, "broadcast");
    if (before == nullptr) continue;
    operand = before->inputs[0];
    found = true;
  }
  if (!found) return kNone;
  // Not every operator broadcasts its first operand: the slope of prelu must not be larger.
  const auto smaller = s.rewrite.add(s.node.op, operands, s.node.attributes);
  if (!smaller) return kNone;
  if (s.rewrite.shape(*smaller) == s.type.shape) return smaller;
  return s.rewrite.add("broadcast", {*smaller}, {{"shape", s.type.shape}});
}

Result<ValueId> sink_reshapes(const Simplification& s) {
  if (!follows_broadcasting(s.node)) return kNone;
  for (const ValueId operand : s.in) {
    if (operand == kNone || s.rewrite.shape(operand) != s.type.shape) continue;
    const Extents* shape = shape_of_product(s, operand);
    if (shape == nullptr) continue;
    const Extents to = *shape;
    std::vector<ValueId> inputs = s.in;
    for (ValueId& input : inputs) {
      if (input == kNone || s.rewrite.type(input).elements() == 1) continue;
      const Extents now = input == operand ? to : viewed(s.rewrite.shape(input), s.type.shape, to);
      input = TRY(s.rewrite.reshape(input, now));
    }
    const auto now = TRY(s.rewrite.add(s.node.op, inputs, s.node.attributes));
    return s.rewrite.reshape(now, s.type.shape);
  }
  return kNone;
}

}  // namespace tilewright::graph
