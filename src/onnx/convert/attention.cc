// Attention and RotaryEmbedding (from version 23 on).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/convert/contract.h"
#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

using ir::Scalar;

// Heads as dimension 1: [b, l, h * d] -> [b, h, l, d]; of four dimensions it is that already.
Tensor with_heads(Conversion& node, Tensor x, std::string_view attribute) {
  const int64_t heads = node.attributes().integer(attribute, 0);
  if (x->rank() == 4) return x;
  if (x->rank() != 3 || heads < 1 || x->shape()[2] % heads != 0) {
    refuse(fmt::format("{} in {} heads", x->type.to_string(), heads));
  }
  const Shape& shape = x->shape();
  const Tensor parts = node.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return node.transpose(parts, {0, 2, 1, 3});
}

struct Heads {
  int64_t batch, groups, each;  // query heads that share a head of keys
  int64_t queries, keys;
};

Heads heads_of(Tensor q, Tensor k, Tensor v) {
  const Shape &of_q = q->shape(), &of_k = k->shape(), &of_v = v->shape();
  const bool fits = of_q[0] == of_k[0] && of_q[0] == of_v[0] && of_k[1] == of_v[1] &&
                    of_k[2] == of_v[2] && of_q[3] == of_k[3] && of_k[1] > 0 &&
                    of_q[1] % of_k[1] == 0;
  if (!fits) {
    refuse(fmt::format("queries {}, keys {}, values {}", q->type.to_string(), k->type.to_string(),
                       v->type.to_string()));
  }
  return {.batch = of_q[0],
          .groups = of_k[1],
          .each = of_q[1] / of_k[1],
          .queries = of_q[2],
          .keys = of_k[2]};
}

Tensor counted(Conversion& node, int64_t count, Shape shape) {
  if (count > 1 << 20) not_supported(fmt::format("sequences of {}", count));
  return node.reshape(node.integers(iota(static_cast<size_t>(count))), std::move(shape));
}

Tensor and_also(Conversion& node, Tensor a, Tensor b) {
  return a == nullptr ? b : node.emit("and", {a, b});
}

// The keys that a query attends to, in addition to the mask; null: all. Query i is at position i
// plus the number of past keys.
Tensor visible_keys(Conversion& node, const Heads& heads, int64_t past) {
  const NodeReader& attributes = node.attributes();
  const bool causal = attributes.integer("is_causal", 0) != 0;
  const int64_t left = attributes.integer("left_window_size", -1);
  const int64_t right = attributes.integer("right_window_size", -1);
  const Tensor key = counted(node, heads.keys, {1, 1, 1, heads.keys});
  Tensor offset = node.integers({past});
  Tensor visible = nullptr;
  if (node.has(6)) {  // number of keys without padding, per batch
    const Tensor count =
        node.reshape(node.cast(node.operand(6), Scalar::I64), {heads.batch, 1, 1, 1});
    visible = node.emit("less", {key, count});
    offset = node.emit("sub", {count, node.integers({heads.queries})});
  }
  if (!causal && left < 0 && right < 0) return visible;
  const Tensor query = counted(node, heads.queries, {1, 1, heads.queries, 1});
  const Tensor distance = node.emit("sub", {key, node.emit("add", {query, offset})});
  if (causal || right >= 0) {
    const Tensor max_distance = node.integers({causal ? 0 : right});
    visible = and_also(node, visible, node.emit("less_equal", {distance, max_distance}));
  }
  if (left >= 0) {
    const Tensor min_distance = node.integers({-left});
    visible = and_also(node, visible, node.emit("greater_equal", {distance, min_distance}));
  }
  return visible;
}

// A mask may be shorter than the number of keys: the others are masked.
Tensor padded_mask(Conversion& node, Tensor mask, int64_t keys) {
  if (mask->rank() == 0 || mask->shape().back() == keys || mask->shape().back() == 1) return mask;
  const int64_t lacking = keys - mask->shape().back();
  if (lacking < 0) refuse(fmt::format("a mask of {} for {} keys", mask->type.to_string(), keys));
  Shape after(mask->rank(), 0);
  after.back() = lacking;
  const double hidden =
      mask->element() == Scalar::Bool ? 0 : -std::numeric_limits<double>::infinity();
  return node.emit("pad", {{"before", Shape(mask->rank(), 0)}, {"after", after}},
                   {mask, node.number(hidden, mask->element())});
}

struct Scores {
  Tensor raw;     // scaled products
  Tensor capped;  // after softcap
  Tensor masked;
  bool may_hide_all = false;  // a query may be fully masked
};

