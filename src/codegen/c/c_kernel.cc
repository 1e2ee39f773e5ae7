#include "codegen/c/c_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "codegen/c/c_stmt_emitter.h"
#include "ir/visit.h"

namespace tilewright::codegen {
namespace {

// The largest element of vectors used in computations; indices and conditions do not count.
class WidestElement : public ir::Visitor {
 public:
  using Visitor::visit;
  void visit(const ir::Expr& expr) override {
    if (!seen_.insert(expr.get()).second) return;
    const ir::Type type = expr.type();
    if (type.is_vector() && type.scalar != ir::Scalar::I64 && !ir::is_bool(type)) {
      bytes = std::max(bytes, ir::bytes_of(type.scalar));
    }
    Visitor::visit(expr);
  }
  int bytes = 0;

 private:
  std::unordered_set<const ir::Node*> seen_;
};

unsigned piece_limit(const ir::Function& function, const Target& target) {
  WidestElement widest;
  if (function.body.defined()) widest.visit(function.body);
  const int bytes = widest.bytes == 0 ? ir::bytes_of(ir::Scalar::I64) : widest.bytes;
  return static_cast<unsigned>(target.lanes(bytes));
}

// The body takes the parts of the call that it uses; the entry passes them.
std::string finish_body(const CEmission& emission, const CFrame& frame) {
  std::vector<std::string> parameters;
  std::vector<std::string> values;
  for (size_t k = 0; k < emission.function.arguments.size(); ++k) {
    const ir::BufferId id = emission.function.arguments[k];
    if (!has_word(frame.text.text(), frame.buffers[id])) continue;
    parameters.push_back(parameter_of(emission, id, frame.buffers[id], true));
    values.push_back(fmt::format("call->arguments[{}]", k));
  }
  const auto pass = [&](const char* parameter, const char* field) {
    parameters.emplace_back(parameter);
    values.push_back(fmt::format("call->{}", field));
  };
  if (frame.uses_workspace) pass("char* restrict workspace", "workspace");
  if (emission.tasks > 0) {
    pass("void* pool", "pool");
    pass("int32_t threads", "threads");
  }
  const std::string list =
      parameters.empty() ? "void" : fmt::format("{}", fmt::join(parameters, ", "));
  return fmt::format(
      "static int32_t {0}_body({1}) {{\n{2}}}\n\n"
      "int32_t {0}(const TilewrightCall* call) {{\n{3}  return {0}_body({4});\n}}\n",
      emission.symbol, list, frame.text.text(), values.empty() ? "  (void)call;\n" : "",
      fmt::join(values, ", "));
}

}  // namespace

Result<CKernelText> write_kernel(const ir::Function& function, const Target& target,
                                 const WorkspacePlan& plan, const std::string& symbol,
                                 Helpers& helpers) {
  CEmission emission{.function = function,
                     .plan = plan,
                     .symbol = symbol,
                     .helpers = helpers,
                     .limit = piece_limit(function, target),
                     .tasks_text = {},
                     .error = {}};
  CFrame frame;
  frame.buffers.resize(function.buffers.size());
  for (ir::BufferId id : function.arguments) {
    frame.buffers[id] = frame.text.fresh(function.buffers[id].name);
  }
  CStmtEmitter(emission, frame).emit(function.body);
  frame.text.line("return TILEWRIGHT_STATUS_OK;");
  if (!emission.error.empty()) {
    return fail(ErrorKind::Unsupported, function.name + ": " + emission.error);
  }
  return CKernelText{.text = emission.tasks_text + finish_body(emission, frame),
                     .is_parallel = emission.tasks > 0};
}

}  // namespace tilewright::codegen
