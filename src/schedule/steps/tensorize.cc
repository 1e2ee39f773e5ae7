#include "schedule/steps/tensorize.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "ir/fold.h"
#include "schedule/intrinsics.h"
#include "schedule/numbers.h"

namespace tilewright::schedule {
namespace {

// The distance in memory that a loop moves along a dimension of a buffer, if its coefficient in the
// index is `weight`; empty if it leaves its digit: then its steps are of different lengths.
std::optional<int64_t> step_in_memory(const layout::Layout& layout, uint32_t dim, int64_t weight,
                                      int64_t extent) {
  std::optional<int64_t> step;
  int64_t largest = 0;  // divisor so far
  int64_t stride = 1;
  for (size_t k = layout.digits.size(); k-- > 0; stride *= layout.digits[k].extent) {
    const layout::Digit& digit = layout.digits[k];
    if (digit.dim != dim || weight % digit.divisor != 0 || digit.divisor < largest) continue;
    largest = digit.divisor;
    const int64_t count = weight / digit.divisor;
    step = count * extent <= digit.extent ? std::optional(count * stride) : std::nullopt;
  }
  return step;
}

// Checks one tensorized loop against its intrinsic.
class TensorizedCheck {
 public:
  TensorizedCheck(const LoopTree& tree, const TensorizedLoop& at)
      : tree_(tree), at_(at), stage_(tree.stage(at.stage)), intrinsic_(tree.intrinsic_of(at)) {}

  Illegal run() {
    if (const Illegal illegal = check_loops()) return illegal;
    if (const Illegal illegal = check_operator()) return illegal;
    if (const Illegal illegal = check_accumulator()) return illegal;
    return check_operands();
  }

 private:
  Illegal reject(IllegalCode code, Name loop = {}, int64_t a = 0, int64_t b = 0) const {
    return {code, at_.step, stage_.name, loop, a, b};
  }

  Illegal check_loops() {
    const size_t count = stage_.loops.size();
    const size_t axes = intrinsic_.axes();
    bool fit = count >= axes && stage_.loops[count - axes] == at_.loop;
    for (size_t k = 0; fit && k < axes; ++k) {
      fit = (tree_.var(loop_of(k)).kind == IterKind::Reduce) == intrinsic_.reduces(k);
    }
    if (!fit) return reject(IllegalCode::IntrinsicLoops, tree_.var(at_.loop).name);
    for (size_t k = 0; k < axes; ++k) {
      if (const Illegal illegal = check_loop(loop_of(k), intrinsic_.extent(k))) return illegal;
    }
    return {};
  }

  // The loop in the position of an axis of the intrinsic.
  VarIndex loop_of(size_t axis) const {
    return stage_.loops[stage_.loops.size() - intrinsic_.axes() + axis];
  }

  Illegal check_loop(VarIndex loop, int64_t extent) const {
    const LoopVar& var = tree_.var(loop);
    if (var.extent != extent) {
      return reject(IllegalCode::IntrinsicExtent, var.name, var.extent, extent);
    }
    const bool prefetches = std::ranges::count(tree_.prefetches, loop, &PrefetchRequest::loop) > 0;
    if (var.annotation != Annotation::None || var.bound != ThreadAxis::None || prefetches) {
      return reject(IllegalCode::LoopIsAnnotated, var.name);
    }
    const bool attached = std::ranges::any_of(tree_.stages, [loop](const Stage& stage) {
      return stage.place == Attachment::At && stage.at_loop == loop;
    });
    return attached ? reject(IllegalCode::LoopIsAttachPoint, var.name) : Illegal{};
  }

  // True for a sum, in the type of the intrinsic's sum, of products of its types.
  Illegal check_operator() {
    const te::Op& op = tree_.dag->op(stage_.op);
    const bool computes = stage_.kind == StageKind::Compute || stage_.kind == StageKind::Partial;
    if (!computes || !op.has_reduction() || op.reduction->simple_op() != ir::BinaryOp::Add) {
      return reject(IllegalCode::IntrinsicOperator);
    }
    ways_ = match_operands(intrinsic_, op.body[0]);
    if (ways_.empty()) return reject(IllegalCode::IntrinsicOperator);
    const bool exact = !ir::is_float(op.body[0].type());
    return exact || tree_.reassociate ? Illegal{} : reject(IllegalCode::NeedsReassociate);
  }