Tensor soft_capped(Conversion& node, Tensor x) {
  const double cap = node.attributes().number("softcap", 0);
  if (cap == 0) return x;
  return scaled(node, node.emit("tanh", {scaled(node, x, 1 / cap)}), cap);
}

Tensor masked(Conversion& node, Tensor x, const Heads& heads, int64_t past, bool* may_hide_all) {
  Tensor visible = visible_keys(node, heads, past);
  *may_hide_all = node.has(6) || node.attributes().integer("left_window_size", -1) >= 0;
  if (node.has(3)) {
    const Tensor mask = padded_mask(node, node.operand(3), heads.keys);
    if (mask->element() == Scalar::Bool) {
      visible = and_also(node, visible, mask);
      *may_hide_all = true;
    } else {
      x = node.emit("add", {x, mask});
    }
  }
  if (visible == nullptr) return x;
  const Tensor hidden = node.number(-std::numeric_limits<double>::infinity(), x->element());
  return node.emit("where", {visible, x, hidden});
}

Scores scores_of(Conversion& node, Tensor q, Tensor k, const Heads& heads, int64_t past) {
  const int64_t width = q->shape()[3];
  const double scale = node.attributes().number("scale", 1 / std::sqrt(static_cast<double>(width)));
  const Tensor grouped =
      node.reshape(q, {heads.batch, heads.groups, heads.each, heads.queries, width});
  const Tensor products =
      node.emit("contract", {{"a", "bgrld"}, {"b", "bgsd"}, {"out", "bgrls"}}, {grouped, k});
  Scores scores;
  scores.raw = node.reshape(scaled(node, products, scale),
                            {heads.batch, heads.groups * heads.each, heads.queries, heads.keys});
  scores.capped = soft_capped(node, scores.raw);
  scores.masked = masked(node, scores.capped, heads, past, &scores.may_hide_all);
  return scores;
}

// Softmax over keys; all weights of a fully masked query are 0.
Tensor weights_of(Conversion& node, const Scores& scores) {
  const Tensor weights = node.emit("softmax", {{"axis", int64_t{3}}}, {scores.masked});
  if (!scores.may_hide_all) return weights;
  const Tensor largest = node.reduce(scores.masked, "max", {3});
  const Tensor none = node.emit(
      "equal",
      {largest, node.number(-std::numeric_limits<double>::infinity(), largest->element())});
  return node.emit("where", {none, node.number(0, weights->element()), weights});
}

std::vector<Tensor> convert_attention(Conversion& node) {
  const Tensor q = with_heads(node, node.operand(0), "q_num_heads");
  Tensor k = with_heads(node, node.operand(1), "kv_num_heads");
  Tensor v = with_heads(node, node.operand(2), "kv_num_heads");
  for (const Tensor tensor : {q, k, v}) {
    if (tensor->rank() != 4) refuse(fmt::format("of {}", tensor->type.to_string()));
  }
  int64_t past = 0;
  if (node.has(4) && node.has(5)) {
    if (node.operand(4)->rank() != 4 || node.operand(5)->rank() != 4) refuse("a bad cache");
    past = node.operand(4)->shape()[2];
    k = node.concat({node.operand(4), k}, 2);
    v = node.concat({node.operand(5), v}, 2);
  }
  const Heads heads = heads_of(q, k, v);
  const Scores scores = scores_of(node, q, k, heads, past);
  const Tensor weights = weights_of(node, scores);
  const bool flat = node.operand(0)->rank() == 3;
  const Tensor grouped =
      node.reshape(weights, {heads.batch, heads.groups, heads.each, heads.queries, heads.keys});
  const Tensor mixed = node.emit(
      "contract", {{"a", "bgrls"}, {"b", "bgsd"}, {"out", flat ? "blgrd" : "bgrld"}}, {grouped, v});
  const int64_t width = v->shape()[3];
  const int64_t count = heads.groups * heads.each;
  const Tensor y =
      node.reshape(mixed, flat ? Shape{heads.batch, heads.queries, product(Shape{count, width})}
                               : Shape{heads.batch, count, heads.queries, width});
  const int64_t mode = node.attributes().integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) refuse(fmt::format("qk_matmul_output_mode is {}", mode));
  const Tensor seen[] = {scores.raw, scores.capped, scores.masked, weights};
  return {y, k, v, seen[mode]};
}

struct Rotary {
  Tensor x, cosines, sines, positions;  // positions may be null
};

// cos and sin of each position, [b, l, 1, d / 2]
Tensor angles_of(Conversion& node, Tensor cache, Tensor positions) {
  Tensor rows = cache;
  if (positions != nullptr) rows = node.emit("gather", {{"axis", int64_t{0}}}, {cache, positions});
  if (rows->rank() != 3) refuse(fmt::format("angles of {}", rows->type.to_string()));
  return node.reshape(rows, {rows->shape()[0], rows->shape()[1], 1, rows->shape()[2]});
}

