// How the loops of one stage are laid out by default: its outer loops in an order that reuses what
// is in cache, reductions inside of them, and a register tile innermost.
//
//   C[i, j] += A[i, k] * B[k, j]     for j.0:  for i.0:  for k:  unroll i.1 < 8:  vectorize j.1 <
//   32 Y[i, j] = exp(X[i, j])           for i:  for j.0:  vectorize j.1 < 64 S[i] += X[i, k] for i:
//   for k.0:  vectorize k.1 < 64
#pragma once

#include <optional>
#include <vector>

#include "heuristic/axis_roles.h"
#include "heuristic/chain_plan.h"
#include "schedule/trace_builder.h"

namespace tilewright::heuristic {

struct TileStyle {
  bool vectors = true;  // else the innermost loop is unrolled, and short
  bool small = false;   // one vector and a few rows where otherwise the registers are filled
  bool packs = true;    // operands may be copied or laid out anew
};

// Tile sizes of the two axes that have roles; 0 where there is no such axis. A tile as large as
// its axis is no split.
struct Tiles {
  int64_t vector = 0;
  int64_t rows = 0;
};

class StageTiler {
 public:
  StageTiler(schedule::TraceBuilder& builder, const Target& target, const TileStyle& style)
      : builder_(builder), target_(target), style_(style) {}

  // A stage at root. `lead` leading axes are outermost and one parallel loop of their own, in
  // blocks; gives the loop to which what belongs to the rows of one block is attached.
  std::optional<Name> tile_led(schedule::StageIndex stage, int lead);
  // A stage at root, alone.
  void tile_root(schedule::StageIndex stage);
  // A stage that is attached somewhere, or a part of the work that is too small for threads.
  void tile_inner(schedule::StageIndex stage);
  // `heavy` is computed tile by tile inside `reader`, which reads it element by element.
  void tile_pair(schedule::StageIndex reader, schedule::StageIndex heavy);
  // All members by blocks of rows of the root; false where the root cannot have such loops.
  bool tile_chain(const Chain& chain);

 private:
  struct Order {
    std::vector<Name> outer, inner;  // the reductions stand between them
  };

  // One loop as it stands, and what is to become of it.
  struct Piece {
    Name name;
    bool reduces = false;
    bool is_vector = false;
    bool in_batch = false;
    bool split = false;  // else it is one loop: inside when it has a tile
    int64_t tile = 0;
  };

  const schedule::LoopTree& tree() const { return builder_.tree(); }
  schedule::StageName name_of(schedule::StageIndex stage) const { return tree().stage(stage).name; }
  Tiles choose_tiles(schedule::StageIndex stage, const AxisRoles& roles) const;
  int64_t vector_tile(int64_t extent, int lanes, int vectors) const;

  std::vector<Piece> cut_loops(schedule::StageIndex stage, const AxisRoles& roles,
                               const Tiles& tiles) const;
  std::optional<Order> lay_out(schedule::StageIndex stage, const AxisRoles& roles,
                               const Tiles& tiles);
  void annotate_inner(schedule::StageIndex stage, const AxisRoles& roles);
  // Makes one parallel loop of the outermost ones; gives its name, or that of the first loop.
  std::optional<Name> make_parallel(schedule::StageIndex stage, std::vector<Name>& outer,
                                    bool work_is_large);
  void chunk_first(schedule::StageIndex stage, std::vector<Name>& outer);
  void pack_operands(schedule::StageIndex reader, const AxisRoles& roles,
                     schedule::StageIndex owner, const std::vector<Name>& outer);
  void copy_operand(const schedule::Access& access, schedule::StageIndex reader,
                    schedule::StageIndex owner, const std::vector<Name>& outer,
                    const AxisRoles& roles);
  bool is_worth_threads(schedule::StageIndex stage) const;

  // stage_constants.cc
  bool tile_transform(schedule::StageIndex stage);
  int64_t copies_of(schedule::StageIndex stage) const;
  void unroll_constants(schedule::StageIndex stage);

  // stage_chain.cc
  int64_t rows_of(const Chain& chain) const;
  std::optional<Name> lay_out_root(const Chain& chain);
  void tile_product(const Chain& chain, schedule::StageIndex product);
  void copy_whole(const schedule::Access& access, schedule::StageIndex reader,
                  const AxisRoles& roles);

  schedule::TraceBuilder& builder_;
  const Target& target_;
  TileStyle style_;
};

}  // namespace tilewright::heuristic
