#include "random_sketch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "task/parse.h"
#include "te/predicates.h"

namespace tilewright::testing {
namespace {

using namespace schedule;  // NOLINT: a test about nothing else

class SketchMaker {
 public:
  SketchMaker(const Workload& workload, Rng& rng) : workload_(workload), rng_(rng) {}

  Sketch run() {
    const te::Dag& dag = *workload_.dag;
    for (te::OpId op = static_cast<te::OpId>(dag.ops().size()); op-- > 0;) {
      if (dag.op(op).kind != te::OpKind::Placeholder) add_operator(op);
    }
    return std::move(sketch_);
  }

 private:
  void add(const Step& step) { sketch_.trace.steps.push_back(step); }

  // A step with choices; nullopt among them leaves it out.
  void add_choice(StageName stage, std::vector<std::optional<Step>> choices) {
    Step any;
    for (const auto& choice : choices) {
      if (choice) any = *choice;
    }
    sketch_.holes.push_back(
        {static_cast<int16_t>(sketch_.trace.steps.size()), stage, StepDomain{std::move(choices)}});
    add(any);
  }
  void add_maybe(StageName stage, const Step& step) { add_choice(stage, {std::nullopt, step}); }

  void add_split(StageName stage, Name loop, int64_t extent, int parts) {
    TileDomain domain = exact_tiles(extent, parts, 64);
    for (int k = 0; k < 3; ++k) {  // and some that leave a remainder or exceed the extent
      Factors factors;
      for (int p = 1; p < parts; ++p)
        factors.push_back(rng_.between(1, std::min<int64_t>(extent + 2, 9)));
      domain.choices.push_back(factors);
    }
    sketch_.holes.push_back({static_cast<int16_t>(sketch_.trace.steps.size()), stage, domain});
    add(Split{.stage = stage, .loop = loop, .factors = domain.choices[0], .tail = random_tail()});
  }
  Tail random_tail() {
    constexpr std::array kTails = {Tail::Peel, Tail::Mask, Tail::Overlap, Tail::Pad};
    return kTails[rng_.below(kTails.size())];
  }

  // Splits every axis in two or three and interleaves the parts: all first parts, then all second
  // ones and so on, with the reduce loops somewhere between.
  std::vector<Name> tile(StageName stage, const std::vector<te::Axis>& spatial,
                         const std::vector<te::Axis>& reduce) {
    const int parts = static_cast<int>(rng_.between(1, 3));
    const int reduce_parts = static_cast<int>(rng_.between(1, 2));
    std::vector<std::vector<Name>> levels(static_cast<size_t>(parts));
    for (const te::Axis& axis : spatial) split_into(stage, axis, parts, levels);
    std::vector<std::vector<Name>> reduce_levels(static_cast<size_t>(reduce_parts));
    for (const te::Axis& axis : reduce) split_into(stage, axis, reduce_parts, reduce_levels);
    std::vector<Name> order;
    size_t next_reduce = 0;
    const size_t first = static_cast<size_t>(rng_.between(0, parts));
    for (size_t level = 0; level <= levels.size(); ++level) {
      if (level >= first && next_reduce < reduce_levels.size()) {
        append(order, reduce_levels[next_reduce++]);
      }
      if (level < levels.size()) append(order, levels[level]);
    }
    while (next_reduce < reduce_levels.size()) append(order, reduce_levels[next_reduce++]);
    LoopList loops;
    for (const Name& name : order) loops.push_back(name);
    add(Reorder{.stage = stage, .loops = loops});
    return order;
  }

