#include "program_check.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <unordered_map>

#include "base/rng.h"
#include "codegen/interp/interp.h"
#include "codegen/llvm/build_kernel.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "lower/build_nest.h"
#include "lower/pipeline.h"
#include "te/eval.h"

namespace tilewright::testing {
namespace {

using schedule::Access;
using schedule::LoopTree;
using schedule::VarIndex;

// Memory of the operands, row-major; every engine gets a copy of its own.
struct Operands {
  std::vector<std::vector<uint8_t>> bytes;
};

// An element in its storage format, as a number; every value of our types but large I64s fits.
double element_at(const std::vector<uint8_t>& bytes, ir::Scalar type, int64_t offset) {
  const uint8_t* at = bytes.data() + offset * ir::bytes_of(type);
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case ir::Scalar::Bool:
    case ir::Scalar::U8:
      return as(uint8_t{});
    case ir::Scalar::I8:
      return as(int8_t{});
    case ir::Scalar::I16:
      return as(int16_t{});
    case ir::Scalar::I32:
      return as(int32_t{});
    case ir::Scalar::I64:
      return static_cast<double>(as(int64_t{}));
    case ir::Scalar::F16:
      return ir::f32_from_f16(as(uint16_t{}));
    case ir::Scalar::BF16:
      return ir::f32_from_bf16(as(uint16_t{}));
    case ir::Scalar::F32:
      return as(float{});
    case ir::Scalar::F64:
      return as(double{});
  }
  return 0;
}

void set_element(std::vector<uint8_t>& bytes, ir::Scalar type, int64_t offset, double value) {
  uint8_t* at = bytes.data() + offset * ir::bytes_of(type);
  const auto store = [&](const auto& stored) { std::memcpy(at, &stored, sizeof stored); };
  switch (type) {
    case ir::Scalar::F16:
      return store(ir::f16_from_f32(static_cast<float>(value)));
    case ir::Scalar::BF16:
      return store(ir::bf16_from_f32(static_cast<float>(value)));
    case ir::Scalar::F32:
      return store(static_cast<float>(value));
    case ir::Scalar::F64:
      return store(value);
    default: {
      const int64_t integer = ir::wrap_integer(static_cast<int64_t>(value), type);
      std::memcpy(at, &integer, static_cast<size_t>(ir::bytes_of(type)));  // little-endian
    }
  }
}

Operands make_operands(const Workload& workload, uint64_t seed) {
  Rng rng(seed);
  Operands operands;
  for (const Operand& operand : workload.operands) {
    const te::Tensor& tensor = workload.dag->tensor(operand.tensor);
    int64_t elements = 1;
    for (const te::Extent& extent : tensor.shape) elements *= extent.high;
    const auto size = static_cast<size_t>(elements * ir::bytes_of(tensor.element));
    operands.bytes.emplace_back(size, uint8_t{0xff});  // outputs start as NaN
    if (operand.role == Role::Output) continue;
    for (int64_t e = 0; e < elements; ++e) {
      set_element(operands.bytes.back(), tensor.element, e,
                  static_cast<double>(rng.between(-4, 4)));
    }
  }
  return operands;
}

// Packed constants as the kernel wants them.
std::vector<std::vector<uint8_t>> packed_copies(const Workload& workload, const LoopTree& tree,
                                                const Operands& operands) {
  std::vector<std::vector<uint8_t>> out = operands.bytes;
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    const auto buffer = static_cast<schedule::BufferIndex>(workload.operands[k].tensor);
    if (tree.buffer(buffer).packed_for == schedule::kNone) continue;
    const layout::Layout layout = schedule::layout_of(tree, buffer);
    const int bytes = ir::bytes_of(tree.buffer(buffer).element);
    out[k].assign(static_cast<size_t>(layout.elements() * bytes), 0);
    const auto& extent = tree.buffer(buffer).extent;
    layout::repack(std::vector<int64_t>(extent.begin(), extent.end()), layout, bytes,
                   operands.bytes[k].data(), out[k].data());
  }
  return out;
}

