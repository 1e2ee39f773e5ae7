#include <algorithm>
#include <numeric>

#include "space/stage_draws.h"

namespace tilewright::space {
namespace {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

class TiledDraw {
 public:
  TiledDraw(SketchWriter& writer, const DrawnStage& drawn, StageIndex reader)
      : writer_(writer),
        drawn_(drawn),
        tree_(*drawn.tree),
        roles_(drawn.roles),
        inner_(drawn.stage().name),
        owner_(reader == kNone ? inner_ : tree_.stage(reader).name),
        lanes_(drawn.target->lanes(roles_.element_bytes)) {
    const Stage& stage = drawn.stage();
    for (const VarIndex axis : stage.axes) {
      const LoopVar& var = tree_.var(axis);
      (var.kind == IterKind::Reduce ? reduce_ : spatial_).push_back({var.name, var.extent});
    }
    owner_axes_ = spatial_;
    if (reader != kNone) {
      for (size_t k = 0; k < spatial_.size(); ++k) {
        owner_axes_[k].name = tree_.var(tree_.stage(reader).axes[k]).name;
      }
    }
    vector_ = roles_.has_vector() && !roles_.vector_reduces ? roles_.vector : kNoAxis;
  }

  std::vector<AttachPoint> run() {
    draw_registers();
    const bool has_owner = owner_ != inner_;
    if (!has_owner && vector_ != kNoAxis && writer_.chance(0.6)) {
      writer_.add(CacheWrite{inner_});
      inner_.role = StageRole::Write;
    }
    const bool apart = owner_ != inner_;
    draw_levels(apart);
    const size_t parallel = draw_threads();
    if (apart) {
      if (!outer_.empty()) writer_.add(ComputeAt{inner_, owner_, innermost_outer()});
      annotate_tile(owner_, tile_loops_, 0.5);
      draw_inner();
    } else {
      annotate_tile(owner_, tile_loops_, 0.93);
    }
    draw_operands();
    return attach_points(parallel);
  }

 private:
  // The tile in registers: whole vectors of one axis times rows of others, and about as many sums
  // as there are registers.
  void draw_registers() {
    Rng& rng = writer_.rng();
    registers_.assign(spatial_.size(), 1);
    several_.assign(spatial_.size(), false);
    int64_t sums = drawn_.target->vector_registers() == 32 ? 28 : 12;
    if (writer_.chance(0.1)) sums *= 2;
    const auto vector = static_cast<size_t>(vector_);
    if (vector_ != kNoAxis) {
      registers_[vector] = draw_vector(spatial_[vector].extent);
      sums = std::max<int64_t>(1, sums / ceil_div(registers_[vector], lanes_));
    }
    std::vector<size_t> rows;
    if (roles_.rows != kNoAxis) rows.push_back(static_cast<size_t>(roles_.rows));
    for (size_t k = spatial_.size(); k-- > 0;) {
      const bool taken = static_cast<int>(k) == vector_ || static_cast<int>(k) == roles_.rows;
      if (!taken && spatial_[k].extent > 1) rows.push_back(k);
    }
    if (rows.size() > 1 && writer_.chance(0.1)) std::swap(rows[0], rows[rng.below(rows.size())]);
    for (size_t k = 0; k < std::min<size_t>(2, rows.size()) && sums > 1; ++k) {
      if (k > 0 && !writer_.chance(0.3)) break;
      registers_[rows[k]] = draw_rows(spatial_[rows[k]].extent, sums);
      sums /= registers_[rows[k]];
    }
  }

  int64_t draw_vector(int64_t extent) {
    constexpr int kVectors[] = {2, 2, 2, 2, 1, 1, 4, 3, 2, 1};
    int64_t length = int64_t{kVectors[writer_.rng().below(std::size(kVectors))]} * lanes_;
    for (int k = 0; k < 3 && extent % length != 0; ++k) {  // mostly one that divides
      if (!writer_.chance(0.6)) break;
      length = int64_t{kVectors[writer_.rng().below(std::size(kVectors))]} * lanes_;
    }
    if (writer_.chance(0.05)) length = writer_.some_factor(extent, 64);
    if (roles_.vector_run > 0) length = std::gcd(std::min(length, extent), roles_.vector_run);
    return std::clamp<int64_t>(length, 1, extent);
  }

