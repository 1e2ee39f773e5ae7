#include "deploy/kernel_facts.h"

#include <algorithm>

#include "ir/type.h"
#include "schedule/program_hash.h"

namespace tilewright::deploy {
namespace {

double elements_of(const te::Tensor& tensor) {
  double elements = 1;
  for (const te::Extent& extent : tensor.shape) elements *= static_cast<double>(extent.high);
  return elements;
}

// At most the number of different elements that one read touches.
double touched_by(const te::Op& op, const te::Access& access) {
  uint64_t axes = 0;
  for (const te::AccessDim& dim : access.dims) axes |= dim.axes;
  double elements = 1;
  for (size_t k = 0; k < op.axes.size() + op.reduce_axes.size(); ++k) {
    if ((axes >> k & 1) == 0) continue;
    const te::Axis& axis = k < op.axes.size() ? op.axes[k] : op.reduce_axes[k - op.axes.size()];
    elements *= static_cast<double>(axis.extent.high);
  }
  return elements;
}

int64_t read_bytes_of(const te::Dag& dag, te::TensorId id) {
  double touched = 0;
  for (te::OpId op = 0; op < dag.ops().size(); ++op) {
    for (const te::Access& access : dag.access(op).reads) {
      if (access.tensor == id) touched += touched_by(dag.op(op), access);
    }
  }
  const te::Tensor& tensor = dag.tensor(id);
  return static_cast<int64_t>(std::min(touched, elements_of(tensor))) *
         ir::bytes_of(tensor.element);
}

}  // namespace

KernelFacts kernel_facts(const Task& task, const schedule::LoopTree& tree) {
  const te::Dag& dag = *task.workload.dag;
  KernelFacts facts;
  facts.flop = dag.flop();
  facts.elementwise = std::ranges::none_of(dag.ops(), &te::Op::has_reduction);
  for (const Operand& operand : task.workload.operands) {
    const te::Tensor& tensor = dag.tensor(operand.tensor);
    switch (operand.role) {
      case Role::Constant:
        facts.constant_bytes += read_bytes_of(dag, operand.tensor);
        break;
      case Role::Input:
        facts.read_bytes += read_bytes_of(dag, operand.tensor);
        break;
      case Role::Output:
        facts.written_bytes +=
            static_cast<int64_t>(elements_of(tensor)) * ir::bytes_of(tensor.element);
    }
  }
  facts.task = task.key();
  facts.program = schedule::program_hash(tree, task.target);
  return facts;
}

}  // namespace tilewright::deploy
