#include "schedule/steps/tensorize.h"

#include <algorithm>
#include <optional>

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
      const int64_t wanted = intrinsic_.step(TensorIntrinsic::kResult, axis);
      if (fits(axis, step, wanted)) continue;
      return reject(code_of(step), tree_.var(loop).name, step.value_or(0), wanted);
    }
    return {};
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

  bool fits(size_t axis, std::optional<int64_t> step, int64_t wanted) const {
    if (!step) return false;
    if (intrinsic_.is_strided(axis)) return (*step != 0) == (wanted != 0);
    return *step == wanted;
  }

  static IllegalCode code_of(std::optional<int64_t> step) {
    return step ? IllegalCode::IntrinsicLayout : IllegalCode::IntrinsicUneven;
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
      for (size_t axis = 0; axis < intrinsic_.axes(); ++axis) {
        if (const Illegal illegal = check_step(*access, axis, intrinsic_.step(k, axis))) {
          return illegal;
        }
      }
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

  Illegal check_step(const Access& access, size_t axis, int64_t wanted) const {
    const layout::Layout layout = layout_of(tree_, access.buffer);
    const VarIndex loop = loop_of(axis);
    std::optional<int64_t> step = 0;
    for (uint32_t d = 0; d < access.rank; ++d) {
      const size_t at = size_t{access.first_dim} + d;
      if (!tree_.dims[at].affine) return reject(IllegalCode::IntrinsicOperand);
      step = sum_of(step, step_along(layout, d, tree_.forms[at], loop));
    }
    if (fits(axis, step, wanted)) return {};
    const StageName source = tree_.stage(tree_.buffer(access.buffer).stage).name;
    return {code_of(step), at_.step, source, tree_.var(loop).name, step.value_or(0), wanted};
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
