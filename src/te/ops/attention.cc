#include "te/ops/attention.h"

#include <cmath>

#include "te/ops/einsum.h"
#include "te/ops/softmax.h"

namespace tilewright::te {
namespace {

double scale_of(const AttentionShape& shape) {
  return 1 / std::sqrt(static_cast<double>(shape.dim));
}

// The layout of queries and keys: transpose_batch_matmul has heads after the sequence.
enum class HeadsAt : uint8_t { BeforeSequence, AfterSequence };

TensorId add_operand(DagBuilder& builder, std::string_view name, const AttentionShape& shape,
                     HeadsAt heads) {
  const bool before = heads == HeadsAt::BeforeSequence;
  return builder.placeholder(
      name,
      {shape.b, before ? shape.heads : shape.seq, before ? shape.seq : shape.heads, shape.dim},
      shape.element);
}

// C[b, h, i, j] = sum over k of Q K, stored as `stored`.
TensorId add_scores(DagBuilder& builder, TensorId queries, TensorId keys,
                    const AttentionShape& shape, HeadsAt heads, ir::Scalar stored) {
  const bool before = heads == HeadsAt::BeforeSequence;
  const LetterExtents extents = {
      {'b', shape.b}, {'h', shape.heads}, {'i', shape.seq}, {'j', shape.seq}, {'k', shape.dim}};
  return add_products(builder, "C", "bhij", "k", {queries, before ? "bhik" : "bihk"},
                      {keys, before ? "bhjk" : "bjhk"}, extents, stored);
}

// A row for each query of each head.
Rows score_rows(DagBuilder& builder, const AttentionShape& shape) {
  return rows_with_columns(builder,
                           {{.name = "b", .extent = shape.b},
                            {.name = "h", .extent = shape.heads},
                            {.name = "i", .extent = shape.seq}},
                           shape.seq);
}

void count_no_flop(DagBuilder& builder, std::initializer_list<TensorId> tensors) {
  for (const TensorId tensor : tensors) builder.set_flop(tensor, 0);
}

// The value `inside` if the key is within the sequence, else `outside`.
ir::Expr guarded(const AttentionShape& shape, int64_t block, const ir::Expr& key,
                 const ir::Expr& inside, const ir::Expr& outside) {
  return shape.seq % block == 0 ? inside : ir::select(key < shape.seq, inside, outside);
}

// The stages of attention_online that work on one block of keys.
class Blocks {
 public:
  Blocks(DagBuilder& builder, const AttentionShape& shape, int64_t block, TensorId scores)
      : builder_(builder), shape_(shape), block_(block), scores_(scores) {
    add_maxima();
    add_powers();
    add_sums();
  }

  void add_products(TensorId values) {
    std::vector<Axis> axes = block_axes();
    axes.push_back(builder_.axis("d", shape_.dim));
    const Axis r = builder_.axis("r", block_);
    const ir::Expr &b = axes[0].var, &h = axes[1].var, &d = axes[4].var;
    const ir::Expr power = builder_.read(powers_, indices(axes, r.var));
    const ir::Expr key = key_of(axes, r);
    const ir::Expr product = power * builder_.read(values, {b, h, key, d});
    products_ = builder_.reduce("O", axes, {r}, ir::BinaryOp::Add,
                                guarded(shape_, block_, key, product, ir::imm(0, product.type())),
                                product.type().scalar);
  }

  // (M / sqrt(dim), S, O) at [b, h, i, c, d].
  std::vector<ir::Expr> triple(const std::vector<Axis>& axes, const Axis& c) const {
    const ir::Expr &b = axes[0].var, &h = axes[1].var, &i = axes[2].var, &d = axes[3].var;
    const ir::Expr largest = builder_.read(maxima_, {b, h, i, c.var});
    return {largest * ir::imm(scale_of(shape_), largest.type()),
            builder_.read(sums_, {b, h, i, c.var}), builder_.read(products_, {b, h, i, c.var, d})};
  }

  int64_t count() const { return (shape_.seq + block_ - 1) / block_; }

 private:
  std::vector<Axis> block_axes() {
    return {builder_.axis("b", shape_.b), builder_.axis("h", shape_.heads),
            builder_.axis("i", shape_.seq), builder_.axis("c", count())};
  }

  ir::Expr key_of(const std::vector<Axis>& axes, const Axis& r) const {
    return axes[3].var * block_ + r.var;
  }

  // [b, h, i, last].
  static std::vector<ir::Expr> row(const std::vector<Axis>& axes, const ir::Expr& last) {
    return {axes[0].var, axes[1].var, axes[2].var, last};
  }
  // [b, h, i, c, r].
  static std::vector<ir::Expr> indices(const std::vector<Axis>& axes, const ir::Expr& r) {
    return {axes[0].var, axes[1].var, axes[2].var, axes[3].var, r};
  }

