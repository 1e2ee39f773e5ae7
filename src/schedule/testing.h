// For tests of schedules: trees of traces on operators given as text, and the two case tables that
// every step has.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/apply.h"
#include "schedule/program_hash.h"
#include "task/workload.h"

namespace tilewright::schedule::testing {

// Parses a valid trace; throws otherwise.
Trace trace_of(std::string_view text);

// A workload with its initial tree.
class Workbench {
 public:
  explicit Workbench(std::string_view operator_text, IntrinsicTable intrinsics = all_intrinsics());
  explicit Workbench(std::shared_ptr<const te::Dag> dag,
                     IntrinsicTable intrinsics = all_intrinsics());

  LoopTree tree(std::string_view steps) const&;           // throws the explanation if illegal
  LoopTree tree(std::string_view steps) && = delete;      // the tree points into the workload
  Illegal refusal(std::string_view steps) const;          // None if legal
  std::string explanation(std::string_view steps) const;  // of the Illegal
  Hash128 hash(std::string_view steps) const { return program_hash(this->tree(steps)); }

  const Workload& workload() const { return workload_; }
  const LoopTree& initial() const { return initial_; }

 private:
  Workload workload_;
  LoopTree initial_;
};

StageName stage_of(std::string_view text);
// The only read of `producer`'s buffer by `reader`; throws if there is none.
const Access& access_of(const LoopTree& tree, std::string_view reader, std::string_view producer);
const LoopVar& var_of(const LoopTree& tree, std::string_view stage, std::string_view name);

// A form with variable names: `8*y.0 + ry - 1`, `0`.
std::string form_text(const LoopTree& tree, const arith::Affine& form);
// Regions as text, one per dimension: base : extent [by stride] exact|hull, or whole extent; then
// `clipped`. `8*y.0 : 9 exact; 0 : 4 by 2 exact; whole 16 clipped`
std::string regions_text(const LoopTree& tree, std::span<const RegionDim> dims);
// The regions of an access at the allocation of its buffer.
std::string regions_text(const LoopTree& tree, const Access& access);

struct LegalCase {
  std::string workload;
  std::string before;  // steps
  std::string step;
  std::string loops;  // LoopTree::to_string without the lines of inputs
};
struct IllegalCase {
  std::string workload;
  std::string before;
  std::string step;
  IllegalCode code;
  std::vector<std::string> says;  // each is a substring of the explanation
};

// Applies each case, and checks that the step round-trips through text and JSON.
void check_legal(const std::vector<LegalCase>& cases);
// Checks that each case is rejected with its code, attributed to `step`, and explained.
void check_illegal(const std::vector<IllegalCase>& cases);
// Checks that the step round-trips through text and JSON.
void check_round_trip(std::string_view step);

}  // namespace tilewright::schedule::testing
