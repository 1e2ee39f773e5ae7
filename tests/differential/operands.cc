#include "operands.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/rng.h"
#include "ir/element.h"
#include "ir/visit.h"
#include "layout/repack.h"

namespace tilewright::testing {
namespace {

void set_element(std::vector<uint8_t>& bytes, ir::Scalar type, int64_t offset, double value) {
  ir::write_element(reinterpret_cast<std::byte*>(bytes.data()), type, offset, value);
}

// The legal range of each tensor whose elements are divisors or indices of another.
class ValueRanges : public ir::Visitor {
 public:
  struct Range {
    int64_t low = -4, high = 4;
    bool zero = true;
  };

  explicit ValueRanges(const te::Dag& dag) : dag_(dag) {
    for (const te::Op& op : dag.ops()) {
      for (const ir::Expr& body : op.body) visit(body);
    }
  }

  Range of(te::TensorId tensor) const {
    const auto found = ranges_.find(tensor);
    return found == ranges_.end() ? Range{} : found->second;
  }

  using ir::Visitor::visit;
  void visit(const ir::Expr& expr) override {
    if (const auto* load = expr.as<ir::Load>()) {
      for (size_t d = 0; d < load->indices.size(); ++d) {
        const int64_t last = dag_.tensor(load->buffer).shape[d].high - 1;
        for_each_load(load->indices[d], [&](te::TensorId index) {
          Range& range = ranges_[index];
          range.high = std::min(range.low < 0 ? last : range.high, last);
          range.low = 0;
        });
      }
    }
    const auto* binary = expr.as<ir::Binary>();
    const bool divides = binary != nullptr && ir::is_integer(binary->type) &&
                         (binary->op == ir::BinaryOp::Div || binary->op == ir::BinaryOp::Mod);
    if (divides) for_each_load(binary->b, [&](te::TensorId by) { ranges_[by].zero = false; });
    ir::Visitor::visit(expr);
  }

 private:
  template <class F>
  static void for_each_load(const ir::Expr& expr, const F& f) {
    if (const auto* load = expr.as<ir::Load>()) f(load->buffer);
    ir::for_each_child(expr, [&](const ir::Expr& child) { for_each_load(child, f); });
  }

  const te::Dag& dag_;
  std::map<te::TensorId, Range> ranges_;
};

constexpr double kDenormalShare = 0.03;

// Makes some floats denormal, which are zeros for a kernel that does not keep denormals. A separate
// generator leaves the other values unchanged.
void make_some_denormal(std::vector<uint8_t>& bytes, ir::Scalar type, int64_t elements,
                        uint64_t seed) {
  if (type != ir::Scalar::F32 && type != ir::Scalar::F64 && type != ir::Scalar::BF16) return;
  Rng rng(seed);
  for (int64_t e = 0; e < elements; ++e) {
    if (!rng.chance(kDenormalShare)) continue;
    const double size = ir::min_normal(type) / static_cast<double>(2 << rng.below(4));
    set_element(bytes, type, e, rng.chance(0.5) ? -size : size);
  }
}

double draw(Rng& rng, const ValueRanges::Range& range, bool fraction) {
  if (fraction) return rng.uniform() * 4 - 2;
  const int64_t value = rng.between(range.low, range.high);
  return value == 0 && !range.zero ? 1 : static_cast<double>(value);
}

}  // namespace

double element_at(const std::vector<uint8_t>& bytes, ir::Scalar type, int64_t offset) {
  return ir::read_element(reinterpret_cast<const std::byte*>(bytes.data()), type, offset);
}

bool is_strict(const FloatPermissions& permissions) {
  return !permissions.reassociate && !permissions.contract;
}

size_t operand_index(const Workload& workload, te::TensorId tensor) {
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    if (workload.operands[k].tensor == tensor) return k;
  }
  CHECK(false, "tensor {} is not an operand", tensor);
  return 0;
}

Memory make_operands(const Workload& workload, uint64_t seed) {
  Rng rng(seed);
  const ValueRanges ranges(*workload.dag);
  Memory memory;
  for (const Operand& operand : workload.operands) {
    const te::Tensor& tensor = workload.dag->tensor(operand.tensor);
    int64_t elements = 1;
    for (const te::Extent& extent : tensor.shape) elements *= extent.high;
    const auto size = static_cast<size_t>(elements * ir::bytes_of(tensor.element));
    memory.emplace_back(size, uint8_t{0xff});
    if (operand.role == Role::Output) continue;
    const bool fraction = is_strict(workload.permissions) && ir::is_float(tensor.element);
    const ValueRanges::Range range = ranges.of(operand.tensor);
    for (int64_t e = 0; e < elements; ++e) {
      set_element(memory.back(), tensor.element, e, draw(rng, range, fraction));
    }
    if (range.zero && range.low < 0) {
      make_some_denormal(memory.back(), tensor.element, elements, seed + memory.size());
    }
  }
  return memory;
}

std::vector<uint8_t> packed(const std::vector<int64_t>& shape, const layout::Layout& layout,
                            ir::Scalar element, const std::vector<uint8_t>& row_major) {
  const int bytes = ir::bytes_of(element);
  std::vector<uint8_t> out(static_cast<size_t>(layout.elements() * bytes));
  layout::repack(shape, layout, bytes, row_major.data(), out.data());
  return out;
}

std::vector<uint8_t> laid_out(const std::vector<int64_t>& shape, const layout::Layout& layout,
                              ir::Scalar element, const std::vector<uint8_t>& row_major) {
  const std::vector<uint8_t> ones(row_major.size(), 1);
  const std::vector<uint8_t> taken = packed(shape, layout, element, ones);
  std::vector<uint8_t> out = packed(shape, layout, element, row_major);
  for (size_t at = 0; at < out.size(); ++at) {
    if (taken[at] == 0) out[at] = 0xff;
  }
  return out;
}

Memory packed_operands(const Workload& workload, const schedule::LoopTree& tree,
                       const Memory& operands) {
  Memory out = operands;
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    const auto index = static_cast<schedule::BufferIndex>(workload.operands[k].tensor);
    const schedule::Buffer& buffer = tree.buffer(index);
    if (buffer.packed_for == schedule::kNone && buffer.within.empty()) continue;
    const layout::Layout layout = schedule::layout_of(tree, index);
    const std::vector<int64_t> shape(buffer.extent.begin(), buffer.extent.end());
    out[k] = buffer.packed_for == schedule::kNone
                 ? laid_out(shape, layout, buffer.element, operands[k])
                 : packed(shape, layout, buffer.element, operands[k]);
  }
  return out;
}

}  // namespace tilewright::testing