Tensor last_part(Conversion& node, Tensor x, int64_t begin, int64_t size, int64_t step) {
  Shape first(x->rank(), 0);
  Shape extents = x->shape();
  Shape steps = ones(x->rank());
  first.back() = begin;
  extents.back() = size;
  steps.back() = step;
  return node.slice(x, first, extents, steps);
}

// Pairs of elements rotated by the angle of their position; [b, l, h, d].
Tensor rotated(Conversion& node, Tensor x, Tensor cosines, Tensor sines, int64_t width) {
  const bool interleaved = node.attributes().integer("interleaved", 0) != 0;
  const int64_t half = width / 2;
  const Tensor a = last_part(node, x, 0, half, interleaved ? 2 : 1);
  const Tensor b = last_part(node, x, interleaved ? 1 : half, half, interleaved ? 2 : 1);
  const Tensor real =
      node.emit("sub", {node.emit("mul", {cosines, a}), node.emit("mul", {sines, b})});
  const Tensor imaginary =
      node.emit("add", {node.emit("mul", {sines, a}), node.emit("mul", {cosines, b})});
  Tensor turned = nullptr;
  if (interleaved) {
    Shape column = real->shape();
    column.push_back(1);
    const Tensor pairs =
        node.concat({node.reshape(real, column), node.reshape(imaginary, column)}, 4);
    Shape whole = real->shape();
    whole.back() = width;
    turned = node.reshape(pairs, whole);
  } else {
    turned = node.concat({real, imaginary}, 3);
  }
  const int64_t rest = x->shape().back() - width;
  return rest == 0 ? turned : node.concat({turned, last_part(node, x, width, rest, 1)}, 3);
}

std::vector<Tensor> rotary(Conversion& node, const Rotary& of) {
  const Shape& shape = of.x->shape();
  const bool flat = shape.size() == 3;
  int64_t heads = node.attributes().integer("num_heads", 0);
  Tensor x = of.x;
  if (flat) {
    const int64_t twice = of.cosines->rank() == 0 ? 0 : of.cosines->shape().back() * 2;
    if (heads == 0 && twice > 0) heads = shape[2] / twice;  // as ONNX Runtime does
    if (heads < 1 || shape[2] % heads != 0) refuse(fmt::format("{} heads", heads));
    x = node.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  } else if (shape.size() == 4) {
    x = node.transpose(x, {0, 2, 1, 3});
  } else {
    refuse(fmt::format("of {}", of.x->type.to_string()));
  }
  int64_t width = node.attributes().integer("rotary_embedding_dim", 0);
  if (width == 0) width = x->shape()[3];
  if (width < 2 || width % 2 != 0 || width > x->shape()[3]) {
    refuse(fmt::format("a rotary width of {} of {}", width, x->type.to_string()));
  }
  const Tensor y = rotated(node, x, angles_of(node, of.cosines, of.positions),
                           angles_of(node, of.sines, of.positions), width);
  return {flat ? node.reshape(y, shape) : node.transpose(y, {0, 2, 1, 3})};
}

std::vector<Tensor> convert_rotary(Conversion& node) {
  return rotary(node, {.x = node.operand(0),
                       .cosines = node.operand(1),
                       .sines = node.operand(2),
                       .positions = node.optional_operand(3)});
}

// A single position is that of the first query; the others follow.
std::vector<Tensor> convert_microsoft_rotary(Conversion& node) {
  const Tensor x = node.operand(0);
  Tensor positions = node.operand(1);
  if (node.attributes().number("scale", 1) != 1 ||
      node.attributes().integer("is_packed_batching", 0) != 0) {
    not_supported("scaled or packed");
  }
  if (positions->type.elements() == 1 && x->rank() >= 3) {
    const int64_t length = x->shape()[x->rank() == 4 ? 2 : 1];
    const Tensor first = node.reshape(node.cast(positions, Scalar::I64), {1, 1});
    positions = node.broadcast(node.emit("add", {first, counted(node, length, {1, length})}),
                               {x->shape()[0], length});
  }
  return rotary(
      node, {.x = x, .cosines = node.operand(2), .sines = node.operand(3), .positions = positions});
}

constexpr ConverterRow kRows[] = {
    {"Attention", convert_attention},
    {"RotaryEmbedding", convert_rotary},
    {"RotaryEmbedding", convert_microsoft_rotary, kMicrosoft},
};

}  // namespace

std::span<const ConverterRow> attention_converters() { return kRows; }

}  // namespace tilewright::onnx
