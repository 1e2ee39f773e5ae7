#include "oracle/draw_inputs.h"

#include <vector>

#include "ir/element.h"
#include "oracle/element.h"
#include "oracle/input_values.h"

namespace tilewright::oracle {
namespace {

// The number of indices of an element that are the last of their dimension.
class EndCounter {
 public:
  explicit EndCounter(std::vector<int64_t> shape) : shape_(std::move(shape)) {
    indices_.resize(shape_.size());
    for (const int64_t extent : shape_) ends_ += extent == 1 ? 1 : 0;
    ends_of_one_ = ends_;
  }
  bool at_end() const { return ends_ > ends_of_one_; }  // dimensions of one element do not count
  void next() {
    for (size_t d = shape_.size(); d-- > 0;) {
      if (indices_[d] + 1 < shape_[d]) {
        ends_ += ++indices_[d] + 1 == shape_[d] ? 1 : 0;
        return;
      }
      ends_ -= shape_[d] > 1 ? 1 : 0;
      indices_[d] = 0;
    }
  }

 private:
  std::vector<int64_t> shape_, indices_;
  int ends_ = 0, ends_of_one_ = 0;
};

void draw_tensor(Rng& rng, const InputRange& range, const te::Tensor& tensor, std::byte* data) {
  const int64_t elements = elements_of(tensor);
  EndCounter ends(shape_of(tensor));
  for (int64_t e = 0; e < elements; ++e) {
    ir::write_element(data, tensor.element, e, draw_value(rng, range, ends.at_end()));
    ends.next();
  }
}

}  // namespace

Status draw_inputs(const Workload& workload, uint64_t seed, OperandBytes operands) {
  const InputPlan plan = TRY(plan_inputs(workload));
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    if (workload.operands[k].role == Role::Output) continue;
    Rng rng(seed * 1000003 + k);
    const te::Tensor& tensor = workload.dag->tensor(workload.operands[k].tensor);
    draw_tensor(rng, plan.operands[k], tensor, operands[k].data());
  }
  return {};
}

}  // namespace tilewright::oracle
