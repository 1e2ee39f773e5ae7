// Annotator: the state shared by the files of space/annotate. Not thread-safe.
#pragma once

#include <map>
#include <set>

#include "heuristic/nest_plan.h"
#include "space/draft.h"
#include "space/draft_writer.h"

namespace tilewright::space {

// A loop that the steps will create, with its approximate extent.
struct PlannedLoop {
  Name name;
  int64_t extent = 1;
};

// The loops of a stage that is not tiled.
struct PlainLoops {
  std::vector<PlannedLoop> lead;   // shared by a nest of rows; the last may be a block of rows
  std::vector<PlannedLoop> outer;  // spatial loops outside of everything else, outermost first
  Name block;  // the loop over a block of rows, where a RowStage is computed; empty: none
  Name row;    // inside `block`; empty: none
  int16_t row_step = -1;  // the split that creates both
  Name lane;              // empty: none
};

// How the outer loops are divided into blocks: by rows of this stage, by the blocks of another
// stage, or, without rows, into chunks for threads.
enum class RowBlocks : uint8_t { Own, Shared, Chunks };

// A stage at root, and the loops inside which other stages may be computed: one of several variants
// of its loops, each with the steps that create them.
struct Nest {
  struct Variant {
    DraftWriter::Steps steps{};  // inserted at `site`
    std::vector<Name> loops{};   // outermost first
  };
  StageName root;
  int16_t site = -1;  // position of the steps; -1: there is one variant without steps
  std::vector<Variant> variants{};
  std::set<te::OpId> inside{};   // operators computed inside it
  std::set<te::OpId> blocked{};  // those of them that are always computed at loop 1
};

class Annotator {
 public:
  Annotator(const SpaceContext& context, Draft draft);
  schedule::Sketch run();

 private:
  using Steps = DraftWriter::Steps;

  // annotate.cc
  void annotate_operator(te::OpId op);
  bool is_open(te::OpId op) const;  // no rule has decided on it
  schedule::StageIndex index_of(te::OpId op) const { return static_cast<schedule::StageIndex>(op); }
  bool is_worth_threads(te::OpId op) const;

  // annotate_factored.cc
  void annotate_factored(const FactoredStage& factored);
  void lay_out_fold(te::OpId op);

  // annotate_tiled.cc
  void annotate_tiled(const TiledStage& tiled);
  Name lay_out_owner(const TiledStage& tiled);
  void lay_out_inner(const TiledStage& tiled);
  void annotate_innermost(StageName stage, const std::vector<Name>& loops, Name lane);
  bool unrolls_always(te::OpId op, Name loop) const;
  void keep_hinted(StageName stage, const std::vector<Name>& loops,
                   std::vector<Steps>& choices) const;
  void unroll_windows(const TiledStage& tiled);
  void unroll_reductions(const TiledStage& tiled);

  // annotate_plain.cc: splits, loop order and lanes of one stage
  PlainLoops lay_out_plain(te::OpId op, int lead, RowBlocks blocks);
  void annotate_root(te::OpId op);
  std::vector<Nest::Variant> threads_of(StageName stage, const PlainLoops& loops, bool worth) const;
  Steps parallel_steps(StageName stage, const std::vector<PlannedLoop>& loops) const;

  // annotate_rows.cc
  const RowStage* rows_in(te::OpId root) const;
  TiledStage lay_out_rows(const RowStage& rowed, const PlainLoops& loops);
  // Loop order j.0, i.0, k, i.1, j.1 of a reduction whose axis `rows` is split (-1: none), with
  // lanes in tiles of at most `vectors` vectors.
  void lay_out_sums(TiledStage* tiled, int rows, int64_t vectors);

  // annotate_chain.cc
  void annotate_chain(te::OpId root);

  // annotate_nest.cc: members of a nest
  void place_members(Nest& nest);

  // annotate_operands.cc
  void annotate_operands(const TiledStage& tiled, Name threads);

  const SpaceContext& context_;
  Draft draft_;
  DraftWriter writer_;
  schedule::LoopTree tree_;  // with the draft's inlined stages inlined
  heuristic::NestPlan plan_;
  std::set<te::OpId> placed_;  // members of nests
};

}  // namespace tilewright::space
