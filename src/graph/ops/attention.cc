// attention(q, k, v, mask...; scale=1, q, k, v, scores, out, hidden, visible=1, nan_is_zero=0):
// softmax(masked(scale q k)) v, with dimensions named by letters (graph/ops/attention.h). Up to two
// masks, applied in order, that broadcast to the scores: a mask of floats is added; where a mask of
// bools is not `visible`, the score is `hidden`. With `nan_is_zero` rows of weights that are NaN,
// those of fully masked queries, become 0.
//
// Stages: C, the products; T, scaled and masked, if there is a scale or mask; M, E, S, R of
// softmax; O, the products of E and values; Y = O * R. They are those of te/ops/einsum.h and
// te/ops/softmax.h.
#include "graph/ops/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/letters.h"
#include "te/ops/softmax.h"

namespace tilewright::graph {

std::optional<AttentionLetters> attention_letters(const Attributes& attributes) {
  AttentionLetters names;
  names.q = attributes.text("q");
  names.k = attributes.text("k");
  names.v = attributes.text("v");
  names.out = attributes.text("out");
  for (const char letter : names.q + names.k + names.v) {
    const bool q = names.q.contains(letter), k = names.k.contains(letter);
    const bool v = names.v.contains(letter), out = names.out.contains(letter);
    std::string* place = nullptr;
    if (q && k && v && out) place = &names.batch;
    if (q && out && !k && !v) place = &names.query;
    if (k && v && !q && !out) place = &names.key;
    if (q && k && !v && !out) place = &names.inner;
    if (v && out && !q && !k) place = &names.width;
    if (place == nullptr) return std::nullopt;
    if (!place->contains(letter)) *place += letter;
  }
  if (names.key.size() != 1 || names.query.empty() || names.inner.empty() || names.width.empty()) {
    return std::nullopt;
  }
  const std::string plain = names.batch + names.query + names.key;
  names.scores = attributes.text("scores", plain);
  if (!std::ranges::is_permutation(names.scores, plain) || names.scores.back() != names.key[0]) {
    return std::nullopt;
  }
  return names;
}

namespace {

using ir::Expr;

struct Masking {
  double scale = 1;
  double hidden = 0;    // the score where a mask of bools hides a key
  bool visible = true;  // the value of such a mask for a key that is not hidden
  bool nan_is_zero = false;
};

// `scores`, scaled and masked by a stage T if there is a scale or mask.
te::TensorId add_masks(te::DagBuilder& builder, te::TensorId scores,
                       const std::vector<te::Axis>& axes, const std::vector<te::TensorId>& masks,
                       const Masking& masking) {
  if (masks.empty() && masking.scale == 1) return scores;
  Expr value = builder.read(scores, te::vars_of(axes));
  if (masking.scale != 1) value = value * number(masking.scale, value);
  for (const te::TensorId mask : masks) {
    const Expr given = read_broadcast(builder, mask, axes);
    if (builder.tensor(mask).element != ir::Scalar::Bool) {
      value = value + given;
      continue;
    }
    const Expr hidden = number(masking.hidden, value);
    value = masking.visible ? ir::select(given, value, hidden) : ir::select(given, hidden, value);
  }
  return builder.compute("T", axes, value);
}

std::shared_ptr<const te::Dag> make_attention(const AttentionLetters& names,
                                              const LetterExtents& extents, OperandTypes operands,
                                              const Masking& masking) {
  te::DagBuilder builder;
  const te::Factor q{placeholder(builder, "Q", *operands[0]), names.q};
  const te::Factor k{placeholder(builder, "K", *operands[1]), names.k};
  const te::Factor v{placeholder(builder, "V", *operands[2]), names.v};
  std::vector<te::TensorId> masks;
  for (size_t i = kFirstMask; i < operands.size(); ++i) {
    const char* name = i == kFirstMask ? "mask" : "mask2";
    if (has(operands, i)) masks.push_back(placeholder(builder, name, *operands[i]));
  }
  const ir::Scalar element = operands[0]->element;
  const ir::Scalar sum = te::accumulator_of(element);
  const te::TensorId products =
      te::add_products(builder, "C", names.scores, names.inner, q, k, extents, sum);
  const te::TensorId scores =
      add_masks(builder, products, te::letter_axes(builder, names.scores, extents), masks, masking);
  const te::Rows rows =
      te::rows_of(builder, te::letter_shape(names.scores, extents), {{names.scores.size() - 1}});
  const te::SoftmaxStages stages = te::add_softmax(builder, scores, rows);
  const te::Factor powers{stages.powers, names.scores};
  const te::TensorId mixed =
      te::add_products(builder, "O", names.out, names.key, powers, v, extents, sum);
  const std::vector<te::Axis> axes = te::letter_axes(builder, names.out, extents);
  te::LetterAxes at;
  at.add(names.out, axes);
  Expr value =
      builder.read(mixed, te::vars_of(axes)) * at.read(builder, stages.reciprocals, names.rows());
  if (masking.nan_is_zero) {
    const Expr total = at.read(builder, stages.sums, names.rows());
    value = ir::select(ir::binary(ir::BinaryOp::Ne, total, total), number(0, value), value);
  }
  return finish(std::move(builder), axes, value, element);
}

// All have the same float type, except masks of bools; masks broadcast to the scores.
Status check_operands(const OpDef& op, OperandTypes operands, const Shape& scores) {
  TRY(require_float(op, operands[0]->element));
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!has(operands, i)) continue;
    const bool is_mask = i >= kFirstMask;
    if (operands[i]->element != operands[0]->element &&
        !(is_mask && operands[i]->element == ir::Scalar::Bool)) {
      return bad(op, "the operands should have one type, or be masks of bool");
    }
    if (is_mask && !broadcasts_to(operands[i]->shape, scores)) {
      return bad(op, fmt::format("a mask of {} for {}", shape_text(operands[i]->shape),
                                 shape_text(scores)));
    }
  }
  return {};
}

DagResult build_attention(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  Reader read(op, attributes);
  const Masking masking{.scale = read.number("scale", 1),
                        .hidden = attributes.number("hidden", 0),  // may be infinite
                        .visible = read.flag("visible", true),
                        .nan_is_zero = read.flag("nan_is_zero")};
  TRY(read.status());
  if (std::isnan(masking.hidden)) return bad(op, "hidden should be a number");
  const auto names = attention_letters(attributes);
  if (!names) {
    return bad(op, fmt::format("{}, {}, {} -> {} is not an attention", attributes.text("q"),
                               attributes.text("k"), attributes.text("v"), attributes.text("out")));
  }
  LetterExtents extents;
  TRY(add_letters(op, names->q, *operands[0], extents));
  TRY(add_letters(op, names->k, *operands[1], extents));
  TRY(add_letters(op, names->v, *operands[2], extents));
  TRY(check_out(op, names->out, extents));
  const Shape scores = te::letter_shape(names->scores, extents);
  TRY(require_result(op, scores));
  TRY(check_operands(op, operands, scores));
  return make_attention(*names, extents, operands, masking);
}

constexpr OpDef kOps[] = {
    {"attention", Work::Heavy, kFirstMask, kFirstMask + kMaxMasks, build_attention}};

}  // namespace

std::span<const OpDef> attention_ops() { return kOps; }

}  // namespace tilewright::graph
