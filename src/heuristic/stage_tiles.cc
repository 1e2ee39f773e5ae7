#include "heuristic/stage_tiles.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/rounding.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

constexpr int64_t kTasksPerThread = 4;  // parallel iterations, where there are as many
constexpr double kParallelWork = 8192;  // vector operations below which threads cost more
constexpr int64_t kCopiedBytes = 1
                                 << 19;  // of an operand, for one tile: a part of the second cache
constexpr int64_t kAcross = 16;          // side of a tile that is walked along both sides

// The loop of an axis that counts single elements.
VarIndex innermost_part(const LoopTree& tree, VarIndex var) {
  while (tree.var(var).is_split()) {
    var = static_cast<VarIndex>(tree.var(var).first_part + tree.var(var).parts - 1);
  }
  return var;
}

int64_t trips(const LoopTree& tree, StageIndex stage, Name loop) {
  const VarIndex found = tree.find_loop(stage, loop);
  return found == kNone ? 1 : tree.var(found).extent;
}

// The largest divisor of `extent` in [low, high], else `high`.
int64_t divisor_within(int64_t extent, int64_t low, int64_t high) {
  for (int64_t factor = high; factor >= low; --factor) {
    if (extent % factor == 0) return factor;
  }
  return high;
}

}  // namespace

bool StageTiler::is_worth_threads(StageIndex index) const {
  const Stage& stage = tree().stage(index);
  const int lanes =
      target_.lanes(std::max(1, ir::bytes_of(tree().buffer(stage.first_buffer).element)));
  return iterations_of(tree(), stage) * stage.instructions / lanes >= kParallelWork;
}

// Whole vectors, as many as divide the axis if some number does.
int64_t StageTiler::vector_tile(int64_t extent, int lanes, int vectors) const {
  const int64_t most = int64_t{lanes} * vectors;
  if (extent <= most) return extent;
  for (int count = vectors; count > vectors / 2; --count) {
    if (extent % (int64_t{lanes} * count) == 0) return int64_t{lanes} * count;
  }
  return most;
}

Tiles StageTiler::choose_tiles(StageIndex index, const AxisRoles& roles) const {
  Tiles tiles;
  if (!roles.has_vector()) return tiles;
  const Stage& stage = tree().stage(index);
  const auto extent = [&](int axis) {
    return tree().var(innermost_part(tree(), stage.axes[static_cast<size_t>(axis)])).extent;
  };
  const bool has_rows = roles.rows != kNoAxis && !roles.vector_reduces;
  if (!style_.vectors) {
    tiles.vector = std::min<int64_t>(4, extent(roles.vector));
    if (has_rows) tiles.rows = std::min<int64_t>(3, extent(roles.rows));
    return tiles;
  }
  const int lanes = target_.lanes(roles.element_bytes);
  const int64_t length = roles.vector_run > 0 ? std::min(roles.vector_run, extent(roles.vector))
                                              : extent(roles.vector);
  tiles.vector = vector_tile(length, lanes, style_.small ? 1 : has_rows ? 2 : 4);
  if (roles.vector_run > 0) tiles.vector = std::gcd(tiles.vector, roles.vector_run);
  if (has_rows) {
    const int64_t sums = target_.vector_registers() == 32 ? 28 : 12;
    const int64_t vectors = ceil_div(tiles.vector, lanes);
    const int64_t most = style_.small ? 6 : std::max<int64_t>(1, sums / vectors);
    const int64_t rows = extent(roles.rows);
    tiles.rows = rows <= most ? rows : divisor_within(rows, most / 2, std::min<int64_t>(most, 14));
  }
  if (roles.across != kNoAxis) tiles.vector = std::min(tiles.vector, kAcross);
  return tiles;
}