  void add_maxima() {
    const std::vector<Axis> axes = block_axes();
    const Axis r = builder_.axis("r", block_);
    const ir::Expr key = key_of(axes, r);
    const ir::Expr score = builder_.read(scores_, row(axes, key));
    const ir::Scalar type = score.type().scalar;
    const ir::Expr lowest = make_reduction(ir::BinaryOp::Max, type).identity[0];
    maxima_ = builder_.reduce("M", axes, {r}, ir::BinaryOp::Max,
                              guarded(shape_, block_, key, score, lowest), type);
    builder_.set_flop(maxima_, 0);
  }

  void add_powers() {
    std::vector<Axis> axes = block_axes();
    const Axis r = builder_.axis("r", block_);
    const ir::Expr key = key_of(axes, r);
    const ir::Expr below =
        builder_.read(scores_, row(axes, key)) - builder_.read(maxima_, row(axes, axes[3].var));
    const ir::Expr power = ir::exp(below * ir::imm(scale_of(shape_), below.type()));
    axes.push_back(r);
    powers_ =
        builder_.compute("E", axes, guarded(shape_, block_, key, power, ir::imm(0, power.type())));
    builder_.set_flop(powers_, 0);
  }

  void add_sums() {
    const std::vector<Axis> axes = block_axes();
    const Axis r = builder_.axis("r", block_);
    const ir::Expr power = builder_.read(powers_, indices(axes, r.var));
    sums_ = builder_.reduce("S", axes, {r}, ir::BinaryOp::Add, power, power.type().scalar);
    builder_.set_flop(sums_, 0);
  }

  DagBuilder& builder_;
  const AttentionShape& shape_;
  int64_t block_;
  TensorId scores_, maxima_ = 0, powers_ = 0, sums_ = 0, products_ = 0;
};

// Combines (m, l, o) of two sets of keys. The identity has the lowest finite m: exp(lowest - m) is
// 0 for every other m; for itself it is 1, and l and o are 0.
Reduction online_softmax(ir::Scalar scalar) {
  const ir::Type type{scalar, 1};
  const double lowest = scalar == ir::Scalar::F64 ? -0x1.fffffffffffffp1023 : -0x1.fffffep127;
  const auto triple = [&](std::string_view side) {
    std::vector<ir::Expr> vars;
    for (const char* part : {"m", "l", "o"})
      vars.push_back(ir::var(std::string(part) += side, type));
    return vars;
  };
  const std::vector<ir::Expr> lhs = triple("1"), rhs = triple("2");
  const ir::Expr largest = ir::max(lhs[0], rhs[0]);
  const ir::Expr left = ir::exp(lhs[0] - largest), right = ir::exp(rhs[0] - largest);
  return {.identity = {ir::imm(lowest, type), ir::imm(0, type), ir::imm(0, type)},
          .lhs = lhs,
          .rhs = rhs,
          .combine = {largest, lhs[1] * left + rhs[1] * right, lhs[2] * left + rhs[2] * right},
          .commutative = true};
}

std::vector<Axis> output_axes(DagBuilder& builder, const AttentionShape& shape) {
  return {builder.axis("b", shape.b), builder.axis("h", shape.heads), builder.axis("i", shape.seq),
          builder.axis("d", shape.dim)};
}

std::vector<Parameter> parameters() {
  return {{.name = "b", .doc = "batch", .fallback = "1"},
          {.name = "heads", .doc = "heads", .fallback = "1"},
          {.name = "seq", .doc = "queries, and keys"},
          {.name = "dim", .doc = "numbers per query, key or value of one head"},
          dtype_parameter()};
}

AttentionShape shape_of(const Arguments& arguments) {
  return {.b = arguments.integer("b"),
          .heads = arguments.integer("heads"),
          .seq = arguments.integer("seq"),
          .dim = arguments.integer("dim"),
          .element = arguments.scalar("dtype")};
}

using Maker = std::shared_ptr<const Dag> (*)(const AttentionShape& shape);

Result<std::shared_ptr<const Dag>> build_float(std::string_view op, Maker make,
                                               const Arguments& arguments) {
  const AttentionShape shape = shape_of(arguments);
  TRY(require_float(op, shape.element));
  return make(shape);
}

}  // namespace

std::shared_ptr<const Dag> transpose_batch_matmul(const AttentionShape& shape) {
  DagBuilder builder;
  const TensorId queries = add_operand(builder, "Q", shape, HeadsAt::AfterSequence);
  const TensorId keys = add_operand(builder, "K", shape, HeadsAt::AfterSequence);
  add_scores(builder, queries, keys, shape, HeadsAt::AfterSequence, result_of(shape.element));
  return std::move(builder).build();
}

std::shared_ptr<const Dag> transpose_batch_matmul_softmax(const AttentionShape& shape) {
  DagBuilder builder;
  const TensorId queries = add_operand(builder, "Q", shape, HeadsAt::AfterSequence);
  const TensorId keys = add_operand(builder, "K", shape, HeadsAt::AfterSequence);
  const TensorId scores = add_scores(builder, queries, keys, shape, HeadsAt::AfterSequence,
                                     accumulator_of(shape.element));
  const Rows rows = score_rows(builder, shape);
  const SoftmaxStages stages = add_softmax(builder, scores, rows);
  const TensorId y = add_quotients(builder, stages, rows, shape.element);
  count_no_flop(builder, {stages.maxima, stages.powers, stages.sums, y});
  return std::move(builder).build();
}

std::shared_ptr<const Dag> attention(const AttentionShape& shape) {
  DagBuilder builder;
  const TensorId queries = add_operand(builder, "Q", shape, HeadsAt::BeforeSequence);
  const TensorId keys = add_operand(builder, "K", shape, HeadsAt::BeforeSequence);
  const TensorId values = add_operand(builder, "V", shape, HeadsAt::BeforeSequence);
  const TensorId scores = add_scores(builder, queries, keys, shape, HeadsAt::BeforeSequence,
                                     accumulator_of(shape.element));
  const SoftmaxStages stages =
      add_softmax(builder, scores, score_rows(builder, shape), scale_of(shape));
  const LetterExtents extents = {
      {'b', shape.b}, {'h', shape.heads}, {'i', shape.seq}, {'d', shape.dim}, {'k', shape.seq}};
  const TensorId products = add_products(builder, "O", "bhid", "k", {stages.powers, "bhik"},
                                         {values, "bhkd"}, extents, accumulator_of(shape.element));
  const std::vector<Axis> out = output_axes(builder, shape);
  const ir::Expr reciprocal =
      builder.read(stages.reciprocals, {out[0].var, out[1].var, out[2].var});
  const TensorId y = builder.compute(
      "Y", out,
      builder.read(products, {out[0].var, out[1].var, out[2].var, out[3].var}) * reciprocal,
      shape.element);
  count_no_flop(builder, {stages.maxima, stages.powers, stages.sums, y});
  return std::move(builder).build();
}

std::shared_ptr<const Dag> attention_online(const AttentionShape& shape, int64_t block) {
  DagBuilder builder;
  const TensorId queries = add_operand(builder, "Q", shape, HeadsAt::BeforeSequence);
  const TensorId keys = add_operand(builder, "K", shape, HeadsAt::BeforeSequence);
  const TensorId values = add_operand(builder, "V", shape, HeadsAt::BeforeSequence);
  const TensorId scores = add_scores(builder, queries, keys, shape, HeadsAt::BeforeSequence,
                                     accumulator_of(shape.element));
  Blocks blocks(builder, shape, block, scores);
  blocks.add_products(values);
  const std::vector<Axis> axes = output_axes(builder, shape);
  const Axis c = builder.axis("c", blocks.count());
  const ir::Scalar type = accumulator_of(shape.element);
  const std::vector<TensorId> folded = builder.reduce_tuple(
      "F", axes, {c}, online_softmax(type), blocks.triple(axes, c), {type, type, type});
  builder.discard(folded[0]);
  const std::vector<Axis> out = output_axes(builder, shape);
  const std::vector<ir::Expr> at = {out[0].var, out[1].var, out[2].var, out[3].var};
  const TensorId y = builder.compute(
      "Y", out, builder.read(folded[2], at) / builder.read(folded[1], at), shape.element);
  count_no_flop(builder, {folded[0], y});
  return std::move(builder).build();
}

Operator transpose_batch_matmul_operator() {
  return {.name = "transpose_batch_matmul",
          .doc = "Q[b,seq,heads,dim] K[b,seq,heads,dim] -> C[b,heads,seq,seq] = Q K^T",
          .parameters = parameters(),
          .operands = {},
          .batch = "b",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const AttentionShape shape = shape_of(arguments);
            TRY(require_number("transpose_batch_matmul", shape.element));
            return transpose_batch_matmul(shape);
          }};
}

