// contract(a, b; a, b, out): sums of products by letters, one a dimension (einsum).
//
//   a="ik", b="kj", out="ij"           a matrix product, the Dag of te's matmul
//   a="bik", b="kj", out="bij"         of a tensor and a matrix
//   a="bhid", b="bhjd", out="bhij"     queries by keys
//
// Letters that `out` lacks are summed; a dimension of extent 1 broadcasts where the other operand
// is longer; a letter that stands twice in one operand means its diagonal. Narrow integers, u8
// times i8 among them, give i32. One stage Y.
//
// attention(q, k, v, mask?; scale, q, k, v, out): softmax(scale q k + mask) v. Letters that q, k, v
// and out share are batches; one of q and out alone counts queries, one of k and v alone counts
// keys, one of q and k alone is summed, one of v and out alone is the width of a value. The mask
// broadcasts to [batches, queries, keys]. Stages C, M, E, S, R, O, Y as te's attention.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "graph/ops/families.h"
#include "graph/ops/rows.h"
#include "te/ops/operator.h"

namespace tilewright::graph {
namespace {

using ir::BinaryOp;
using ir::Expr;
using Indices = std::vector<Expr>;

// The extents of letters; an error where two operands disagree.
using Extents = std::map<char, int64_t>;

Status add_letters(const OpDef& op, const std::string& letters, const TensorType& type,
                   Extents& extents) {
  if (letters.size() != type.shape.size()) {
    return bad(op, fmt::format("'{}' names {} dimensions of {}", letters, letters.size(),
                               type.to_string()));
  }
  for (size_t d = 0; d < letters.size(); ++d) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(letters[d])) != 0;
    if (!is_letter) return bad(op, fmt::format("'{}' has more than letters", letters));
    int64_t& extent = extents.try_emplace(letters[d], 1).first->second;
    if (extent != type.shape[d] && extent != 1 && type.shape[d] != 1) {
      return bad(op,
                 fmt::format("{} is {} and {} elements long", letters[d], extent, type.shape[d]));
    }
    extent = std::max(extent, type.shape[d]);
  }
  return {};
}

Status check_out(const OpDef& op, const std::string& out, const Extents& extents) {
  for (size_t d = 0; d < out.size(); ++d) {
    if (!extents.contains(out[d]) || out.find(out[d]) != d) {
      return bad(op, fmt::format("'{}' should have letters of the operands, each once", out));
    }
  }
  return {};
}

std::string axis_text(char letter) {
  // Upper and lower case would be one name on their own.
  return std::isupper(static_cast<unsigned char>(letter)) != 0
             ? fmt::format("u{}", static_cast<char>(std::tolower(letter)))
             : std::string(1, letter);
}

std::vector<te::Axis> axes_of(te::DagBuilder& builder, std::string_view letters,
                              const Extents& extents) {
  std::vector<te::Axis> axes;
  axes.reserve(letters.size());
  for (const char letter : letters) {
    axes.push_back(builder.axis(axis_text(letter), extents.at(letter)));
  }
  return axes;
}

// The variables of letters.
class Places {
 public:
  void add(std::string_view letters, const std::vector<te::Axis>& axes) {
    for (size_t k = 0; k < letters.size(); ++k) vars_.emplace(letters[k], axes[k]);
  }
  // The element of `tensor`, whose dimensions are `letters`.
  Expr read(const te::DagBuilder& builder, te::TensorId tensor, std::string_view letters) const {
    const std::vector<te::Extent>& shape = builder.tensor(tensor).shape;
    Indices indices;
    indices.reserve(letters.size());
    for (size_t d = 0; d < letters.size(); ++d) {
      const te::Axis& axis = vars_.at(letters[d]);
      indices.push_back(shape[d] == axis.extent ? axis.var : ir::int_imm(0));
    }
    return builder.read(tensor, std::move(indices));
  }

 private:
  std::map<char, te::Axis> vars_;
};

