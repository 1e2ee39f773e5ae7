#include "heuristic/transform_tiles.h"

#include "heuristic/constant_axes.h"
#include "heuristic/nest_plan.h"
#include "heuristic/thread_loops.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

// The axis of the reader whose remainder by `side` is the index; an axis without more elements is
// its own remainder.
std::optional<size_t> selecting_axis(const LoopTree& tree, const Stage& reader,
                                     const AccessDim& dim, int64_t side) {
  if (dim.index.constant != 0 || dim.index.terms.size() != 1) return std::nullopt;
  const arith::Term& term = dim.index.terms[0];
  if (term.coefficient != 1) return std::nullopt;
  if (dim.affine) {
    const bool whole = tree.var(reader.axes[term.var]).extent <= side;
    return whole ? std::optional<size_t>(term.var) : std::nullopt;
  }
  if (!dim.quasi_affine) return std::nullopt;
  const te::Quotient& quotient = tree.quotients[term.var - te::kFirstQuotient];
  const arith::Affine& of = quotient.of;
  const bool remainder = quotient.divisor == 1 && quotient.modulus == side && of.constant == 0 &&
                         of.terms.size() == 1 && of.terms[0].coefficient == 1;
  return remainder ? std::optional<size_t>(of.terms[0].var) : std::nullopt;
}

// True if the access reads the vector axis of its reader at the last axis of the transform, whole.
bool reads_lanes(const LoopTree& tree, const Access& access, const AxisRoles& roles) {
  const AccessDim& last = tree.dims[access.first_dim + access.rank - size_t{1}];
  return last.affine && last.index.constant == 0 && last.index.terms.size() == 1 &&
         last.index.terms[0].coefficient == 1 &&
         last.index.terms[0].var == static_cast<uint32_t>(roles.vector);
}

class Writer {
 public:
  Writer(Tiling& tiling, StageIndex transform, const TileReader& reader, const AxisRoles& roles)
      : tiling_(tiling), transform_(transform), reader_(reader), roles_(roles) {}

  bool run() {
    std::vector<Name> outer;
    const bool large = is_worth_threads(tree(), transform_, tiling_.target);
    if (!lay_out_reader(outer)) return false;
    make_parallel(tiling_, reader_.stage, outer, large);
    return attach(outer.back());
  }

 private:
  const LoopTree& tree() const { return tiling_.tree(); }

  // Outer loops over tiles and vectors, the elements of a tile inside them, lanes innermost.
  bool lay_out_reader(std::vector<Name>& outer) {
    const StageName name = tiling_.name_of(reader_.stage);
    std::vector<Step> steps;
    std::vector<Name> inner;
    const Stage& stage = tree().stage(reader_.stage);
    const auto cut = [&](size_t axis, int64_t size, Tail tail) {
      const LoopVar& var = tree().var(stage.axes[axis]);
      if (var.extent <= size) return var.name;
      steps.emplace_back(Split{name, var.name, {size}, tail});
      outer.push_back(var.name.child(0));
      return var.name.child(1);
    };
    const auto vector = static_cast<size_t>(roles_.vector);
    for (size_t axis = 0; axis < stage.axes.size(); ++axis) {
      if (axis == vector) continue;
      if (reader_.sides[axis] == 0) {
        outer.push_back(tree().var(stage.axes[axis]).name);
      } else {
        inner.push_back(cut(axis, reader_.sides[axis], Tail::Peel));
      }
    }
    const Name lane = cut(vector, tiling_.target.lanes(roles_.element_bytes), Tail::Mask);
    if (outer.empty()) return false;
    LoopList all;
    for (const Name loop : outer) all.push_back(loop);
    for (const Name loop : inner) all.push_back(loop);
    all.push_back(lane);
    steps.emplace_back(Reorder{name, all});
    for (const Name loop : inner) steps.emplace_back(Annotate{name, loop, Annotation::Unroll});
    steps.emplace_back(Annotate{name, lane, Annotation::Vectorize});
    return tiling_.builder.add(steps);
  }

  // The whole transform of a tile, written out.
  bool attach(Name loop) {
    const Stage& stage = tree().stage(transform_);
    const te::Op& op = tree().dag->op(stage.op);
    std::vector<Name> outer;
    for (size_t axis = 0; axis + 1 < op.axes.size(); ++axis) {
      if (!is_hinted(op, axis)) outer.push_back(tree().var(stage.axes[axis]).name);
    }
    const Name lane = tree().var(stage.axes[op.axes.size() - 1]).name;
    std::vector<Step> steps = written_out(tree(), stage, outer, lane);
    const StageName reader = tiling_.name_of(reader_.stage);
    steps.insert(steps.begin(), ComputeAt{stage.name, reader, loop});
    return tiling_.builder.add(steps);
  }

  Tiling& tiling_;
  StageIndex transform_;
  const TileReader& reader_;
  const AxisRoles& roles_;
};

}  // namespace

std::optional<TileReader> tile_reader(const LoopTree& tree, StageIndex transform) {
  const Stage& stage = tree.stage(transform);
  const te::Op& op = tree.dag->op(stage.op);
  const auto reads = accesses_to(tree, transform);
  const HintedLoops hinted = hinted_loops(tree, stage);
  if (reads.empty() || tree.is_output(transform) || hinted.spatial.empty() ||
      hinted.folded.empty() || hinted.folded.size() != op.reduce_axes.size() ||
      is_hinted(op, op.axes.size() - 1)) {
    return std::nullopt;
  }
  TileReader reader{.stage = reads[0]->stage};
  const Stage& reading = tree.stage(reader.stage);
  if (reading.kind != StageKind::Compute || tree.dag->op(reading.op).has_reduction()) {
    return std::nullopt;
  }
  for (const Access* access : reads) {
    TileReader same{.stage = access->stage, .sides = std::vector<int64_t>(reading.axes.size())};
    for (size_t axis = 0; axis < op.axes.size(); ++axis) {
      if (!is_hinted(op, axis)) continue;
      const int64_t side = tree.var(stage.axes[axis]).extent;
      const auto by = selecting_axis(tree, reading, tree.dims[access->first_dim + axis], side);
      if (!by || same.sides[*by] != 0) return std::nullopt;
      same.sides[*by] = side;
    }
    if (access != reads[0] && same != reader) return std::nullopt;
    reader = std::move(same);
  }
  return reader;
}

bool tile_with_reader(Tiling& tiling, StageIndex transform, const TileReader& reader) {
  const LoopTree& tree = tiling.tree();
  const AxisRoles roles = axis_roles(tree, reader.stage, tiling.target, false);
  if (!tiling.style.vectors || !roles.has_vector() || roles.vector_reduces ||
      reader.sides[static_cast<size_t>(roles.vector)] != 0) {
    return false;
  }
  for (const Access* access : accesses_to(tree, transform)) {
    if (!reads_lanes(tree, *access, roles)) return false;
  }
  // On a copy first: all of it or nothing.
  TraceBuilder copy = tiling.builder;
  Tiling trial{copy, tiling.target, tiling.style};
  return Writer(trial, transform, reader, roles).run() &&
         Writer(tiling, transform, reader, roles).run();
}

}  // namespace tilewright::heuristic