// Holds each element that the interpreter reads against the regions of the access, at every loop.
// An event does not say which access it is of: where a buffer has several, one of them must hold
// it.
class RegionChecker {
 public:
  RegionChecker(const LoopTree& tree, const ir::Function& nest,
                const std::vector<lower::LoopBinding>& bindings)
      : tree_(tree), nest_(nest), bindings_(bindings), readers_(tree.buffers.size()) {
    for (const Access& access : tree.accesses) {
      const schedule::Stage& stage = tree.stage(access.stage);
      const auto at = static_cast<size_t>(&access - tree.accesses.data());
      const bool live = stage.place != schedule::Place::Inlined && at >= stage.first_access &&
                        at < stage.first_access + size_t{stage.accesses};
      if (!live) continue;
      readers_[static_cast<size_t>(access.buffer)].push_back(&access);
    }
  }

  void on_access(const codegen::AccessEvent& event, const codegen::Environment& environment) {
    const bool known = event.buffer < readers_.size() && !readers_[event.buffer].empty();
    if (!known || event.is_store || !problem_.empty()) return;
    if (in_writer(tree_.stage(tree_.buffers[event.buffer].stage), environment)) return;
    const std::vector<int64_t> index = logical_index(event, environment);
    std::string outside;
    for (const Access* access : readers_[event.buffer]) {
      outside = first_outside(*access, index, environment);
      if (outside.empty()) return;
    }
    problem_ = outside;
  }

  const std::string& problem() const { return problem_; }
  int64_t checked() const { return checked_; }

 private:
  // Does the writer of a reduction itself read its accumulator here? Its loops are bound then.
  bool in_writer(const schedule::Stage& writer, const codegen::Environment& environment) const {
    bool has_loops = false;
    for (const lower::LoopBinding& binding : bindings_) {
      if (tree_.var(binding.loop).stage != tree_.find_stage(writer.name)) continue;
      if (environment.find(binding.var) != nullptr) return true;
      has_loops = true;
    }
    return !has_loops && writer.kind != schedule::StageKind::Input;
  }

  int64_t value_of(VarIndex var, const codegen::Environment& environment) const {
    for (const lower::LoopBinding& binding : bindings_) {
      if (binding.loop != var) continue;
      if (const int64_t* value = environment.find(binding.var)) return *value;
    }
    return 0;  // a loop of one iteration
  }

  int64_t evaluate(const arith::Affine& form, const codegen::Environment& environment) const {
    int64_t sum = form.constant;
    for (const arith::Term& term : form.terms) {
      sum += term.coefficient * value_of(static_cast<VarIndex>(term.var), environment);
    }
    return sum;
  }

  // Flat offset -> digits of the layout -> logical indices -> absolute ones.
  std::vector<int64_t> logical_index(const codegen::AccessEvent& event,
                                     const codegen::Environment& environment) const {
    const auto buffer = static_cast<schedule::BufferIndex>(event.buffer);
    const layout::Layout layout = schedule::layout_of(tree_, buffer);
    std::vector<int64_t> index(tree_.buffer(buffer).rank, 0);
    int64_t rest = event.offset;
    for (size_t k = layout.digits.size(); k-- > 0;) {
      const layout::Digit& digit = layout.digits[k];
      index[digit.dim] += rest % digit.extent * digit.divisor;
      rest /= digit.extent;
    }
    const schedule::Stage& writer = tree_.stage(tree_.buffer(buffer).stage);
    for (size_t d = 0; d < index.size() && writer.place == schedule::Place::At; ++d) {
      index[d] += evaluate(writer.origin[d], environment);
    }
    return index;
  }

  // Where the element is not in a region of the access: at root, then from the outside in.
  std::string first_outside(const Access& access, const std::vector<int64_t>& index,
                            const codegen::Environment& environment) {
    std::string problem = outside_at(access, index, schedule::kNone, environment);
    for (const VarIndex loop : tree_.stage(access.stage).loops) {
      if (problem.empty()) problem = outside_at(access, index, loop, environment);
    }
    return problem;
  }

  // By how much the index of an element of an attached buffer may be off in a tail.
  int64_t origin_slack(const Access& access, size_t dim) const {
    const schedule::Stage& writer = tree_.stage(tree_.buffer(access.buffer).stage);
    return writer.place == schedule::Place::At ? writer.origin_slack[dim] : 0;
  }

