// Replay: the steps of one schedule of Ansor's, taken one after the other, and written down as text
// of ours. It has the list of stages and loops that the next step acts upon; which positions shift
// how is in ansor_log/steps.h.
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
  explicit Replay(const schedule::LoopTree& initial);  // outlives it

  Status step(const Json& json);

  // What was written so far, then where the stages are computed; later what makes it quick: of
  // those, as much as is legal.
  Result<schedule::Trace> finish();

 private:
  // The stage and loop that arguments 1 and 2 name.
  struct Place {
    StageState* stage = nullptr;
    size_t loop = 0;
  };
  struct SplitMade {
    std::string stage, loop;
    std::vector<int64_t> factors;
  };

  // Arguments of a step; a position that is not there is an error.
  static Result<int64_t> integer(const Json& json, size_t at);
  static Result<std::vector<int64_t>> integers(const Json& json, size_t at);
  Result<size_t> position(const Json& json, size_t at) const;
  Result<StageState*> stage_at(const Json& json, size_t at);
  static Result<size_t> loop_at(const StageState& stage, int64_t number);
  Result<Place> place(const Json& json);
  std::string names() const;

  // Steps that change loops: loops.cc.
  Status split(const Json& json);
  Status follow_split(const Json& json);
  Status follow_fused_split(const Json& json);
  Status fuse(const Json& json);
  Status reorder(const Json& json);
  Status annotate(const Json& json);
  Status pragma(const Json& json);
  // Puts the parts of a split in the place of their loop.
  void replace_by_parts(const Place& place, const std::vector<int64_t>& factors);
  void move_attached(const std::string& target, const std::string& from, const std::string& to);
  Result<SplitMade> split_of_step(int64_t number) const;
  void write_order(const StageState& stage);

  // Steps that place stages or make them: places.cc.
  Status compute_at(const Json& json);
  Status compute_inline(const Json& json);
  Status compute_root(const Json& json);
  Status cache_write(const Json& json);
  Status cache_read(const Json& json);
  Status rfactor(const Json& json);
  Result<StageState> made_stage(const std::string& name) const;  // as the steps so far have made it

  // What makes it quick.
  std::string unrolls() const;
  std::string packs() const;

  Result<schedule::LoopTree> tree_of(const std::string& text) const;
  Result<schedule::Trace> legal(const std::string& text) const;

  const schedule::LoopTree& initial_;
  std::vector<StageState> stages_;  // as Ansor numbers them
  std::vector<SplitMade> splits_;   // by step; of other steps empty
  std::vector<std::string> annotated_;
  std::map<std::string, int> reads_;
  std::string text_;
};

}  // namespace tilewright::ansor_log
