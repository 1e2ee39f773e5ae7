// attention(q, k, v, mask...; scale=1, q, k, v, scores, out, hidden, visible=1, nan_is_zero=0):
// softmax(masked(scale q k)) v, by letters, one a dimension (ops/attention.h). Up to two masks, in
// their order, that broadcast to the scores: one of floats is added; where one of bools is not
// `visible`, the score is the number `hidden`. With `nan_is_zero` rows of weights that are no
// numbers are 0: those of queries that see no key.
//
// Stages: C, the products; with a scale or a mask T, what the softmax is of; M, E, S, R of softmax;
// O, the sums of values by E; Y = O * R.
#include "graph/ops/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/ops/families.h"
#include "graph/ops/letters.h"
#include "graph/ops/rows.h"

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

using ir::BinaryOp;
using ir::Expr;
using Indices = std::vector<Expr>;

struct Masking {
  double scale = 1;
  double hidden = 0;    // the score where a mask of bools hides it
  bool visible = true;  // what such a mask says
  bool nan_is_zero = false;
};

class Attention {
 public:
  Attention(const AttentionLetters& names, const LetterExtents& extents)
      : names_(names), extents_(extents) {}

  std::shared_ptr<const te::Dag> build(OperandTypes operands, const Masking& masking) && {
    const te::TensorId q = placeholder(builder_, "Q", *operands[0]);
    const te::TensorId k = placeholder(builder_, "K", *operands[1]);
    const te::TensorId v = placeholder(builder_, "V", *operands[2]);
    std::vector<te::TensorId> masks;
    for (size_t i = kFirstMask; i < operands.size(); ++i) {
      const char* name = i == kFirstMask ? "mask" : "mask2";
      if (has(operands, i)) masks.push_back(placeholder(builder_, name, *operands[i]));
    }
    const te::TensorId scores =
        add_masks(add_products("C", names_.scores, names_.inner, {q, names_.q}, {k, names_.k}),
                  masks, masking);
    const Rows rows(builder_, shape_of(names_.scores, extents_), {{names_.scores.size() - 1}});
    const te::TensorId maxima =
        rows.fold("M", BinaryOp::Max,
                  [&](const Indices&, const Indices& at) { return builder_.read(scores, at); });
    const te::TensorId powers = rows.each("E", [&](const Indices& row, const Indices& at) {
      return ir::exp(builder_.read(scores, at) - builder_.read(maxima, row));
    });
    const te::TensorId totals =
        rows.fold("S", BinaryOp::Add,
                  [&](const Indices&, const Indices& at) { return builder_.read(powers, at); });
    const te::TensorId reciprocals = rows.each_row("R", [&](const Indices& row) {
      const Expr total = builder_.read(totals, row);
      return number(1, total) / total;
    });
    const te::TensorId mixed =
        add_products("O", names_.out, names_.key, {powers, names_.scores}, {v, names_.v});
    const std::vector<te::Axis> axes = axes_of(builder_, names_.out, extents_);
    Places places;
    places.add(names_.out, axes);
    Expr value =
        builder_.read(mixed, te::vars_of(axes)) * places.read(builder_, reciprocals, names_.rows());
    if (masking.nan_is_zero) {
      const Expr total = places.read(builder_, totals, names_.rows());
      value = ir::select(ir::binary(BinaryOp::Ne, total, total), number(0, value), value);
    }
    return finish(std::move(builder_), axes, value, operands[0]->element);
  }

 private:
  struct Factor {
    te::TensorId tensor = 0;
    std::string_view letters;
  };

  // name[out] = sum over `summed` of a * b.
  te::TensorId add_products(std::string_view name, std::string_view out, std::string_view summed,
                            const Factor& a, const Factor& b) {
    const std::vector<te::Axis> axes = axes_of(builder_, out, extents_);
    const std::vector<te::Axis> sums = axes_of(builder_, summed, extents_);
    Places places;
    places.add(out, axes);
    places.add(summed, sums);
    const Expr product =
        places.read(builder_, a.tensor, a.letters) * places.read(builder_, b.tensor, b.letters);
    return builder_.reduce(name, axes, sums, BinaryOp::Add, product, product.type().scalar);
  }

  te::TensorId add_masks(te::TensorId scores, const std::vector<te::TensorId>& masks,
                         const Masking& masking) {
    if (masks.empty() && masking.scale == 1) return scores;
    const std::vector<te::Axis> axes = axes_of(builder_, names_.scores, extents_);
    Expr value = builder_.read(scores, te::vars_of(axes));
    if (masking.scale != 1) value = value * number(masking.scale, value);
    for (const te::TensorId mask : masks) {
      const Expr says = read_broadcast(builder_, mask, axes);
      if (builder_.tensor(mask).element != ir::Scalar::Bool) {
        value = value + says;
        continue;
      }
      const Expr hidden = number(masking.hidden, value);
      value = masking.visible ? ir::select(says, value, hidden) : ir::select(says, hidden, value);
    }
    return builder_.compute("T", axes, value);
  }

  const AttentionLetters& names_;
  const LetterExtents& extents_;
  te::DagBuilder builder_;
};

// All of one float type, but for masks of bools; masks broadcast to the scores.
Status check_operands(const OpDef& op, OperandTypes operands, const Shape& scores) {
  if (const Status real = require_float(op, operands[0]->element); !real) return real;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!has(operands, i)) continue;
    const bool is_mask = i >= kFirstMask;
    if (operands[i]->element != operands[0]->element &&
        !(is_mask && operands[i]->element == ir::Scalar::Bool)) {
      return bad(op, "the operands should have one type, or be masks of bool");
    }
    if (is_mask && !broadcasts_to(operands[i]->shape, scores)) {
      return bad(op, fmt::format("a mask of {} for {}", print(operands[i]->shape), print(scores)));
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
  if (!read) return read.error();
  if (std::isnan(masking.hidden)) return bad(op, "hidden should be a number");
  const auto names = attention_letters(attributes);
  if (!names) {
    return bad(op, fmt::format("{}, {}, {} -> {} is no attention", attributes.text("q"),
                               attributes.text("k"), attributes.text("v"), attributes.text("out")));
  }
  LetterExtents extents;
  for (const Status& legal :
       {add_letters(op, names->q, *operands[0], extents),
        add_letters(op, names->k, *operands[1], extents),
        add_letters(op, names->v, *operands[2], extents), check_out(op, names->out, extents)}) {
    if (!legal) return std::unexpected(legal.error());
  }
  const Shape scores = shape_of(names->scores, extents);
  if (const Status fits = require_result(op, scores); !fits) return std::unexpected(fits.error());
  if (const Status legal = check_operands(op, operands, scores); !legal) {
    return std::unexpected(legal.error());
  }
  return Attention(*names, extents).build(operands, masking);
}

constexpr OpDef kOps[] = {
    {"attention", Work::Heavy, kFirstMask, kFirstMask + kMostMasks, build_attention}};

}  // namespace

std::span<const OpDef> attention_ops() { return kOps; }

}  // namespace tilewright::graph