DagResult build_contract(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType &left = *operands[0], &right = *operands[1];
  const std::string &a = attributes.text("a"), &b = attributes.text("b");
  const std::string& out = attributes.text("out");
  if (const Status factors = te::require_factors("contract", left.element, right.element);
      !factors) {
    return std::unexpected(factors.error());
  }
  Extents extents;
  for (const Status& legal : {add_letters(op, a, left, extents), add_letters(op, b, right, extents),
                              check_out(op, out, extents)}) {
    if (!legal) return std::unexpected(legal.error());
  }
  Shape result;
  for (const char letter : out) result.push_back(extents.at(letter));
  if (const Status fits = require_result(op, result); !fits) return std::unexpected(fits.error());
  std::string summed;
  for (const char letter : a + b) {
    if (!out.contains(letter) && !summed.contains(letter)) summed += letter;
  }
  te::DagBuilder builder;
  const te::TensorId tensors[] = {placeholder(builder, "A", left),
                                  placeholder(builder, "B", right)};
  const std::vector<te::Axis> axes = axes_of(builder, out, extents);
  const std::vector<te::Axis> sums = axes_of(builder, summed, extents);
  Places places;
  places.add(out, axes);
  places.add(summed, sums);
  const ir::Scalar type = te::accumulator_of(left.element);
  const Expr product = ir::cast(type, places.read(builder, tensors[0], a)) *
                       ir::cast(type, places.read(builder, tensors[1], b));
  const ir::Scalar stored = te::result_of(left.element);
  if (summed.empty()) return finish(std::move(builder), axes, product, stored);
  builder.reduce("C", axes, sums, BinaryOp::Add, product, stored);
  return std::move(builder).build();
}

// The letters of an attention by what they do.
struct AttentionLetters {
  std::string batch;
  char query = 0, key = 0, inner = 0, width = 0;
};

Result<AttentionLetters> sort_letters(const OpDef& op, const std::string& q, const std::string& k,
                                      const std::string& v, const std::string& out) {
  AttentionLetters sorted;
  size_t wrong = 0;
  const auto put = [&](char& place, char letter) {
    if (place != 0 && place != letter) ++wrong;
    place = letter;
  };
  for (const char letter : q + k + v) {
    const bool in_q = q.contains(letter), in_k = k.contains(letter), in_v = v.contains(letter),
               in_out = out.contains(letter);
    if (in_q && in_k && in_v && in_out) {
      if (!sorted.batch.contains(letter)) sorted.batch += letter;
    } else if (in_q && in_out && !in_k && !in_v) {
      put(sorted.query, letter);
    } else if (in_k && in_v && !in_q && !in_out) {
      put(sorted.key, letter);
    } else if (in_q && in_k && !in_v && !in_out) {
      put(sorted.inner, letter);
    } else if (in_v && in_out && !in_q && !in_k) {
      put(sorted.width, letter);
    } else {
      ++wrong;
    }
  }
  if (wrong > 0 || sorted.query == 0 || sorted.key == 0 || sorted.inner == 0 || sorted.width == 0) {
    return bad(op, fmt::format("{}, {}, {} -> {} is no attention", q, k, v, out));
  }
  return sorted;
}