  int64_t draw_rows(int64_t extent, int64_t most) {
    const int64_t high = std::min(extent, most);
    if (writer_.chance(0.45)) {  // the largest that divides
      for (int64_t factor = high; factor > 1; --factor) {
        if (extent % factor == 0 && 2 * factor > high) return factor;
      }
    }
    return writer_.chance(0.5) ? writer_.some_factor(extent, high)
                               : writer_.rng().between(std::min<int64_t>(2, high), high);
  }

  // Levels of spatial loops: outer_ for threads, middle_, and the loops of a tile.
  void draw_levels(bool apart) {
    DrawnLoops batch, outside, natural;
    for (size_t k = 0; k < owner_axes_.size(); ++k) {
      const bool is_vector = static_cast<int>(k) == vector_;
      const bool in_batch =
          std::ranges::find(roles_.batch, static_cast<int>(k)) != roles_.batch.end();
      DrawnLoops& outer = in_batch ? batch : is_vector && roles_.vector_outside ? outside : natural;
      draw_axis(k, apart, outer);
    }
    if (!outside.empty() && writer_.chance(0.15)) {
      natural.insert(natural.end(), outside.begin(), outside.end());
      outside.clear();
    }
    if (writer_.chance(0.15)) writer_.shuffle(natural);
    if (writer_.chance(0.15)) writer_.shuffle(middle_);
    for (const DrawnLoops* part : {&batch, &outside, &natural}) {
      outer_.insert(outer_.end(), part->begin(), part->end());
    }
    if (outer_.empty() && !middle_.empty()) {
      outer_.push_back(middle_.front());
      middle_.erase(middle_.begin());
    }
    if (!vector_loop_.name.empty()) tile_loops_.push_back(vector_loop_);
    if (apart) {
      writer_.add_reorder(owner_, {&outer_, &middle_, &tile_loops_});
    } else {
      reduce_owner();
    }
  }

  // Loop k of the owner, cut into up to three.
  void draw_axis(size_t k, bool apart, DrawnLoops& outer) {
    const DrawnLoop axis = owner_axes_[k];
    const bool is_vector = static_cast<int>(k) == vector_;
    const int64_t several = apart && writer_.chance(0.2) ? writer_.rng().between(2, 4) : 1;
    several_[k] = several > 1;
    const int64_t tile = std::min(axis.extent, registers_[k] * several);
    const int64_t count = ceil_div(axis.extent, tile);
    const auto to_tile = [&](const DrawnLoop& loop) {
      if (is_vector) {
        vector_loop_ = loop;
      } else {
        tile_loops_.push_back(loop);
      }
    };
    if (tile > 1 && count == 1) return to_tile(axis);
    const bool two_levels = count > 3 && writer_.chance(0.35);
    std::vector<Factors> choices;
    for (int draw = 0; draw < 3; ++draw) {
      Factors factors;
      if (two_levels) factors.push_back(writer_.some_factor(count, 16));
      if (tile > 1) factors.push_back(tile);
      choices.push_back(factors);
    }
    DrawnLoops& one = writer_.chance(is_vector ? 0.85 : 0.5) ? outer : middle_;
    if (choices[0].empty()) {
      (axis.extent > 1 ? one : middle_).push_back(axis);
      return;
    }
    writer_.add_split(owner_, axis.name, choices, writer_.some_tail(is_vector));
    if (two_levels) {
      outer.push_back({axis.name.child(0), ceil_div(count, 4)});
      middle_.push_back({axis.name.child(1), 4});
    } else {
      one.push_back({axis.name.child(0), count});
    }
    if (tile > 1) to_tile({axis.name.child(two_levels ? 2 : 1), tile});
  }

