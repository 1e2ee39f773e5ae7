#include "heuristic/chain_plan.h"

#include <algorithm>
#include <set>

#include "heuristic/axis_roles.h"
#include "heuristic/nest_plan.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

class ChainFinder {
 public:
  ChainFinder(const LoopTree& tree, StageIndex root, StageIndex last) : tree_(tree), last_(last) {
    chain_.root = root;
  }

  std::optional<Chain> run() {
    find_members();
    if (chain_.products.size() < 2 || !find_dims()) return std::nullopt;
    const size_t axes = tree_.stage(chain_.root).dims.size();
    for (size_t axis = 0; axis < axes; ++axis) {
      const bool all = std::ranges::all_of(
          chain_.members, [&](StageIndex member) { return chain_.dims.at(member)[axis] >= 0; });
      if (all) chain_.shared.push_back(static_cast<int>(axis));
    }
    if (chain_.shared.empty()) return std::nullopt;
    find_rows();
    measure_rows();
    return std::move(chain_);
  }

 private:
  // Per stage: its dimension for each axis of the root; -1: none.
  using Dims = std::vector<int>;

  // Backwards from the last reduction: tiled reductions and stages that depend on one.
  void find_members() {
    std::set<StageIndex> deep;  // tiled reductions and stages that depend on them
    for (const StageIndex index : tree_.order) {
      if (!tree_.stage(index).has_loops()) continue;
      bool depends = is_heavy(tree_, index);
      for (const Access& access : tree_.reads_of(tree_.stage(index))) {
        depends = depends || deep.contains(tree_.buffer(access.buffer).stage);
      }
      if (depends) deep.insert(index);
    }
    for (size_t k = tree_.order.size(); k-- > 0;) {
      const StageIndex index = tree_.order[k];
      if (!deep.contains(index) || index == chain_.root || tree_.is_output(index)) continue;
      chain_.members.push_back(index);
      if (is_heavy(tree_, index)) chain_.products.push_back(index);
    }
  }

  // Only stages of the chain read its members.
  bool find_dims() {
    const size_t axes = tree_.stage(chain_.root).dims.size();
    Dims own(axes);
    for (size_t axis = 0; axis < axes; ++axis) own[axis] = static_cast<int>(axis);
    chain_.dims[chain_.root] = own;
    for (const StageIndex member : chain_.members) {
      std::optional<Dims> dims;
      for (const Access* access : accesses_to(tree_, member)) {
        const auto reader = chain_.dims.find(access->stage);
        if (reader == chain_.dims.end()) return false;
        const Dims here = dims_in(*access, reader->second);
        if (!dims) dims = here;
        for (size_t axis = 0; axis < axes; ++axis) {
          if ((*dims)[axis] != here[axis]) (*dims)[axis] = -1;
        }
      }
      if (!dims) return false;
      chain_.dims[member] = *std::move(dims);
    }
    return chain_.dims.contains(last_);
  }

  // The dimension of the operand in which each axis of the reader occurs, whole.
  Dims dims_in(const Access& access, const Dims& reader) const {
    const Buffer& buffer = tree_.buffer(access.buffer);
    const Stage& stage = tree_.stage(access.stage);
    Dims dims(reader.size(), -1);
    for (size_t axis = 0; axis < reader.size(); ++axis) {
      if (reader[axis] < 0) continue;
      const auto own = static_cast<size_t>(reader[axis]);
      for (size_t d = 0; d < access.rank; ++d) {
        const AccessDim& dim = tree_.dims[access.first_dim + d];
        const bool is_axis = dim.affine && dim.index.constant == 0 && dim.index.terms.size() == 1 &&
                             dim.index.terms[0].var == own && dim.index.terms[0].coefficient == 1;
        if (is_axis && tree_.var(stage.dims[own]).extent == buffer.extent[d]) {
          dims[axis] = static_cast<int>(d);
        }
      }
    }
    return dims;
  }

  // Along rows, some operand of each product is invariant.
  void find_rows() {
    int64_t longest = 1;
    for (const int axis : chain_.shared) {
      const bool reuses = std::ranges::all_of(chain_.products, [&](StageIndex product) {
        const auto at = static_cast<size_t>(chain_.dims.at(product)[static_cast<size_t>(axis)]);
        return std::ranges::any_of(tree_.reads_of(tree_.stage(product)), [&](const Access& access) {
          return !access_stride(tree_, access, at).depends;
        });
      });
      const Stage& root = tree_.stage(chain_.root);
      const int64_t extent = tree_.var(root.dims[static_cast<size_t>(axis)]).extent;
      if (!reuses || extent <= longest) continue;
      longest = extent;
      chain_.rows = axis;
    }
  }

  void measure_rows() {
    for (const StageIndex member : chain_.members) {
      const Stage& stage = tree_.stage(member);
      const Buffer& buffer = tree_.buffer(stage.first_buffer);
      int64_t bytes = ir::bytes_of(buffer.element);
      for (size_t d = 0; d < buffer.rank; ++d) {
        const bool shared = std::ranges::any_of(chain_.shared, [&](int axis) {
          return chain_.dims.at(member)[static_cast<size_t>(axis)] == static_cast<int>(d);
        });
        if (!shared) bytes *= buffer.extent[d];
      }
      chain_.row_bytes = std::max(chain_.row_bytes, bytes);
    }
  }

  const LoopTree& tree_;
  StageIndex last_;
  Chain chain_;
};

}  // namespace

std::optional<Chain> find_chain(const LoopTree& tree, StageIndex root, StageIndex last) {
  return ChainFinder(tree, root, last).run();
}

}  // namespace tilewright::heuristic