  // Accumulators of another type than the stage's buffer are in a separate buffer, in which the
  // spatial loops are the last dimensions, in order.
  Illegal check_accumulator() const {
    const BufferIndex own = stage_.first_buffer;
    if (tree_.buffer(own).element != tree_.dag->op(stage_.op).body[0].type().scalar) return {};
    const layout::Layout layout = layout_of(tree_, own);
    std::array<arith::Affine, kMaxRank> forms;
    for (size_t d = 0; d < stage_.dims.size(); ++d) {
      CHECK(form_of(tree_, stage_.dims[d], &forms[d]), "an index that was legal for the stage");
    }
    for (size_t axis = 0; axis < intrinsic_.spatial_axes(); ++axis) {
      const VarIndex loop = loop_of(axis);
      std::optional<int64_t> step = 0;
      for (uint32_t d = 0; d < stage_.dims.size(); ++d) {
        step = sum_of(step, step_along(layout, d, forms[d], loop));
      }
      if (step && intrinsic_.fits(TensorIntrinsic::kResult, axis, *step)) continue;
      return misfit(stage_.name, TensorIntrinsic::kResult, axis, step);
    }
    for (uint32_t d = 0; d < stage_.dims.size(); ++d) {
      const std::optional<size_t> axis = uneven_axis(layout, d, forms[d]);
      if (axis) return misfit(stage_.name, TensorIntrinsic::kResult, *axis, std::nullopt);
    }
    return {};
  }

  // `step`: the distance in memory; empty if it is not always the same.
  Illegal misfit(StageName source, size_t operand, size_t axis, std::optional<int64_t> step) const {
    return {step ? IllegalCode::IntrinsicLayout : IllegalCode::IntrinsicUneven,
            at_.step,
            source,
            tree_.var(loop_of(axis)).name,
            step.value_or(0),
            intrinsic_.step(operand, axis)};
  }

  // The indices of a tile or of its starts, modulo the period of a digit.
  struct Residues {
    int64_t low = 0, high = 0;  // of the sum, unless it leaves the period
    int64_t divisor = 0;        // of all terms and the period
    bool leaves = false;

    void add(int64_t step, int64_t extent, int64_t period) {
      divisor = std::gcd(divisor, step);
      leaves = leaves || extent - 1 > period / std::abs(step);
      if (!leaves) (step < 0 ? low : high) += step * (extent - 1);
    }
  };

  // An axis of the intrinsic whose loop leaves its digit of a dimension from some starts of the
  // tile. Starts that are multiples of a divisor of the period are at least that far from its end.
  //
  //   16 * j.0 + j.1, j.1 < 16, in a digit of 24: from 16 on, j.1 leaves it after 8 values
  //                             in a digit of 48: never
  std::optional<size_t> uneven_axis(const layout::Layout& layout, uint32_t dim,
                                    const arith::Affine& index) const {
    for (size_t k = 0; k < layout.digits.size(); ++k) {
      const layout::Digit& digit = layout.digits[k];
      const int64_t period = digit.divisor * digit.extent;
      const bool has_higher = std::ranges::any_of(layout.digits, [&](const layout::Digit& other) {
        return other.dim == dim && other.divisor >= period;
      });
      if (digit.dim != dim || !has_higher) continue;
      // Together with the next higher digit it is one, without gaps.
      const bool continues =
          k > 0 && layout.digits[k - 1].dim == dim && layout.digits[k - 1].divisor == period;
      if (continues) continue;
      std::optional<size_t> moving;
      Residues tile, starts{.divisor = period};
      for (const arith::Term& term : index.terms) {
        const int64_t step = term.coefficient % period;
        if (step == 0) continue;
        const auto var = static_cast<VarIndex>(term.var);
        const std::optional<size_t> axis = axis_of(var);
        if (axis) moving = axis;
        (axis ? tile : starts).add(step, tree_.var(var).extent, period);
      }
      if (!moving) continue;
      const int64_t start = ir::floor_mod(index.constant, period);
      const int64_t first = start % starts.divisor;
      const bool fits = !tile.leaves && !starts.leaves && start + starts.low + tile.low >= 0 &&
                        start + starts.high + tile.high < period;
      const bool fits_divisor =
          !tile.leaves && first + tile.low >= 0 && first + tile.high < starts.divisor;
      if (!fits && !fits_divisor) return moving;
    }
    return std::nullopt;
  }