  std::string outside_at(const Access& access, const std::vector<int64_t>& index, VarIndex loop,
                         const codegen::Environment& environment) {
    std::array<schedule::RegionDim, schedule::kMaxRank> dims;
    const schedule::StageIndex stage = loop == schedule::kNone ? schedule::kNone : access.stage;
    schedule::region_of(tree_, access, stage, loop, dims.data());
    for (size_t d = 0; d < access.rank; ++d) {
      const int64_t base = dims[d].whole ? 0 : evaluate(dims[d].base, environment);
      const int64_t slack = dims[d].slack + origin_slack(access, d);
      const bool inside = index[d] >= base - slack && index[d] < base + dims[d].extent + slack;
      const bool on_stride =
          dims[d].whole || !dims[d].exact || slack != 0 || (index[d] - base) % dims[d].stride == 0;
      ++checked_;
      if (inside && on_stride) continue;
      return fmt::format("{} reads {} at {} in dimension {}, outside [{}, {}) at loop {}",
                         tree_.stage(access.stage).name.text(),
                         nest_.buffers[static_cast<size_t>(access.buffer)].name, index[d], d, base,
                         base + dims[d].extent,
                         loop == schedule::kNone ? "root" : tree_.var(loop).name.text());
    }
    return "";
  }

  const LoopTree& tree_;
  const ir::Function& nest_;
  const std::vector<lower::LoopBinding>& bindings_;
  std::vector<std::vector<const Access*>> readers_;  // by buffer
  std::string problem_;
  int64_t checked_ = 0;
};

using Memory = std::vector<std::vector<uint8_t>>;

std::optional<std::string> interpret_on(const ir::Function& function, Memory& memory,
                                        const codegen::InterpOptions& options = {}) {
  std::vector<void*> pointers;
  for (auto& bytes : memory) pointers.push_back(bytes.data());
  if (const Status status = codegen::interpret(function, pointers, options); !status) {
    return status.error().message;
  }
  return std::nullopt;
}

bool is_exact(const te::Dag& dag) {
  for (te::OpId op = 0; op < dag.ops().size(); ++op) {
    if (dag.access(op).has_expensive_call) return false;
  }
  return true;
}

// The first element in which two memories of an output differ.
std::optional<std::string> compare(const Workload& workload, const Memory& a, const Memory& b,
                                   const char* what) {
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    if (workload.operands[k].role != Role::Output || a[k] == b[k]) continue;
    const ir::Scalar type = workload.dag->tensor(workload.operands[k].tensor).element;
    const auto elements = static_cast<int64_t>(a[k].size()) / ir::bytes_of(type);
    for (int64_t e = 0; e < elements; ++e) {
      const double x = element_at(a[k], type, e);
      const double y = element_at(b[k], type, e);
      if (x == y) continue;  // zeros of either sign
      return fmt::format("{}: element {} is {} and {}", what, e, x, y);
    }
  }
  return std::nullopt;
}