// Each loop of the stage in two where its axis has a tile that is smaller, in the order they have.
std::vector<StageTiler::Piece> StageTiler::cut_loops(StageIndex index, const AxisRoles& roles,
                                                     const Tiles& tiles) const {
  const Stage& stage = tree().stage(index);
  const auto loop_of = [&](int axis) {
    return axis == kNoAxis || static_cast<size_t>(axis) >= stage.axes.size()
               ? kNone
               : innermost_part(tree(), stage.axes[static_cast<size_t>(axis)]);
  };
  const VarIndex vector = loop_of(roles.vector);
  const VarIndex rows = tiles.rows > 0 ? loop_of(roles.rows) : kNone;
  const VarIndex across = loop_of(roles.across);
  std::vector<Piece> pieces;
  for (const VarIndex loop : stage.loops) {
    const LoopVar& var = tree().var(loop);
    Piece piece{.name = var.name, .reduces = var.kind == IterKind::Reduce};
    if (loop == vector) {
      piece.tile = tiles.vector;
      piece.is_vector = true;
    } else if (loop == rows) {
      piece.tile = tiles.rows;
    } else if (loop == across) {
      piece.tile = kAcross;
    }
    piece.split = piece.tile != 0 && piece.tile < var.extent;
    piece.in_batch = piece.tile == 0 &&
                     std::ranges::any_of(roles.batch, [&](int a) { return loop_of(a) == loop; });
    pieces.push_back(piece);
  }
  return pieces;
}

std::optional<StageTiler::Order> StageTiler::lay_out(StageIndex index, const AxisRoles& roles,
                                                     const Tiles& tiles) {
  const StageName name = name_of(index);
  std::vector<Step> steps;
  Order order;
  std::vector<Name> first, rest, reduce, vector;
  const std::vector<Piece> pieces = cut_loops(index, roles, tiles);
  const bool outside = std::ranges::any_of(pieces, [&](const Piece& piece) {
    return roles.vector_outside && piece.is_vector && piece.split;
  });
  for (const Piece& piece : pieces) {
    if (piece.split) steps.emplace_back(Split{name, piece.name, {piece.tile}, Tail::Peel});
    if (piece.tile != 0) {
      const Name inner = piece.split ? piece.name.child(1) : piece.name;
      (piece.is_vector ? vector : order.inner).push_back(inner);
      if (!piece.split) continue;
    }
    const Name outer = piece.split ? piece.name.child(0) : piece.name;
    // With the vector's loop outside, what every operand has goes before it, the rest behind.
    if (piece.reduces) {
      reduce.push_back(outer);
    } else if (outside && piece.in_batch) {
      first.push_back(outer);
    } else if (outside && piece.is_vector) {
      rest.insert(rest.begin(), outer);
    } else {
      rest.push_back(outer);
    }
  }
  order.outer = first;
  order.outer.insert(order.outer.end(), rest.begin(), rest.end());
  order.inner.insert(order.inner.end(), vector.begin(), vector.end());
  LoopList all;
  for (const std::vector<Name>* part : {&order.outer, &reduce, &order.inner}) {
    for (const Name loop : *part) all.push_back(loop);
  }
  if (all.size() > 1) steps.emplace_back(Reorder{name, all});
  if (!builder_.add(steps)) return std::nullopt;
  return order;
}

void StageTiler::annotate_inner(StageIndex index, const AxisRoles& roles) {
  if (!roles.has_vector()) return;
  const Stage& stage = tree().stage(index);
  const StageName name = stage.name;
  const size_t count = stage.loops.size();
  const Name last = tree().var(stage.loops[count - 1]).name;
  const VarIndex before = count > 1 ? stage.loops[count - 2] : kNone;
  const bool has_rows = before != kNone && tree().var(before).kind == IterKind::Spatial &&
                        tree().var(before).extent <= 28 && !roles.vector_reduces &&
                        roles.rows != kNoAxis;
  const Name rows = has_rows ? tree().var(before).name : Name();
  builder_.add({Annotate{name, last, style_.vectors ? Annotation::Vectorize : Annotation::Unroll}});
  if (has_rows) builder_.add({Annotate{name, rows, Annotation::Unroll}});
}

void StageTiler::chunk_first(StageIndex index, std::vector<Name>& outer) {
  const int64_t count = trips(tree(), index, outer[0]);
  const int64_t tasks = 4 * kTasksPerThread * target_.threads();
  if (outer.size() > 1 || count <= 4 * tasks) return;
  const Name loop = outer[0];
  if (!builder_.add({Split{name_of(index), loop, {ceil_div(count, tasks)}, Tail::Peel}})) return;
  outer = {loop.child(0), loop.child(1)};
}

