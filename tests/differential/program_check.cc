#include "program_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "codegen/back_ends/bound_kernel_testing.h"
#include "codegen/back_ends/build_kernel.h"
#include "codegen/interp/interp.h"
#include "ir/verify.h"
#include "ir/visit.h"
#include "lower/pipeline.h"

namespace tilewright::testing {
namespace {

using schedule::LoopTree;

constexpr int64_t kGuardBytes = 256;
constexpr int64_t kMaxSteps = 100'000'000;  // of the interpreter
constexpr double kAnyOrder = 4;  // a fold of tuples in another order than RoundingBound's own

// Does the Dag call functions that lowering expands, each to its own bits?
bool calls_functions(const te::Dag& dag) {
  class Calls : public ir::Visitor {
   public:
    using ir::Visitor::visit;
    void visit(const ir::Expr& expr) override {
      const auto* call = expr.as<ir::Call>();
      found |= call != nullptr && call->function >= ir::Intrinsic::Exp;
      ir::Visitor::visit(expr);
    }
    bool found = false;
  };
  Calls calls;
  for (const te::Op& op : dag.ops()) {
    for (const ir::Expr& body : op.body) calls.visit(body);
    if (!op.reduction) continue;
    for (const ir::Expr& combine : op.reduction->combine) calls.visit(combine);
  }
  return calls.found;
}

// The back end that makes artifacts for the target; the interpreter if there is none.
const codegen::BackEnd& default_back_end(const Target& target) {
  const Result<const codegen::BackEnd*> found = codegen::back_end_for(target);
  return found ? **found : codegen::all_back_ends().front();
}

bool is_for_gpu(const LoopTree& tree) {
  return std::ranges::any_of(tree.vars, [](const schedule::LoopVar& var) {
    return var.is_loop() && var.bound != schedule::ThreadAxis::None;
  });
}

bool is_untouched(const std::vector<uint8_t>& bytes, ir::Scalar type, int64_t element) {
  const int64_t size = ir::bytes_of(type);
  return std::all_of(bytes.begin() + element * size, bytes.begin() + (element + 1) * size,
                     [](uint8_t byte) { return byte == 0xff; });
}

// Unless they are kept, denormals are zeros of their sign.
bool same_bits(const Workload& workload, ir::Scalar type, const std::vector<uint8_t>& a,
               const std::vector<uint8_t>& b, int64_t element) {
  const auto size = static_cast<size_t>(ir::bytes_of(type));
  const size_t at = static_cast<size_t>(element) * size;
  if (std::memcmp(a.data() + at, b.data() + at, size) == 0) return true;
  if (workload.permissions.denormals || !ir::is_float(type)) return false;
  const double x = ir::flush_denormal(element_at(a, type, element), type);
  const double y = ir::flush_denormal(element_at(b, type, element), type);
  return x == 0 && y == 0 && std::signbit(x) == std::signbit(y);
}

te::InputReader reader_of(const Workload& workload, const Memory& operands) {
  return [&](te::TensorId tensor, int64_t offset) {
    return element_at(operands[operand_index(workload, tensor)],
                      workload.dag->tensor(tensor).element, offset);
  };
}

}  // namespace

std::optional<std::string> interpret_on(const ir::Function& function, Memory& memory,
                                        codegen::AccessObserver observer) {
  std::vector<void*> pointers;
  for (auto& bytes : memory) pointers.push_back(bytes.data());
  const codegen::InterpOptions options{.observer = std::move(observer), .max_steps = kMaxSteps};
  const Status status = codegen::interpret(function, pointers, options);
  return status ? std::nullopt : std::optional(status.error().message);
}

bool same_passes(std::span<const lower::Pass> a, std::span<const lower::Pass> b) {
  return std::ranges::equal(a, b, [](const lower::Pass& x, const lower::Pass& y) {
    return std::string_view(x.name) == y.name && x.run == y.run;
  });
}

ProgramChecker::ProgramChecker(Task task, uint64_t seed)
    : task_(std::move(task)),
      operands_(make_operands(task_.workload, seed)),
      evaluator_(*task_.workload.dag, reader_of(task_.workload, operands_),
                 task_.workload.permissions.denormals),
      bound_(*task_.workload.dag, reader_of(task_.workload, operands_),
             task_.workload.permissions.denormals) {}

std::optional<Failure> ProgramChecker::check(const LoopTree& tree, const schedule::Trace& trace,
                                             const CheckOptions& options) {
  try {
    return check_all(tree, trace, options);
  } catch (const InternalError& error) {
    return Failure{FailureKind::Internal, error.what()};
  }
}

std::optional<Failure> ProgramChecker::check_all(const LoopTree& tree, const schedule::Trace& trace,
                                                 const CheckOptions& options) {
  const Memory inputs = packed_operands(task_.workload, tree, operands_);
  Memory nest = inputs;
  if (auto failure = check_nest(tree, trace, nest)) return failure;
  if (is_for_gpu(tree) && !task_.target.has_thread_axes()) return std::nullopt;  // the nest is all
  const codegen::BackEnd& back_end =
      options.back_end != nullptr ? *options.back_end : default_back_end(task_.target);
  const Result<ir::Function> lowered = codegen::lower_for(back_end, task_, tree, trace);
  if (!lowered) return Failure{FailureKind::Lowering, lowered.error().message};
  Memory results = inputs;
  if (auto failure = check_lowered(*lowered, nest, results)) return failure;
  if (options.compiled) {
    if (auto failure = check_compiled(tree, trace, results, options.back_end)) return failure;
  }
  if (options.interpreted != nullptr) {
    *options.interpreted = {tree, trace, inputs, {back_end.passes, *lowered, results}};
  }
  return std::nullopt;
}

std::optional<Failure> ProgramChecker::check_nest(const LoopTree& tree,
                                                  const schedule::Trace& trace, Memory& memory) {
  std::vector<lower::LoopBinding> bindings;
  const ir::Function nest = lower::build_nest(task_.workload, task_.target, tree, trace, &bindings);
  if (const Status status = ir::verify(nest); !status) {
    return Failure{FailureKind::Nest, status.error().message};
  }
  RegionChecker regions(tree, nest, bindings);
  const auto observer = [&](const codegen::AccessEvent& event,
                            const codegen::Environment& environment) {
    regions.on_access(event, environment);
  };
  if (auto problem = interpret_on(nest, memory, observer)) {
    return Failure{FailureKind::Nest, *problem};
  }
  if (auto problem = first_wrong(memory)) {
    return Failure{FailureKind::Evaluator, "nest: " + *problem};
  }
  if (std::string problem = regions.finish(); !problem.empty()) {
    return Failure{FailureKind::Regions, problem};
  }
  regions_.add(regions.count());
  return std::nullopt;
}

std::optional<Failure> ProgramChecker::check_lowered(const ir::Function& lowered,
                                                     const Memory& nest, Memory& memory) {
  if (const Status status = ir::verify(lowered); !status) {
    return Failure{FailureKind::Lowering, status.error().message};
  }
  if (auto problem = interpret_on(lowered, memory)) {
    return Failure{FailureKind::LoweredIr, *problem};
  }
  const auto difference = first_difference(task_.workload, nest, memory);
  if (!difference) return std::nullopt;
  if (is_strict(task_.workload.permissions) && !calls_functions(*task_.workload.dag)) {
    return Failure{FailureKind::LoweredIr, "nest and lowered IR: " + *difference};
  }
  if (auto problem = first_wrong(memory)) {
    return Failure{FailureKind::LoweredIr, "lowered IR: " + *problem};
  }
  return std::nullopt;
}

std::optional<Failure> ProgramChecker::check_compiled(const LoopTree& tree,
                                                      const schedule::Trace& trace,
                                                      const Memory& expected,
                                                      const codegen::BackEnd* back_end) {
  const auto fail = [](std::string text) {
    return Failure{FailureKind::Compiled, std::move(text)};
  };
  Result<codegen::BoundKernel> kernel =
      codegen::BoundKernel::build(task_, tree, trace, {.back_end = back_end}, kGuardBytes);
  if (!kernel) return fail(kernel.error().message);
  for (size_t k = 0; k < operands_.size(); ++k) {
    std::memcpy(kernel->operand(k).data(), operands_[k].data(), operands_[k].size());
  }
  kernel->set_constants();
  Memory results = expected;
  for (size_t k = 0; k < operands_.size(); ++k) {
    if (task_.workload.operands[k].role != Role::Output) continue;
    std::memset(kernel->argument(k), 0xff, results[k].size());
  }
  if (kernel->run() != 0) return fail("the kernel failed");
  if (!kernel->guards_intact()) return fail("the kernel wrote outside its buffers");
  for (size_t k = 0; k < operands_.size(); ++k) {
    if (task_.workload.operands[k].role != Role::Output) continue;
    std::memcpy(results[k].data(), kernel->argument(k), results[k].size());
  }
  const auto difference = first_difference(task_.workload, expected, results);
  return difference ? std::optional(fail("interpreter and compiled kernel: " + *difference))
                    : std::nullopt;
}

std::optional<std::string> ProgramChecker::first_wrong(const Memory& memory) {
  for (const te::TensorId output : task_.workload.dag->outputs()) {
    auto problem = first_wrong(output, memory[operand_index(task_.workload, output)]);
    if (problem) return problem;
  }
  return std::nullopt;
}

std::optional<std::string> ProgramChecker::first_wrong(te::TensorId output,
                                                       const std::vector<uint8_t>& bytes) {
  const te::Tensor& tensor = task_.workload.dag->tensor(output);
  const layout::Layout layout = task_.workload.operand_of(output).storage();
  const size_t rank = tensor.shape.size();
  std::vector<int64_t> index(rank, 0);
  const auto elements = static_cast<int64_t>(bytes.size()) / ir::bytes_of(tensor.element);
  for (int64_t e = 0; e < elements; ++e) {  // by where they lie
    int64_t rest = e;
    bool inside = true;
    for (size_t d = rank; d-- > 0;) {
      index[d] = rest % layout.digits[d].extent;
      inside = inside && index[d] < tensor.shape[d].high;
      rest /= layout.digits[d].extent;
    }
    const double stored = element_at(bytes, tensor.element, e);
    const double actual =
        task_.workload.permissions.denormals ? stored : ir::flush_denormal(stored, tensor.element);
    if (!inside) {
      if (is_untouched(bytes, tensor.element, e)) continue;
      return fmt::format("{} was written outside of its part, at element {}", tensor.name.text(),
                         e);
    }
    const double expected = evaluator_.element(output, index);
    if (is_wrong(output, index, actual, expected)) {
      return fmt::format("element {} of {} is {}, te/eval says {}, within {}", e,
                         tensor.name.text(), actual, expected, bound_.element(output, index).error);
    }
  }
  return std::nullopt;
}

bool ProgramChecker::is_wrong(te::TensorId output, std::span<const int64_t> index, double actual,
                              double expected) {
  ++compared_;
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return false;
  const double error = kAnyOrder * bound_.element(output, index).error;
  if (!std::isfinite(error)) {
    ++unbounded_;
    return false;
  }
  return !(std::abs(actual - expected) <= error);
}

std::optional<std::string> first_difference(const Workload& workload, const Memory& a,
                                            const Memory& b) {
  for (size_t k = 0; k < workload.operands.size(); ++k) {
    if (workload.operands[k].role != Role::Output || a[k] == b[k]) continue;
    const te::Tensor& tensor = workload.dag->tensor(workload.operands[k].tensor);
    const auto elements = static_cast<int64_t>(a[k].size()) / ir::bytes_of(tensor.element);
    for (int64_t element = 0; element < elements; ++element) {
      if (same_bits(workload, tensor.element, a[k], b[k], element)) continue;
      return fmt::format("element {} of {} is {} and {}", element, tensor.name.text(),
                         element_at(a[k], tensor.element, element),
                         element_at(b[k], tensor.element, element));
    }
  }
  return std::nullopt;
}

}  // namespace tilewright::testing