Operator transpose_batch_matmul_softmax_operator() {
  return {.name = "transpose_batch_matmul_softmax",
          .doc = "Q[b,seq,heads,dim] K[b,seq,heads,dim] -> Y[b,heads,seq,seq] = softmax(Q K^T)",
          .parameters = parameters(),
          .operands = {},
          .batch = "b",
          .build = [](const Arguments& arguments) {
            return build_float("transpose_batch_matmul_softmax", transpose_batch_matmul_softmax,
                               arguments);
          }};
}

Operator attention_operator() {
  return {.name = "attention",
          .doc = "Q,K,V[b,heads,seq,dim] -> Y[b,heads,seq,dim] = softmax(Q K^T / sqrt(dim)) V",
          .parameters = parameters(),
          .operands = {},
          .batch = "b",
          .build = [](const Arguments& arguments) {
            return build_float("attention", attention, arguments);
          }};
}

Operator attention_online_operator() {
  std::vector<Parameter> with_block = parameters();
  with_block.push_back({.name = "block", .doc = "keys that are folded at once", .fallback = "64"});
  return {.name = "attention_online",
          .doc = "attention by blocks of keys, whose softmaxes are folded into one",
          .parameters = std::move(with_block),
          .operands = {},
          .batch = "b",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const AttentionShape shape = shape_of(arguments);
            TRY(require_float("attention_online", shape.element));
            return attention_online(shape, std::min(arguments.integer("block"), shape.seq));
          }};
}

}  // namespace tilewright::te