  // The axis of the intrinsic that a variable is the loop of.
  std::optional<size_t> axis_of(VarIndex var) const {
    for (size_t axis = 0; axis < intrinsic_.axes(); ++axis) {
      if (loop_of(axis) == var) return axis;
    }
    return std::nullopt;
  }

  // Empty if the steps of the loop are of different lengths.
  std::optional<int64_t> step_along(const layout::Layout& layout, uint32_t dim,
                                    const arith::Affine& form, VarIndex loop) const {
    const int64_t weight = form.coefficient_of(static_cast<uint32_t>(loop));
    if (weight == 0) return 0;
    return step_in_memory(layout, dim, weight, tree_.var(loop).extent);
  }

  static std::optional<int64_t> sum_of(std::optional<int64_t> a, std::optional<int64_t> b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
  }

  // If neither order fits, the error refers to the one whose shared operand does not move with the
  // lanes.
  Illegal check_operands() const {
    Illegal refusal;
    for (const IntrinsicOperands& way : ways_) {
      const Illegal illegal = check_way(way);
      if (!illegal) return {};
      if (!refusal || refusal.b == 0) refusal = illegal;
    }
    return refusal;
  }

  Illegal check_way(const IntrinsicOperands& loads) const {
    for (size_t k = 0; k < loads.size(); ++k) {
      const Access* access = access_to(loads[k]->buffer);
      if (access == nullptr) return reject(IllegalCode::IntrinsicOperand);
      if (const Illegal illegal = check_access(*access, k)) return illegal;
    }
    return {};
  }

  // The only read of a tensor by the stage, if it is from a buffer.
  const Access* access_to(te::TensorId tensor) const {
    const Access* found = nullptr;
    for (const Access& access : tree_.reads_of(stage_)) {
      if (tree_.buffer(access.buffer).tensor != tensor) continue;
      if (found != nullptr || access.via != kNone) return nullptr;
      found = &access;
    }
    return found;
  }

  Illegal check_access(const Access& access, size_t operand) const {
    const layout::Layout layout = layout_of(tree_, access.buffer);
    const Stage& writer = tree_.stage(tree_.buffer(access.buffer).stage);
    for (size_t axis = 0; axis < intrinsic_.axes(); ++axis) {
      std::optional<int64_t> step = 0;
      for (uint32_t d = 0; d < access.rank; ++d) {
        const size_t at = size_t{access.first_dim} + d;
        if (!tree_.dims[at].affine) return reject(IllegalCode::IntrinsicOperand);
        step = sum_of(step, step_along(layout, d, tree_.forms[at], loop_of(axis)));
      }
      if (step && intrinsic_.fits(operand, axis, *step)) continue;
      return misfit(writer.name, operand, axis, step);
    }
    if (layout.digits.size() <= access.rank) return {};  // each dimension is one digit
    for (uint32_t d = 0; d < access.rank; ++d) {
      arith::Affine index = tree_.forms[size_t{access.first_dim} + d];
      if (writer.place == Attachment::At && !index.add(writer.origin[d], -1)) {
        return reject(IllegalCode::TooManyTerms);
      }
      const std::optional<size_t> axis = uneven_axis(layout, d, index);
      if (axis) return misfit(writer.name, operand, *axis, std::nullopt);
    }
    return {};
  }

  const LoopTree& tree_;
  const TensorizedLoop& at_;
  const Stage& stage_;
  const TensorIntrinsic& intrinsic_;
  InlineVector<IntrinsicOperands, 2> ways_;
};

}  // namespace

Illegal apply_step(TreeEditor& editor, const Tensorize& step) {
  StageIndex stage = kNone;
  VarIndex loop = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &stage)) return illegal;
  if (const Illegal illegal = editor.find_loop(stage, step.loop, &loop)) return illegal;
  if (find_intrinsic(step.intrinsic, editor.tree().intrinsics) == nullptr) {
    return editor.reject(IllegalCode::NoSuchIntrinsic, step.stage, step.loop);
  }
  if (const Illegal illegal = editor.check_unused(stage, loop)) return illegal;
  editor.tree().tensorized.push_back(
      {.stage = stage, .loop = loop, .intrinsic = step.intrinsic, .step = editor.step()});
  return {};
}

Illegal check_tensorized(const LoopTree& tree) {
  for (const TensorizedLoop& at : tree.tensorized) {
    if (const Illegal illegal = TensorizedCheck(tree, at).run()) return illegal;
  }
  return {};
}

}  // namespace tilewright::schedule