  // The reductions of one stage, in up to two levels around the middle loops.
  void draw_reductions(StageName stage, DrawnLoops& first, DrawnLoops& second) {
    for (size_t k = 0; k < reduce_.size(); ++k) {
      const DrawnLoop& axis = reduce_[k];
      const bool lanes =
          roles_.vector_reduces && static_cast<size_t>(roles_.vector) == spatial_.size() + k;
      if (lanes) {
        const int64_t length = int64_t{lanes_} << writer_.rng().below(3);
        if (length < axis.extent) {
          writer_.add_split(stage, axis.name, {{length}}, Tail::Peel);
          first.push_back({axis.name.child(0), ceil_div(axis.extent, length)});
          vector_loop_ = {axis.name.child(1), length};
        } else {
          vector_loop_ = axis;
        }
        continue;
      }
      if (axis.extent > 3 && writer_.chance(0.4)) {
        writer_.add_split(stage, axis.name, writer_.some_factors(axis.extent, 16));
        first.push_back({axis.name.child(0), ceil_div(axis.extent, 4)});
        second.push_back({axis.name.child(1), 4});
      } else {
        (writer_.chance(0.7) ? first : second).push_back(axis);
      }
    }
    if (tree_.reassociate && writer_.chance(0.15)) writer_.shuffle(first);
  }

  void reduce_owner() {
    DrawnLoops first, second;
    draw_reductions(owner_, first, second);
    if (roles_.vector_reduces && !vector_loop_.name.empty()) tile_loops_.push_back(vector_loop_);
    if (writer_.chance(0.8)) {
      writer_.add_reorder(owner_, {&outer_, &middle_, &first, &second, &tile_loops_});
    } else {  // sums leave the registers between two parts of the reduction
      writer_.add_reorder(owner_, {&outer_, &first, &middle_, &second, &tile_loops_});
    }
    unroll_reductions(owner_, second);
  }

  void unroll_reductions(StageName stage, const DrawnLoops& second) {
    if (second.empty() || second.back().extent > 16) return;
    writer_.add_maybe(stage, Annotate{stage, second.back().name, Annotation::Unroll});
  }

  // Threads share the first loops, enough of them mostly.
  size_t draw_threads() {
    if (outer_.empty()) return 0;
    size_t count = 0;
    for (int64_t tasks = 1; count < outer_.size() && tasks < 2 * drawn_.target->threads; ++count) {
      tasks *= outer_[count].extent;
    }
    count = std::max<size_t>(1, count);
    if (writer_.chance(0.3)) count = writer_.rng().below(outer_.size()) + 1;
    writer_.fuse_first(owner_, outer_, count);
    if (drawn_.target->threads > 1 && writer_.chance(0.97)) {
      writer_.add(Annotate{owner_, outer_[0].name, Annotation::Parallel});
    }
    return 1;
  }

  Name innermost_outer() const {
    return middle_.empty() ? outer_.back().name : middle_.back().name;
  }

  void annotate_tile(StageName stage, const DrawnLoops& tile, double unrolled) {
    for (const DrawnLoop& loop : tile) {
      const bool is_vector = loop.name == vector_loop_.name;
      if (is_vector && writer_.chance(0.96)) {
        writer_.add(Annotate{stage, loop.name, Annotation::Vectorise});
      } else if (loop.extent <= 64 && writer_.chance(unrolled)) {
        writer_.add(Annotate{stage, loop.name, Annotation::Unroll});
      }
    }
  }