DagResult build_attention(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const std::string &q = attributes.text("q"), &k = attributes.text("k");
  const std::string &v = attributes.text("v"), &out = attributes.text("out");
  Reader read(op, attributes);
  const double scale = read.number("scale", 1);
  if (!read) return read.error();
  const ir::Scalar element = operands[0]->element;
  if (const Status legal = require_float(op, element); !legal) {
    return std::unexpected(legal.error());
  }
  for (const auto& operand : operands) {
    if (operand && operand->element != element) return bad(op, "operands of different types");
  }
  Extents extents;
  for (const Status& legal :
       {add_letters(op, q, *operands[0], extents), add_letters(op, k, *operands[1], extents),
        add_letters(op, v, *operands[2], extents), check_out(op, out, extents)}) {
    if (!legal) return std::unexpected(legal.error());
  }
  const auto letters = sort_letters(op, q, k, v, out);
  if (!letters) return std::unexpected(letters.error());
  const std::string rows = letters->batch + letters->query, whole = rows + letters->key;
  Shape scores_shape;
  for (const char letter : whole) scores_shape.push_back(extents.at(letter));
  if (const Status fits = require_result(op, scores_shape); !fits) {
    return std::unexpected(fits.error());
  }
  te::DagBuilder builder;
  te::TensorId tensors[4] = {placeholder(builder, "Q", *operands[0]),
                             placeholder(builder, "K", *operands[1]),
                             placeholder(builder, "V", *operands[2]), 0};
  const bool masked = has(operands, 3);
  if (masked) {
    if (!broadcasts_to(operands[3]->shape, scores_shape)) {
      return bad(
          op, fmt::format("a mask of {} for {}", print(operands[3]->shape), print(scores_shape)));
    }
    tensors[3] = placeholder(builder, "mask", *operands[3]);
  }
  // C, the products; with a mask or a scale T, what the softmax is of.
  const std::vector<te::Axis> at = axes_of(builder, whole, extents);
  const std::string inner(1, letters->inner);
  const std::vector<te::Axis> sum = axes_of(builder, inner, extents);
  Places places;
  places.add(whole, at);
  places.add(inner, sum);
  const Expr product = places.read(builder, tensors[0], q) * places.read(builder, tensors[1], k);
  te::TensorId scores = builder.reduce("C", at, sum, BinaryOp::Add, product, product.type().scalar);
  if (masked || scale != 1) {
    const std::vector<te::Axis> axes = axes_of(builder, whole, extents);
    Expr value = builder.read(scores, te::vars_of(axes));
    if (scale != 1) value = value * number(scale, value);
    if (masked) value = value + read_broadcast(builder, tensors[3], axes);
    scores = builder.compute("T", axes, value);
  }
  const Rows softmax(builder, scores_shape, {{scores_shape.size() - 1}});
  const te::TensorId maxima = softmax.fold(
      "M", BinaryOp::Max,
      [&](const Indices&, const Indices& place) { return builder.read(scores, place); });
  const te::TensorId powers = softmax.each("E", [&](const Indices& row, const Indices& place) {
    return ir::exp(builder.read(scores, place) - builder.read(maxima, row));
  });
  const te::TensorId totals = softmax.fold(
      "S", BinaryOp::Add,
      [&](const Indices&, const Indices& place) { return builder.read(powers, place); });
  const te::TensorId reciprocals = softmax.each_row("R", [&](const Indices& row) {
    const Expr total = builder.read(totals, row);
    return number(1, total) / total;
  });
  // O, the values by their powers; Y, divided by the total of a row.
  const std::vector<te::Axis> result = axes_of(builder, out, extents);
  const std::string key(1, letters->key);
  const std::vector<te::Axis> keys = axes_of(builder, key, extents);
  Places values;
  values.add(out, result);
  values.add(key, keys);
  const Expr term = values.read(builder, powers, whole) * values.read(builder, tensors[2], v);
  const te::TensorId mixed =
      builder.reduce("O", result, keys, BinaryOp::Add, term, term.type().scalar);
  const std::vector<te::Axis> last = axes_of(builder, out, extents);
  Places place;
  place.add(out, last);
  const Expr value =
      builder.read(mixed, te::vars_of(last)) * place.read(builder, reciprocals, rows);
  return finish(std::move(builder), last, value, element);
}

constexpr OpDef kOps[] = {
    {"contract", Work::Heavy, 2, 2, build_contract},
    {"attention", Work::Heavy, 3, 4, build_attention},
};

}  // namespace

std::span<const OpDef> contract_ops() { return kOps; }

}  // namespace tilewright::graph
