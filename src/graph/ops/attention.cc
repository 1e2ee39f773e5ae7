// attention(q, k, v, mask?; scale=1, q, k, v, out): softmax(scale q k + mask) v, by letters, one a
// dimension. Letters that q, k, v and out share are batches; one of q and out alone counts queries,
// one of k and v alone counts keys, one of q and k alone is summed, one of v and out alone is the
// width of a value. The mask broadcasts to [batches, queries, keys].
//
// Stages: C, the products; with a scale or a mask T, what the softmax is of; M, E, S, R of softmax;
// O, the sums of values by E; Y = O * R.
#include <fmt/format.h>

#include "graph/ops/families.h"
#include "graph/ops/letters.h"
#include "graph/ops/rows.h"

namespace tilewright::graph {
namespace {

using ir::BinaryOp;
using ir::Expr;
using Indices = std::vector<Expr>;

struct Names {
  std::string q, k, v, out;
  std::string batch, query, key, inner, width;  // by what they do

  std::string rows() const { return batch + query; }
  std::string scores() const { return batch + query + key; }
};

Result<Names> names_of(const OpDef& op, const Attributes& attributes) {
  Names names;
  names.q = attributes.text("q");
  names.k = attributes.text("k");
  names.v = attributes.text("v");
  names.out = attributes.text("out");
  bool legal = true;
  for (const char letter : names.q + names.k + names.v) {
    const bool q = names.q.contains(letter), k = names.k.contains(letter);
    const bool v = names.v.contains(letter), out = names.out.contains(letter);
    std::string* place = nullptr;
    if (q && k && v && out) place = &names.batch;
    if (q && out && !k && !v) place = &names.query;
    if (k && v && !q && !out) place = &names.key;
    if (q && k && !v && !out) place = &names.inner;
    if (v && out && !q && !k) place = &names.width;
    legal = legal && place != nullptr;
    if (legal && !place->contains(letter)) *place += letter;
  }
  for (const std::string* one : {&names.query, &names.key, &names.inner, &names.width}) {
    legal = legal && one->size() == 1;
  }
  if (legal) return names;
  return bad(op,
             fmt::format("{}, {}, {} -> {} is no attention", names.q, names.k, names.v, names.out));
}

class Attention {
 public:
  Attention(const Names& names, const Extents& extents) : names_(names), extents_(extents) {}

  std::shared_ptr<const te::Dag> build(OperandTypes operands, double scale) && {
    const te::TensorId q = placeholder(builder_, "Q", *operands[0]);
    const te::TensorId k = placeholder(builder_, "K", *operands[1]);
    const te::TensorId v = placeholder(builder_, "V", *operands[2]);
    std::optional<te::TensorId> mask;
    if (has(operands, 3)) mask = placeholder(builder_, "mask", *operands[3]);
    const te::TensorId scores =
        add_mask(add_products("C", names_.scores(), names_.inner, {q, names_.q}, {k, names_.k}),
                 mask, scale);
    const Rows rows(builder_, shape_of(names_.scores(), extents_), {{names_.scores().size() - 1}});
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
        add_products("O", names_.out, names_.key, {powers, names_.scores()}, {v, names_.v});
    const std::vector<te::Axis> axes = axes_of(builder_, names_.out, extents_);
    Places places;
    places.add(names_.out, axes);
    const Expr value =
        builder_.read(mixed, te::vars_of(axes)) * places.read(builder_, reciprocals, names_.rows());
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

  te::TensorId add_mask(te::TensorId scores, std::optional<te::TensorId> mask, double scale) {
    if (!mask && scale == 1) return scores;
    const std::vector<te::Axis> axes = axes_of(builder_, names_.scores(), extents_);
    Expr value = builder_.read(scores, te::vars_of(axes));
    if (scale != 1) value = value * number(scale, value);
    if (mask) value = value + read_broadcast(builder_, *mask, axes);
    return builder_.compute("T", axes, value);
  }

  const Names& names_;
  const Extents& extents_;
  te::DagBuilder builder_;
};

DagResult build_attention(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  Reader read(op, attributes);
  const double scale = read.number("scale", 1);
  if (!read) return read.error();
  const auto names = names_of(op, attributes);
  if (!names) return std::unexpected(names.error());
  Extents extents;
  for (const Status& legal :
       {require_float(op, operands[0]->element), add_letters(op, names->q, *operands[0], extents),
        add_letters(op, names->k, *operands[1], extents),
        add_letters(op, names->v, *operands[2], extents), check_out(op, names->out, extents)}) {
    if (!legal) return std::unexpected(legal.error());
  }
  for (const auto& operand : operands) {
    if (operand && operand->element != operands[0]->element) {
      return bad(op, "the operands should have one type");
    }
  }
  const Shape scores = shape_of(names->scores(), extents);
  if (const Status fits = require_result(op, scores); !fits) return std::unexpected(fits.error());
  if (has(operands, 3) && !broadcasts_to(operands[3]->shape, scores)) {
    return bad(op, fmt::format("a mask of {} for {}", print(operands[3]->shape), print(scores)));
  }
  return Attention(*names, extents).build(operands, scale);
}

constexpr OpDef kOps[] = {{"attention", Work::Heavy, 3, 4, build_attention}};

}  // namespace

std::span<const OpDef> attention_ops() { return kOps; }

}  // namespace tilewright::graph