std::optional<Name> StageTiler::make_parallel(StageIndex index, std::vector<Name>& outer,
                                              bool work_is_large) {
  if (outer.empty()) return std::nullopt;
  if (target_.threads() == 1 || !work_is_large) return outer[0];
  chunk_first(index, outer);
  const StageName name = name_of(index);
  LoopList loops;
  int64_t tasks = 1;
  while (loops.size() < outer.size() && tasks < kTasksPerThread * target_.threads()) {
    tasks *= trips(tree(), index, outer[loops.size()]);
    loops.push_back(outer[loops.size()]);
  }
  if (tasks < 2) return outer[0];
  Name loop = outer[0];
  if (loops.size() > 1 && builder_.add({Fuse{name, loops}})) {
    loop = Name::fuse(std::vector<Name>(loops.begin(), loops.end()));
    outer.erase(outer.begin() + 1, outer.begin() + static_cast<std::ptrdiff_t>(loops.size()));
    outer[0] = loop;
  }
  builder_.add({Annotate{name, loop, Annotation::Parallel}});
  return loop;
}

void StageTiler::pack_operands(StageIndex reader, const AxisRoles& roles, StageIndex owner,
                               const std::vector<Name>& outer) {
  if (!style_.packs || !roles.has_vector() || roles.rows == kNoAxis || roles.vector_reduces) return;
  const std::vector<Access> reads(tree().reads_of(tree().stage(reader)).begin(),
                                  tree().reads_of(tree().stage(reader)).end());
  const auto vector = static_cast<size_t>(roles.vector);
  const auto rows = static_cast<size_t>(roles.rows);
  for (const Access& access : reads) {
    if (!access_stride(tree(), access, vector).depends ||
        access_stride(tree(), access, rows).depends)
      continue;
    const Buffer& buffer = tree().buffer(access.buffer);
    if (buffer.is_constant) {
      builder_.add({Pack{name_of(buffer.stage), name_of(reader)}});
    } else if (!outer.empty()) {
      copy_operand(access, reader, owner, outer, roles);
    }
  }
}

// A copy of what one outermost iteration reads, in the order in which it is read; where enough
// iterations inside use it again.
void StageTiler::copy_operand(const Access& access, StageIndex reader, StageIndex owner,
                              const std::vector<Name>& outer, const AxisRoles& roles) {
  const Buffer& buffer = tree().buffer(access.buffer);
  const VarIndex at = tree().find_loop(owner, outer[0]);
  if (at == kNone) return;
  std::array<RegionDim, kMaxRank> dims;
  region_of(tree(), access, owner, at, dims.data());
  int64_t bytes = ir::bytes_of(buffer.element);
  for (size_t d = 0; d < access.rank; ++d) bytes *= dims[d].extent;
  double uses = 1;
  for (size_t k = 1; k < outer.size(); ++k) {
    uses *= static_cast<double>(trips(tree(), owner, outer[k]));
  }
  const bool strided =
      !access_stride(tree(), access, static_cast<size_t>(roles.vector)).is_contiguous();
  if (bytes > kCopiedBytes || bytes < 1024 || uses < (strided ? 2 : 4)) return;
  const StageName source = name_of(buffer.stage);
  const StageName copy{.op = source.op, .role = StageRole::Read};
  if (!builder_.add({CacheRead{source, {name_of(reader)}},
                     ComputeAt{copy, name_of(owner), outer[0]}, Pack{copy, name_of(reader)}})) {
    return;
  }
  const StageIndex made = tree().find_stage(copy);
  const Stage& stage = tree().stage(made);
  if (stage.loops.empty()) return;
  const LoopVar& last = tree().var(stage.loops.back());
  const int64_t tile = vector_tile(last.extent, target_.lanes(ir::bytes_of(buffer.element)), 2);
  const Name loop = last.name;
  if (tile < last.extent && builder_.add({Split{copy, loop, {tile}, Tail::Peel}})) {
    builder_.add({Annotate{copy, loop.child(1), Annotation::Vectorize}});
  } else {
    builder_.add({Annotate{copy, loop, Annotation::Vectorize}});
  }
}

void StageTiler::tile_inner(StageIndex index) {
  const AxisRoles roles = axis_roles(tree(), index, target_, false);
  if (!lay_out(index, roles, choose_tiles(index, roles))) return;
  annotate_inner(index, roles);
  unroll_constants(index);
}

