// The statements of a program with their surrounding loops, as numbers: mean trip counts, the order
// of statements, and the share of a nest in partial tiles.
//
// A loop that is shorter in the last tile counts with its mean, so that the product of the loops
// around a statement is the number of its executions:
//
//   i < 10 as i.0 < 3, i.1 < 4 or fewer:  i.1 runs 4, 4 and 2 times, 10/3 on average; 3 * 10/3 = 10
#pragma once

#include <cstdint>
#include <vector>

#include "base/inline_vector.h"
#include "schedule/loop_tree.h"

namespace tilewright::feature {

enum class StatementKind : uint8_t { Value, Copy, Init, Update };

struct Statement {
  schedule::StageIndex stage = schedule::kNone;
  StatementKind kind = StatementKind::Value;
  double iterations = 1;
};

// One loop around a statement. Loops of one iteration are left out.
struct NestLoop {
  schedule::VarIndex var = schedule::kNone;
  schedule::StageIndex stage = schedule::kNone;
  schedule::Annotation annotation = schedule::Annotation::None;
  schedule::IterKind kind = schedule::IterKind::Spatial;
  schedule::ThreadAxis bound = schedule::ThreadAxis::None;
  // Of an update. The lanes of an intrinsic count as vectorized, its rows and factors as unrolled.
  schedule::IntrinsicAxis intrinsic = schedule::IntrinsicAxis::None;
  int64_t extent = 1;
  double trips = 1;

  bool is_parallel() const {
    return annotation == schedule::Annotation::Parallel || bound != schedule::ThreadAxis::None;
  }
};

inline constexpr size_t kMaxLevels = 64;  // deeper nests keep the innermost ones

// The loops around a statement, outermost first.
struct Nest {
  InlineVector<NestLoop, kMaxLevels> levels;
  size_t own = 0;                     // the first level that belongs to the statement's stage
  double inner[kMaxLevels + 1] = {};  // NOLINT: iterations of the levels from k inwards
  double outside = 1;                 // iterations of loops beyond kMaxLevels

  size_t size() const { return levels.size(); }
  double iterations() const { return outside * inner[0]; }
  // Iterations of the levels outside level k.
  double outer(size_t k) const { return outside * inner[0] / inner[k]; }
};

// Holds scratch memory: created once, used for many programs.
class NestFinder {
 public:
  // Prepares the data that all statements of a tree share.
  void begin(const schedule::LoopTree& tree);

  const std::vector<Statement>& statements() const { return statements_; }
  void make_nest(const Statement& statement, Nest* nest);

  // The level of a loop in the last nest; -1 if it is not one of its loops.
  int level_of(schedule::VarIndex loop) const { return level_of_[static_cast<size_t>(loop)]; }
  // The number of levels of that nest outside one iteration of the given loop.
  size_t levels_outside(const Nest& nest, schedule::StageIndex stage,
                        schedule::VarIndex loop) const;

  double ragged_share(schedule::StageIndex stage) const;  // share of its iterations
  double overlap(schedule::StageIndex stage) const {
    return facts_[static_cast<size_t>(stage)].overlap;
  }

 private:
  struct StageFacts {
    double even = 1;     // share of the iterations outside of partial tiles
    double overlap = 1;  // covered elements / elements
  };

  void set_trips(schedule::VarIndex index);
  void set_parts(const schedule::LoopVar& whole, double count);
  void set_attached_means();
  void set_attached_means(schedule::StageIndex stage);
  void add_statements(schedule::StageIndex stage);
  void add_statement(schedule::StageIndex stage, StatementKind kind);
  void add_levels(const Statement& statement, schedule::StageIndex index, int count, Nest* nest);
  double trips_around(const schedule::Stage& stage) const;

  const schedule::LoopTree* tree_ = nullptr;
  std::vector<double> trips_;  // per variable
  std::vector<int16_t> level_of_;
  std::vector<StageFacts> facts_;
  std::vector<Statement> statements_;
};

// True if the stage is a reduction.
bool reduces(const schedule::LoopTree& tree, const schedule::Stage& stage);

}  // namespace tilewright::feature