std::optional<std::string> compare_with_eval(const Workload& workload, const Operands& inputs,
                                             const Memory& memory) {
  const te::Dag& dag = *workload.dag;
  const auto operand_index = [&](te::TensorId tensor) {
    for (size_t k = 0; k < workload.operands.size(); ++k) {
      if (workload.operands[k].tensor == tensor) return k;
    }
    return size_t{0};
  };
  te::Evaluator evaluator(dag, [&](te::TensorId tensor, int64_t offset) {
    return element_at(inputs.bytes[operand_index(tensor)], dag.tensor(tensor).element, offset);
  });
  const auto tolerance_of = [&](ir::Scalar type) {
    if (is_exact(dag)) return 0.0;
    return type == ir::Scalar::BF16 ? 8e-3 : type == ir::Scalar::F16 ? 1e-3 : 2e-6;
  };
  for (const te::TensorId output : dag.outputs()) {
    const te::Tensor& tensor = dag.tensor(output);
    const double tolerance = tolerance_of(tensor.element);
    const auto& bytes = memory[operand_index(output)];
    std::vector<int64_t> index(tensor.shape.size(), 0);
    const auto elements = static_cast<int64_t>(bytes.size()) / ir::bytes_of(tensor.element);
    for (int64_t e = 0; e < elements; ++e) {
      int64_t rest = e;
      for (size_t d = index.size(); d-- > 0;) {
        index[d] = rest % tensor.shape[d].high;
        rest /= tensor.shape[d].high;
      }
      const double expected = evaluator.element(output, index);
      const double actual = element_at(bytes, tensor.element, e);
      const double error = std::abs(actual - expected);
      if (error <= tolerance * std::max(1.0, std::abs(expected))) continue;
      return fmt::format("te/eval: element {} is {}, expected {}", e, actual, expected);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_program(const Task& task, const LoopTree& tree,
                                         const schedule::Trace& trace, uint64_t seed,
                                         RegionCount* regions) {
  const Workload& workload = task.workload;
  const auto describe = [&](const std::string& problem) {
    return fmt::format("{}\noperator {}\n{}\n{}", problem, workload.text, to_text(trace),
                       tree.to_string());
  };
  const Operands operands = make_operands(workload, seed);
  const Memory packed = packed_copies(workload, tree, operands);

  std::vector<lower::LoopBinding> bindings;
  const ir::Function nest = lower::build_nest(workload, task.target, tree, trace, &bindings);
  if (const Status status = ir::verify(nest); !status) return describe(status.error().message);
  RegionChecker checker(tree, nest, bindings);
  Memory nest_memory = packed;
  const codegen::InterpOptions observe{
      .observer = [&](const codegen::AccessEvent& event, const codegen::Environment& environment) {
        checker.on_access(event, environment);
      }};
  if (auto problem = interpret_on(nest, nest_memory, observe)) {
    return describe("interpreter of the nest: " + *problem + "\n" + ir::to_string(nest));
  }
  regions->checked += checker.checked();
  if (!checker.problem().empty()) return describe("region: " + checker.problem());
  if (auto problem = compare_with_eval(workload, operands, nest_memory)) return describe(*problem);

  const Result<ir::Function> lowered = lower::lower(workload, task.target, tree, trace);
  if (!lowered) return describe(lowered.error().message);
  if (const Status status = ir::verify(*lowered); !status) {
    return describe(status.error().message + "\n" + ir::to_string(*lowered));
  }
  Memory lowered_memory = packed;
  if (auto problem = interpret_on(*lowered, lowered_memory)) {
    return describe("interpreter of lowered IR: " + *problem + "\n" + ir::to_string(*lowered));
  }
  if (is_exact(*workload.dag)) {
    if (auto problem = compare(workload, nest_memory, lowered_memory, "nest and lowered IR")) {
      return describe(*problem + "\n" + ir::to_string(*lowered));
    }
  } else if (auto problem = compare_with_eval(workload, operands, lowered_memory)) {
    return describe("lowered IR, " + *problem);
  }

  Result<codegen::BoundKernel> kernel =
      codegen::BoundKernel::build(task, tree, trace, {.guard_bytes = 256});
  if (!kernel) return describe(kernel.error().message);
  Memory llvm_memory = packed;
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    std::memcpy(kernel->operand(k).data(), operands.bytes[k].data(), operands.bytes[k].size());
  }
  kernel->set_constants();
  if (kernel->run() != 0) return describe("the kernel failed");
  if (!kernel->guards_intact()) return describe("the kernel wrote outside its buffers");
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    if (workload.operands[k].role != Role::Output) continue;
    std::memcpy(llvm_memory[k].data(), kernel->operand(k).data(), llvm_memory[k].size());
    if (llvm_memory[k] == lowered_memory[k]) continue;
    if (auto problem = compare(workload, lowered_memory, llvm_memory, "interpreter and LLVM")) {
      return describe(*problem + "\n" + ir::to_string(*lowered));
    }
    return describe("interpreter and LLVM differ in the sign of a zero or in NaN\n" +
                    ir::to_string(*lowered));
  }
  return std::nullopt;
}

}  // namespace tilewright::testing