void StageTiler::tile_root(StageIndex index) {
  if (tile_transform(index)) return;
  const bool heavy = is_heavy(tree(), index);
  const bool large = is_worth_threads(index);
  const AxisRoles roles = axis_roles(tree(), index, target_, heavy && style_.packs);
  auto order = lay_out(index, roles, choose_tiles(index, roles));
  if (!order) return;
  make_parallel(index, order->outer, large);
  annotate_inner(index, roles);
  unroll_constants(index);
  if (heavy) pack_operands(index, roles, index, order->outer);
}

std::optional<Name> StageTiler::tile_led(StageIndex index, int lead) {
  const bool large = is_worth_threads(index);
  const AxisRoles roles = axis_roles(tree(), index, target_, false);
  const Stage& stage = tree().stage(index);
  const StageName name = stage.name;
  std::vector<Name> outer;
  double row = 1;
  for (size_t axis = 0; axis < stage.axes.size(); ++axis) {
    const LoopVar& var = tree().var(stage.axes[axis]);
    if (static_cast<int>(axis) < lead) {
      outer.push_back(var.name);
    } else {
      row *= static_cast<double>(var.extent);
    }
  }
  // Blocks of rows where rows are short.
  const int64_t last = trips(tree(), index, outer.back());
  const int64_t most = std::max<int64_t>(1, last / (kTasksPerThread * target_.threads()));
  const int64_t block = std::min(most, static_cast<int64_t>(2048 / std::max(1.0, row)));
  if (block > 1 && builder_.add({Split{name, outer.back(), {block}, Tail::Peel}})) {
    outer.back() = outer.back().child(0);
  }
  // The rest of the loops: the vector innermost.
  if (roles.has_vector() && roles.vector >= lead) {
    const Tiles tiles = choose_tiles(index, roles);
    const VarIndex vector = tree().stage(index).axes[static_cast<size_t>(roles.vector)];
    const LoopVar& var = tree().var(vector);
    if (tiles.vector < var.extent) {
      builder_.add({Split{name, var.name, {tiles.vector}, Tail::Peel}});
    }
    LoopList loops;
    const VarIndex inner = innermost_part(tree(), vector);
    for (const VarIndex loop : tree().stage(index).loops) {
      if (loop != inner) loops.push_back(tree().var(loop).name);
    }
    loops.push_back(tree().var(inner).name);
    if (builder_.add({Reorder{name, loops}})) annotate_inner(index, roles);
  }
  Name loop = outer[0];
  if (outer.size() > 1) {
    LoopList loops;
    for (const Name each : outer) loops.push_back(each);
    if (!builder_.add({Fuse{name, loops}})) return std::nullopt;
    loop = Name::fuse(outer);
  }
  if (large && target_.threads() > 1) builder_.add({Annotate{name, loop, Annotation::Parallel}});
  return loop;
}

void StageTiler::tile_pair(StageIndex reader, StageIndex heavy) {
  const bool large = is_worth_threads(heavy);
  const AxisRoles roles = axis_roles(tree(), heavy, target_, style_.packs);
  const auto order = [&]() -> std::optional<Order> {
    if (!roles.has_vector() || roles.vector_reduces) return std::nullopt;
    return lay_out(reader, roles, choose_tiles(heavy, roles));
  }();
  if (!order || order->outer.empty()) {
    tile_root(heavy);
    if (!order) tile_root(reader);
    return;
  }
  std::vector<Name> outer = order->outer;
  make_parallel(reader, outer, large);
  annotate_inner(reader, roles);
  if (!builder_.add({ComputeAt{name_of(heavy), name_of(reader), outer.back()}})) {
    tile_root(heavy);
    return;
  }
  const AxisRoles inner = axis_roles(tree(), heavy, target_, style_.packs);
  AxisRoles same = roles;  // the axes keep what they were chosen for, though tiles are small now
  same.batch = inner.batch;
  const auto vector = static_cast<size_t>(roles.vector);
  Tiles whole{.vector = tree().var(tree().stage(heavy).axes[vector]).extent, .rows = 0};
  if (roles.rows != kNoAxis) {
    whole.rows = tree().var(tree().stage(heavy).axes[static_cast<size_t>(roles.rows)]).extent;
  }
  if (!lay_out(heavy, same, whole)) return;
  annotate_inner(heavy, same);
  pack_operands(heavy, same, reader, outer);
}

}  // namespace tilewright::heuristic
