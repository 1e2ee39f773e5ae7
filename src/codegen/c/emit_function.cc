// The functions of a kernel: entry and body; names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "codegen/c/emitter.h"
#include "ir/visit.h"

namespace tilewright::codegen {
namespace {

// Words that are not free for a variable: those of the language, and macros of common compilers.
constexpr std::array kTaken = {
    "alignas", "alignof",  "asm",      "constexpr", "nullptr",  "static_assert", "thread_local",
    "auto",    "bool",     "break",    "case",      "char",     "const",         "continue",
    "default", "do",       "double",   "else",      "enum",     "extern",        "false",
    "float",   "for",      "goto",     "if",        "inline",   "int",           "linux",
    "long",    "register", "restrict", "return",    "short",    "signed",        "sizeof",
    "static",  "struct",   "switch",   "true",      "typedef",  "typeof",        "union",
    "unix",    "unsigned", "void",     "volatile",  "while",    "workspace",     "worker",
    "pool",    "threads",  "call",     "context",   "captured",
};

// Those of types, macros, helpers and kernels.
constexpr std::string_view kTakenBeginnings[] = {"int", "uint", "INT",        "UINT",
                                                 "tw_", "TW_",  "tilewright", "TILEWRIGHT"};
constexpr std::string_view kTemporary = "t";  // numbered

// The largest element of the vectors that are computed with; indices and conditions do not count.
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

}  // namespace

CEmitter::CEmitter(const ir::Function& function, const Target& target, const WorkspacePlan& plan,
                   std::string symbol, Helpers& helpers)
    : function_(function),
      plan_(plan),
      symbol_(std::move(symbol)),
      helpers_(helpers),
      limit_(piece_limit(function, target)) {}

Result<std::string> CEmitter::emit() {
  Frame frame;
  frame_ = &frame;
  frame.names.insert(kTaken.begin(), kTaken.end());
  frame.buffers.resize(function_.buffers.size());
  for (ir::BufferId id : function_.arguments) {
    frame.buffers[id] = fresh(function_.buffers[id].name);
  }
  emit(function_.body);
  line("return TILEWRIGHT_STATUS_OK;");
  frame_ = nullptr;
  if (!error_.empty()) return fail(ErrorKind::Unsupported, function_.name + ": " + error_);
  return tasks_text_ + finish_body(frame);
}

// The body takes what it uses of the call; the entry hands it over.
std::string CEmitter::finish_body(const Frame& frame) {
  std::vector<std::string> parameters;
  std::vector<std::string> values;
  for (size_t k = 0; k < function_.arguments.size(); ++k) {
    const ir::BufferId id = function_.arguments[k];
    if (!has_word(frame.text, frame.buffers[id])) continue;
    parameters.push_back(parameter_of(id, frame.buffers[id], true));
    values.push_back(fmt::format("call->arguments[{}]", k));
  }
  const auto pass = [&](const char* parameter, const char* field) {
    parameters.emplace_back(parameter);
    values.push_back(fmt::format("call->{}", field));
  };
  if (frame.uses_workspace) pass("char* restrict workspace", "workspace");
  if (is_parallel()) {
    pass("void* pool", "pool");
    pass("int32_t threads", "threads");
  }
  const std::string list =
      parameters.empty() ? "void" : fmt::format("{}", fmt::join(parameters, ", "));
  return fmt::format(
      "static int32_t {0}_body({1}) {{\n{2}}}\n\n"
      "int32_t {0}(const TilewrightCall* call) {{\n{3}  return {0}_body({4});\n}}\n",
      symbol_, list, frame.text, values.empty() ? "  (void)call;\n" : "", fmt::join(values, ", "));
}

// The declaration of a pointer to an argument's or an allocated buffer's first element.
std::string CEmitter::parameter_of(ir::BufferId id, const std::string& name,
                                   bool restricted) const {
  const ir::Buffer& buffer = function_.buffers[id];
  const auto argument = std::ranges::find(function_.arguments, id);
  const bool is_argument = argument != function_.arguments.end();
  const auto position = static_cast<size_t>(argument - function_.arguments.begin());
  const bool is_input = is_argument && !function_.argument_written[position];
  const CType element{c_memory(buffer.element.scalar), 1};
  const bool in_workspace =
      buffer.scope == ir::Scope::Workspace || buffer.scope == ir::Scope::Thread;
  const std::string type = in_workspace ? helpers_.memory(element) : name_of(element);
  return fmt::format("{}{}* {}{}", is_input ? "const " : "", type,
                     restricted && is_argument ? "restrict " : "", name);
}

void CEmitter::line(std::string_view text) {
  frame_->text.append(2 * frame_->depth, ' ');
  frame_->text += text;
  frame_->text += '\n';
}

// A name that C takes and that no other variable of the function has: `i.0` -> `i_0`.
std::string CEmitter::fresh(std::string_view name) {
  std::string base = c_name(name);
  const bool starts_well = !base.empty() && std::isalpha(static_cast<unsigned char>(base[0])) != 0;
  const bool is_ours = std::ranges::any_of(
      kTakenBeginnings, [&](std::string_view beginning) { return base.starts_with(beginning); });
  if (!starts_well || is_ours) base = "v" + base;
  std::string candidate = base;
  if (base == kTemporary) {
    do {
      candidate = fmt::format("{}{}", base, frame_->temporaries++);
    } while (frame_->names.contains(candidate));
  } else {
    for (int k = 1; frame_->names.contains(candidate); ++k) {
      candidate = fmt::format("{}_{}", base, k);
    }
  }
  frame_->names.insert(candidate);
  frame_->block_names.push_back(candidate);
  return candidate;
}

// The first thing that cannot be written is the error of the whole; the rest goes on with zeros.
CValue CEmitter::unsupported(const std::string& what, ir::Type type) {
  if (error_.empty()) error_ = what;
  return {.type = type,
          .pieces = std::vector<Piece>(lanes_of(type).size(), Piece{"0"}),
          .mask_bytes = 1};
}

}  // namespace tilewright::codegen