  void split_into(StageName stage, const te::Axis& axis, int parts,
                  std::vector<std::vector<Name>>& levels) {
    if (parts > 1) add_split(stage, axis.name, axis.extent.high, parts);
    for (int k = 0; k < parts; ++k) {
      levels[static_cast<size_t>(k)].push_back(parts > 1 ? axis.name.child(static_cast<unsigned>(k))
                                                         : axis.name);
    }
  }
  static void append(std::vector<Name>& to, const std::vector<Name>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  void annotate(StageName stage, const std::vector<Name>& order,
                const std::vector<te::Axis>& spatial) {
    const auto is_spatial = [&](Name name) {
      return std::any_of(spatial.begin(), spatial.end(), [&](const te::Axis& axis) {
        return name == axis.name || name.text().starts_with(axis.name.text() + ".");
      });
    };
    const Name inner = order.back();
    if (rng_.chance(0.2)) add_maybe(stage, Annotate{stage, inner, Annotation::Stream});
    add_choice(stage, {std::nullopt, Annotate{stage, inner, Annotation::Vectorise},
                       Annotate{stage, inner, Annotation::Unroll}});
    if (order.size() > 2) {
      add_maybe(stage, Annotate{stage, order[order.size() - 2], Annotation::Unroll});
    }
    if (order.size() > 3 && is_spatial(order[0]) && is_spatial(order[1]) && rng_.chance(0.3)) {
      add(Fuse{.stage = stage, .loops = {order[0], order[1]}});
      const Name fused = Name::fuse(std::vector<Name>{order[0], order[1]});
      add_choice(stage, {std::nullopt, Annotate{stage, fused, Annotation::Parallel}});
    } else if (order.size() > 1) {
      add_maybe(stage, Annotate{stage, order[0], Annotation::Parallel});
    }
  }

  // Where a stage is computed: root, inline, or at a loop of a reader that is laid out already.
  void place(StageName stage, te::OpId op, bool reduces) {
    std::vector<std::optional<Step>> choices = {std::nullopt};
    if (!reduces) choices.push_back(ComputeInline{stage});
    const auto consumers = workload_.dag->consumers(op);
    for (const auto& [reader, loops] : placed_) {
      const bool reads = std::any_of(consumers.begin(), consumers.end(), [&](te::OpId c) {
        return workload_.dag->op(c).name == reader.op;
      });
      if (!reads) continue;
      for (const Name& loop : loops) choices.push_back(ComputeAt{stage, reader, loop});
    }
    add_choice(stage, std::move(choices));
  }

  void add_operator(te::OpId id) {
    const te::Op& op = workload_.dag->op(id);
    const StageName main{.op = op.name};
    const bool output = te::is_output(*workload_.dag, id);
    const bool reduces = op.has_reduction();
    if (reduces && rng_.chance(0.6)) return add_cached(id, main, output);
    if (reduces && rng_.chance(0.3)) return add_factored(op, main);
    if (!output && rng_.chance(0.4)) {
      place(main, id, reduces);
      return;
    }
    const std::vector<Name> order = tile(main, op.axes, op.reduce_axes);
    annotate(main, order, op.axes);
    if (!output) place(main, id, reduces);
    placed_.emplace_back(main, order);
    add_reads(main, id);
  }

  // A reduction with accumulators of its own, as kernels have them.
  void add_cached(te::OpId id, StageName main, bool output) {
    const te::Op& op = workload_.dag->op(id);
    const StageName write{.op = op.name, .role = StageRole::Write};
    add_maybe(main, CacheWrite{main});
    const std::vector<Name> outer = tile(main, op.axes, {});
    std::vector<std::optional<Step>> at = {std::nullopt};
    for (const Name& loop : outer) at.push_back(ComputeAt{write, main, loop});
    add_choice(write, std::move(at));
    const std::vector<Name> inner = tile(write, op.axes, op.reduce_axes);
    annotate(write, inner, op.axes);
    if (rng_.chance(0.5)) annotate(main, outer, op.axes);
    if (!output && rng_.chance(0.5)) place(main, id, true);
    placed_.emplace_back(main, outer);
    placed_.emplace_back(write, inner);
    add_reads(write, id);
  }

  void add_factored(const te::Op& op, StageName main) {
    const te::Axis& axis = op.reduce_axes[rng_.below(op.reduce_axes.size())];
    add_split(main, axis.name, axis.extent.high, 2);
    const Name loop = axis.name.child(static_cast<unsigned>(rng_.below(2)));
    add(Rfactor{main, loop});
    const StageName partial{.op = op.name, .role = StageRole::Rfactor};
    add_choice(partial, {std::nullopt, Annotate{partial, loop, Annotation::Unroll}});
    add_choice(main, {std::nullopt, Annotate{main, loop, Annotation::Vectorise},
                      Annotate{main, loop, Annotation::Unroll}});
    add_choice(partial, {std::nullopt, ComputeAt{partial, main, op.axes[0].name}});
    placed_.emplace_back(partial, std::vector<Name>{op.axes[0].name});
  }

  // Copies of operands, packed or not, and packed constants.
  void add_reads(StageName reader, te::OpId id) {
    const te::Dag& dag = *workload_.dag;
    for (const te::OpId producer : dag.producers(id)) {
      const te::Op& op = dag.op(producer);
      const StageName stage{.op = op.name};
      const bool input = op.kind == te::OpKind::Placeholder;
      if (!input && !rng_.chance(0.2)) continue;
      const bool constant = input && workload_.operand_of(op.outputs[0]).role == Role::Constant;
      if (constant && rng_.chance(0.7)) {
        add_maybe(stage, Pack{stage, reader});
        continue;
      }
      if (!rng_.chance(0.5)) continue;
      const StageName copy{.op = op.name, .role = StageRole::Read};
      add_maybe(stage, CacheRead{stage, {reader}});
      const auto loops = std::find_if(placed_.begin(), placed_.end(),
                                      [&](const auto& p) { return p.first == reader; });
      if (loops != placed_.end()) {
        std::vector<std::optional<Step>> at = {std::nullopt};
        for (const Name& loop : loops->second) at.push_back(ComputeAt{copy, reader, loop});
        add_choice(copy, std::move(at));
      }
      if (rng_.chance(0.6)) add_maybe(copy, Pack{copy, reader});
    }
  }

  const Workload& workload_;
  Rng& rng_;
  Sketch sketch_;
  std::vector<std::pair<StageName, std::vector<Name>>> placed_;
};

}  // namespace

Sketch random_sketch(const Workload& workload, Rng& rng) {
  return SketchMaker(workload, rng).run();
}

namespace {

Workload argmax_workload(int64_t rows, int64_t columns) {
  te::DagBuilder builder;
  const te::TensorId x = builder.placeholder("X", {rows, columns}, ir::Scalar::F32);
  te::Reduction fold;
  const ir::Expr value = ir::var("value", ir::kF32);
  const ir::Expr place = ir::var("place");
  const ir::Expr other = ir::var("other", ir::kF32);
  const ir::Expr other_place = ir::var("other_place");
  const ir::Expr earlier = ir::binary(ir::BinaryOp::Eq, value, other) && place < other_place;
  const ir::Expr first = ir::binary(ir::BinaryOp::Gt, value, other) || earlier;
  fold.identity = {ir::float_imm(-1e30, ir::kF32), ir::int_imm(1 << 20)};
  fold.lhs = {value, place};
  fold.rhs = {other, other_place};
  fold.combine = {ir::select(first, value, other), ir::select(first, place, other_place)};
  const te::Axis i = builder.axis("i", rows);
  const te::Axis k = builder.axis("k", columns);
  const auto largest =
      builder.reduce_tuple("T", {i}, {k}, fold, {builder.read(x, {i.var, k.var}), k.var},
                           {ir::Scalar::F32, ir::Scalar::I32});
  const te::Axis r = builder.axis("i", rows);
  builder.compute("Y", {r},
                  builder.read(largest[0], {r.var}) *
                      ir::cast(ir::Scalar::F32, builder.read(largest[1], {r.var})));
  return make_workload(std::move(builder).build(), {},
                       fmt::format("argmax of {} x {}", rows, columns));
}

// Two reductions in a row, the first one read by the second.
Workload chained_matmul(Rng& rng, ir::Scalar element) {
  te::DagBuilder builder;
  const int64_t m = rng.between(1, 9), n = rng.between(1, 12), k = rng.between(1, 9),
                p = rng.between(1, 20);
  const te::TensorId a = builder.placeholder("A", {m, k}, element);
  const te::TensorId b = builder.placeholder("B", {k, n}, element);
  const te::TensorId w = builder.placeholder("W", {n, p}, element);
  const auto product = [&](std::string_view name, te::TensorId x, te::TensorId y, int64_t rows,
                           int64_t columns, int64_t inner) {
    const te::Axis i = builder.axis("i", rows);
    const te::Axis j = builder.axis("j", columns);
    const te::Axis r = builder.axis("k", inner);
    return builder.reduce(name, {i, j}, {r}, ir::BinaryOp::Add,
                          builder.read(x, {i.var, r.var}) * builder.read(y, {r.var, j.var}),
                          element);
  };
  const te::TensorId c = product("C", a, b, m, n, k);
  product("T", c, w, m, p, n);
  return make_workload(
      std::move(builder).build(), {"W"},
      fmt::format("A x B x W, {} x {} x {} x {} {}", m, k, n, p, name_of(element)));
}

// A tensor that is read shifted, plain and reversed, through a stage that may be inlined.
Workload stencil(Rng& rng) {
  te::DagBuilder builder;
  const int64_t n = rng.between(3, 40);
  const te::TensorId x = builder.placeholder("X", {n + 2}, ir::Scalar::F32);
  const te::Axis t = builder.axis("i", n + 2);
  const te::TensorId twice =
      builder.compute("T", {t}, builder.read(x, {t.var}) + builder.read(x, {t.var}));
  const te::Axis i = builder.axis("i", n);
  builder.compute("Y", {i},
                  builder.read(twice, {i.var + 2}) + builder.read(x, {i.var}) -
                      builder.read(twice, {ir::int_imm(n) - i.var}));
  return make_workload(std::move(builder).build(), {}, fmt::format("stencil of {}", n));
}

// T[i, j] = X[m-1 - i, j] + 1;  Y[p, q] = T[q, n-1 - p] * 3
Workload flipped(Rng& rng) {
  te::DagBuilder builder;
  const int64_t m = rng.between(1, 14), n = rng.between(1, 22);
  const te::TensorId x = builder.placeholder("X", {m, n}, ir::Scalar::F32);
  const te::Axis i = builder.axis("i", m);
  const te::Axis j = builder.axis("j", n);
  const te::TensorId t = builder.compute(
      "T", {i, j}, builder.read(x, {ir::int_imm(m - 1) - i.var, j.var}) + ir::imm(1, ir::kF32));
  const te::Axis p = builder.axis("i", n);
  const te::Axis q = builder.axis("j", m);
  builder.compute("Y", {p, q},
                  builder.read(t, {q.var, ir::int_imm(n - 1) - p.var}) * ir::imm(3, ir::kF32));
  return make_workload(std::move(builder).build(), {}, fmt::format("flipped {} x {}", m, n));
}

std::string random_operator(Rng& rng) {
  const auto n = [&](int64_t low, int64_t high) { return rng.between(low, high); };
  const auto one_of = [&](const std::vector<std::string>& words) {
    return words[rng.below(words.size())];
  };
  switch (rng.below(7)) {
    case 0:
      return fmt::format("matmul:m={},n={},k={}", n(1, 19), n(1, 40), n(1, 19));
    case 1:
      return fmt::format("matmul:m={},n={},k={},dtype={},constant=B", n(1, 13), n(1, 20), n(1, 9),
                         one_of({"f64", "f16", "bf16", "i8", "u8", "i16", "i32", "i64"}));
    case 2:
      return fmt::format("batch_matmul:b={},m={},n={},k={}", n(1, 3), n(1, 9), n(1, 20), n(1, 9));
    case 3: {
      const int64_t kernel = n(1, 3);
      return fmt::format("conv2d:n={},h={},w={},ci={},co={},kernel={},stride={},pad={},dilation={}",
                         n(1, 2), n(kernel * 2, 9), n(kernel * 2, 9), n(1, 6), n(1, 20), kernel,
                         n(1, 2), n(0, kernel - 1), n(1, 2));
    }
    case 4: {
      const int64_t groups = n(1, 3);
      return fmt::format("conv2d:n=1,h={},w={},ci={},co={},kernel=2,pad={},groups={},dtype={}",
                         n(2, 6), n(2, 6), groups * n(1, 3), groups * n(1, 6), n(0, 1), groups,
                         one_of({"f32", "f16", "bf16", "i8"}));
    }
    case 5:
      return fmt::format("softmax:m={},n={},dtype={}", n(1, 9), n(1, 40),
                         one_of({"f32", "f32", "f64", "f16", "bf16"}));
    default:
      return fmt::format(
          "elementwise:shape={}x{},chain={},dtype={}", n(1, 9), n(1, 40),
          one_of({"relu+scale+add", "bias+relu+mul", "sub+abs+max+shift", "neg+square+min"}),
          one_of({"f32", "f64", "f16", "bf16", "i32", "i8"}));
  }
}

}  // namespace

Workload random_workload(Rng& rng) {
  switch (rng.below(16)) {
    case 0:
      return argmax_workload(rng.between(1, 9), rng.between(1, 40));
    case 1:
      return chained_matmul(rng, ir::Scalar::F32);
    case 2:
      return chained_matmul(rng, ir::Scalar::F16);
    case 3:
      return stencil(rng);
    case 4:
      return flipped(rng);
    default:
      break;
  }
  const Result<Workload> workload = parse_workload(random_operator(rng));
  CHECK(workload.has_value(), "{}", workload.error().message);
  return *workload;
}

}  // namespace tilewright::testing
