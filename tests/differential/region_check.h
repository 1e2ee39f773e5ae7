// RegionChecker: compares regions with touched elements. Each element that the interpreter of a
// nest reads must lie in the regions of its access at every surrounding loop. If a dimension is
// exact, every element of its region must be touched.
//
//   for i.0 < 2: for i.1 < 3: ... X[i.0 * 3 + i.1]
//   at i.0, region 3*i.0 + [0, 3), exact:   i.0 = 1 touches 3, 4 and 5: equal
//
// Observes one run; the tree, the nest and the bindings outlive it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/interp/interp.h"
#include "lower/build_nest.h"
#include "schedule/loop_tree.h"

namespace tilewright::testing {

struct RegionCount {
  int64_t touched = 0;  // elements, in one dimension at one loop, compared with a region
  int64_t regions = 0;  // dimensions of an access at one loop
  int64_t exact = 0;    // of those: exact ones
  int64_t equal = 0;    // ranges for one value of the outer loops, equal to the touched elements

  void add(const RegionCount& other);
  std::string text() const;
};

class RegionChecker {
 public:
  RegionChecker(const schedule::LoopTree& tree, const ir::Function& nest,
                const std::vector<lower::LoopBinding>& bindings);

  void on_access(const codegen::AccessEvent& event, const codegen::Environment& environment);

  std::string finish();  // the first error; empty: none
  const RegionCount& count() const { return count_; }

 private:
  using Index = std::vector<int64_t>;
  using Dims = std::vector<schedule::RegionDim>;
  // The regions of one live access: at root, then at each loop of its stage from the outside in.
  struct Reader {
    const schedule::Access* access = nullptr;
    std::vector<schedule::VarIndex> around;  // loops outside its stage, outermost first
    std::vector<Dims> at;
    bool is_known = false;  // no other access reads the buffer, and its content is known
  };
  // The elements touched at one point for fixed values of the outer loops.
  struct Touched {
    Index base;
    std::vector<std::set<int64_t>> dims;
  };
  struct Key {
    size_t reader;
    size_t point;
    Index outside;
    auto operator<=>(const Key&) const = default;
  };

  void add_reader(const schedule::Access& access);
  bool in_writer(const schedule::Stage& writer, const codegen::Environment& environment) const;
  int64_t value_of(schedule::VarIndex var, const codegen::Environment& environment) const;
  int64_t evaluate(const arith::Affine& form, const codegen::Environment& environment) const;
  Index logical_index(const codegen::AccessEvent& event,
                      const codegen::Environment& environment) const;
  std::string first_outside(const Reader& reader, const Index& index,
                            const codegen::Environment& environment);
  std::string outside_at(const Reader& reader, size_t point, const Index& index,
                         const codegen::Environment& environment);
  int64_t origin_slack(const schedule::Access& access, size_t dim) const;
  bool knows_elements(const schedule::Access& access) const;
  void collect(size_t reader, const Index& index, const codegen::Environment& environment);
  std::string first_unequal(const Key& key, const Touched& touched);
  std::string describe(const Reader& reader, size_t point, size_t dim) const;

  const schedule::LoopTree& tree_;
  const ir::Function& nest_;
  std::vector<std::vector<ir::VarId>> vars_;  // the IR variables of each loop
  std::vector<layout::Layout> layouts_;       // by buffer
  std::vector<Reader> readers_;
  std::vector<std::vector<size_t>> reads_;  // of a buffer, in readers_
  std::map<Key, Touched> touched_;
  int64_t events_ = 0;
  RegionCount count_;
  std::string problem_;
};

}  // namespace tilewright::testing
