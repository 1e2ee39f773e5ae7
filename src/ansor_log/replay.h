// Replay: replays the steps of one Ansor schedule and writes them as a trace. It keeps the list of
// stages and loops that the next step refers to; ansor_log/steps.h describes how positions shift.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ansor_log/stages.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "schedule/trace.h"

namespace tilewright::ansor_log {

std::unexpected<Error> refuse(std::string message);

class Replay {
 public:
  explicit Replay(const schedule::LoopTree& initial);  // `initial` outlives it

  Status step(const Json& json);

  // The trace so far, then the locations of the stages, then optimizations, as far as they are
  // legal.
  Result<schedule::Trace> finish();

 private:
  // The stage and the loop given by arguments 1 and 2.
  struct LoopRef {
    StageState* stage = nullptr;
    size_t loop = 0;
  };
  struct SplitMade {
    std::string stage, loop;
    std::vector<int64_t> factors;
  };

  // Arguments of a step; a missing position is an error.
  static Result<int64_t> integer(const Json& json, size_t at);
  static Result<std::vector<int64_t>> integers(const Json& json, size_t at);
  Result<size_t> position(const Json& json, size_t at) const;
  Result<StageState*> stage_at(const Json& json, size_t at);
  static Result<size_t> loop_at(const StageState& stage, int64_t number);
  Result<LoopRef> loop_ref(const Json& json);
  std::string names() const;

  // Steps that change loops.
  Status split(const Json& json);
  Status follow_split(const Json& json);
  Status follow_fused_split(const Json& json);
  Status fuse(const Json& json);
  Status reorder(const Json& json);
  Status annotate(const Json& json);
  Status pragma(const Json& json);
  // Replaces a loop by the parts of its split.
  void replace_by_parts(const LoopRef& at_loop, const std::vector<int64_t>& factors);
  void move_attached(const std::string& target, const std::string& from, const std::string& to);
  Result<SplitMade> split_of_step(int64_t number) const;
  void write_order(const StageState& stage);

  // Steps that attach or create stages.
  Status compute_at(const Json& json);
  Status compute_inline(const Json& json);
  Status compute_root(const Json& json);
  Status cache_write(const Json& json);
  Status cache_read(const Json& json);
  Status rfactor(const Json& json);
  Result<StageState> made_stage(const std::string& name) const;  // after the steps so far

  // Optimizations.
  std::string unrolls() const;
  std::string packs() const;

  Result<schedule::LoopTree> tree_of(const std::string& text) const;
  Result<schedule::Trace> legal(const std::string& text) const;

  const schedule::LoopTree& initial_;
  std::vector<StageState> stages_;  // in Ansor's numbering
  std::vector<SplitMade> splits_;   // per step; empty for other steps
  std::vector<std::string> annotated_;
  std::map<std::string, int> reads_;
  std::string text_;
};

}  // namespace tilewright::ansor_log