  // The stage that computes a tile: its loops are as long as the tile of its owner.
  void draw_inner() {
    DrawnLoops unit, blocks, tile;
    DrawnLoop vector;
    for (size_t k = 0; k < spatial_.size(); ++k) {
      const Name name = spatial_[k].name;
      const bool is_vector = static_cast<int>(k) == vector_;
      if (registers_[k] == 1 && !is_vector) {
        unit.push_back({name, 1});
        continue;
      }
      const bool cut = several_[k] || writer_.chance(0.03);
      if (cut) writer_.add_split(inner_, name, {{registers_[k]}}, Tail::Peel);
      if (cut) blocks.push_back({name.child(0), 2});
      const DrawnLoop loop{cut ? name.child(1) : name, registers_[k]};
      if (is_vector) {
        vector = loop;
      } else {
        tile.push_back(loop);
      }
    }
    if (!vector.name.empty()) tile.push_back(vector);
    vector_loop_ = vector;
    DrawnLoops first, second;
    draw_reductions(inner_, first, second);
    if (writer_.chance(0.8)) {
      writer_.add_reorder(inner_, {&unit, &blocks, &first, &second, &tile});
    } else {
      writer_.add_reorder(inner_, {&unit, &first, &blocks, &second, &tile});
    }
    unroll_reductions(inner_, second);
    annotate_tile(inner_, tile, 0.93);
  }

  // Constants packed; what else serves many rows copied in the order in which it is read.
  void draw_operands() {
    if (vector_ == kNoAxis || roles_.rows == kNoAxis) return;
    std::vector<BufferIndex> done;
    for (const Access& access : tree_.reads_of(drawn_.stage())) {
      if (!walk_of(tree_, access, static_cast<size_t>(vector_)).depends) continue;
      if (walk_of(tree_, access, static_cast<size_t>(roles_.rows)).depends) continue;
      if (std::ranges::find(done, access.buffer) != done.end()) continue;
      done.push_back(access.buffer);
      const Buffer& buffer = tree_.buffer(access.buffer);
      const StageName source = tree_.stage(buffer.stage).name;
      const bool gaps = !walk_of(tree_, access, static_cast<size_t>(vector_)).is_contiguous();
      if (buffer.is_constant) {
        if (writer_.chance(0.85)) writer_.add(Pack{source, inner_});
      } else if (!outer_.empty() && writer_.chance(gaps ? 0.9 : 0.5)) {
        draw_copy(source, buffer);
      }
    }
  }

  void draw_copy(StageName source, const Buffer& buffer) {
    const StageName copy{.op = source.op, .role = StageRole::Read};
    writer_.add(CacheRead{source, {inner_}});
    if (writer_.chance(0.9)) {
      const bool deeper = outer_.size() > 1 && writer_.chance(0.3);
      writer_.add(ComputeAt{copy, owner_, outer_[deeper ? 1 : 0].name});
    }
    if (writer_.chance(0.95)) writer_.add(Pack{copy, inner_});
    const te::Op& op = tree_.dag->op(tree_.stage(buffer.stage).op);
    const Name last = op.axes.empty() ? Name("d" + std::to_string(buffer.rank - 1))
                                      : op.axes[size_t{buffer.rank} - 1].name;
    writer_.add_split(copy, last, {{lanes_}, {int64_t{2} * lanes_}});
    writer_.add(Annotate{copy, last.child(1), Annotation::Vectorise});
  }

  std::vector<AttachPoint> attach_points(size_t parallel) const {
    std::vector<AttachPoint> points;
    for (size_t k = parallel == 0 ? 0 : parallel - 1; k < outer_.size(); ++k) {
      points.push_back({owner_, outer_[k].name});
    }
    if (!middle_.empty()) points.push_back({owner_, middle_.back().name});
    return points;
  }

  SketchWriter& writer_;
  const DrawnStage& drawn_;
  const LoopTree& tree_;
  const AxisRoles& roles_;
  StageName inner_, owner_;
  int64_t lanes_;
  int vector_ = kNoAxis;  // spatial axis of the lanes
  DrawnLoops spatial_, reduce_, owner_axes_;
  std::vector<int64_t> registers_;  // tile in registers, by spatial axis
  std::vector<bool> several_;       // the owner's tile is several of those
  DrawnLoops outer_, middle_, tile_loops_;
  DrawnLoop vector_loop_;
};

}  // namespace

std::vector<AttachPoint> draw_tiled(SketchWriter& writer, const DrawnStage& drawn,
                                    StageIndex reader) {
  return TiledDraw(writer, drawn, reader).run();
}

}  // namespace tilewright::space
