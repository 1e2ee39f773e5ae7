#include "ir/print.h"

#include <fmt/format.h>

#include <cmath>

namespace tilewright::ir {
namespace {

// Operator precedence; a child of lower precedence is parenthesized. Functions have the highest.
int precedence(const Expr& expr) {
  const auto* n = expr.as<Binary>();
  if (n == nullptr) return 100;
  switch (n->op) {
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Mod:
      return 50;
    case BinaryOp::Add:
    case BinaryOp::Sub:
      return 40;
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::ShiftLeft:
    case BinaryOp::ShiftRight:
      return 35;
    case BinaryOp::Eq:
    case BinaryOp::Ne:
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
      return 30;
    case BinaryOp::And:
      return 20;
    case BinaryOp::Or:
      return 10;
    case BinaryOp::Min:
    case BinaryOp::Max:
      return 100;
  }
  return 100;
}

bool is_associative(BinaryOp op) { return op == BinaryOp::And || op == BinaryOp::Or; }

std::string float_text(double value, Scalar type) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // The shortest decimal that parses to the same value of the type.
  std::string text =
      type == Scalar::F64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

constexpr size_t kBrief = 500;  // characters

class Printer {
 public:
  explicit Printer(const BufferNamer& namer, size_t limit = std::string::npos)
      : namer_(namer), limit_(limit) {}

  std::string text;

  // The text, cut at the limit, at which printing stops.
  std::string cut_text() && {
    if (text.size() <= limit_) return std::move(text);
    text.resize(limit_);
    return text + "...";
  }

  void print(const Expr& expr);
  void print(const Stmt& stmt, int depth, bool last);

  // Text after `allocate b`, such as its type and shape.
  BufferNamer buffer_details;

 private:
  void print_list(const std::vector<Expr>& list) {
    for (size_t k = 0; k < list.size(); ++k) {
      if (k > 0) text += ", ";
      print(list[k]);
    }
  }
  void print_operand(const Expr& expr, bool parentheses) {
    if (parentheses) text += '(';
    print(expr);
    if (parentheses) text += ')';
  }
  void print_binary(const Expr& expr);
  void print_access(BufferId buffer, const std::vector<Expr>& indices) {
    text += buffer_name(buffer);
    text += '[';
    print_list(indices);
    text += ']';
  }
  std::string buffer_name(BufferId buffer) const {
    return namer_ ? namer_(buffer) : fmt::format("b{}", buffer);
  }
  void indent(int depth) { text.append(2 * static_cast<size_t>(depth), ' '); }
  // The end of the line of a Let or an Allocate, and its scope.
  void print_scope(const Stmt& body, int depth, bool last) {
    text += last ? "\n" : ":\n";
    print(body, last ? depth : depth + 1, true);
  }

  bool is_full() const { return text.size() > limit_; }

  const BufferNamer& namer_;
  const size_t limit_;
};

void Printer::print_binary(const Expr& expr) {
  const auto* n = expr.as<Binary>();
  if (n->op == BinaryOp::Min || n->op == BinaryOp::Max) {
    text += name_of(n->op);
    text += '(';
    print(n->a);
    text += ", ";
    print(n->b);
    text += ')';
    return;
  }
  const int own = precedence(expr);
  const bool chains = own != 30 && own != 35;  // a < b < c and a & b | c are always bracketed
  const int left = precedence(n->a), right = precedence(n->b);
  print_operand(n->a, left < own || (left == own && !chains));
  text += ' ';
  text += name_of(n->op);
  text += ' ';
  print_operand(n->b, right < own || (right == own && !is_associative(n->op)));
}

void Printer::print(const Expr& expr) {
  if (is_full()) return;
  switch (expr.kind()) {
    case ExprKind::IntImm: {
      const int64_t value = expr.as<IntImm>()->value;
      const Scalar type = expr.type().scalar;
      if (type == Scalar::Bool) {
        text += value != 0 ? "true" : "false";
      } else if (type == Scalar::I64) {
        text += fmt::format("{}", value);
      } else {
        text += fmt::format("{}({})", name_of(type), value);
      }
      return;
    }
    case ExprKind::FloatImm: {
      const Scalar type = expr.type().scalar;
      const std::string digits = float_text(expr.as<FloatImm>()->value, type);
      text += type == Scalar::F32 ? digits : fmt::format("{}({})", name_of(type), digits);
      return;
    }
    case ExprKind::Var:
      text += expr.as<Var>()->name.text();
      return;
    case ExprKind::Cast:
      text += to_string(expr.type()) + "(";
      print(expr.as<Cast>()->value);
      text += ')';
      return;
    case ExprKind::Binary:
      return print_binary(expr);
    case ExprKind::Fma: {
      const auto* n = expr.as<Fma>();
      text += "fma(";
      print_list({n->a, n->b, n->c});
      text += ')';
      return;
    }
    case ExprKind::Select: {
      const auto* n = expr.as<Select>();
      text += "select(";
      print_list({n->condition, n->if_true, n->if_false});
      text += ')';
      return;
    }
    case ExprKind::Call: {
      const auto* n = expr.as<Call>();
      text += name_of(n->function);
      text += '(';
      if (n->function == Intrinsic::Bitcast) text += to_string(n->type) + ", ";
      print_list(n->args);
      text += ')';
      return;
    }
    case ExprKind::Load:
      return print_access(expr.as<Load>()->buffer, expr.as<Load>()->indices);
    case ExprKind::Ramp: {
      const auto* n = expr.as<Ramp>();
      text += "ramp(";
      print(n->base);
      text += fmt::format(", {}, {})", n->stride, n->type.lanes);
      return;
    }
    case ExprKind::Broadcast:
      text += fmt::format("x{}(", expr.type().lanes);
      print(expr.as<Broadcast>()->value);
      text += ')';
      return;
    case ExprKind::VectorReduce: {
      const auto* n = expr.as<VectorReduce>();
      text += fmt::format("reduce({}, ", name_of(n->op));
      print(n->value);
      text += ')';
      return;
    }
    case ExprKind::Dot: {
      const auto* n = expr.as<Dot>();
      text += "dot(";
      print_list({n->sum, n->a, n->b});
      text += ')';
      return;
    }
  }
}

std::string_view prefix_of(ForKind kind) {
  switch (kind) {
    case ForKind::Serial:
      return "";
    case ForKind::Parallel:
      return "parallel ";
    case ForKind::Vectorized:
      return "vectorize ";
    case ForKind::Unrolled:
      return "unroll ";
    case ForKind::Tensorized:
      return "tensorize ";
    case ForKind::Bound:
      return "";  // the axis instead
  }
  return "";
}

// `last`: nothing follows in the block around it.
void Printer::print(const Stmt& stmt, int depth, bool last) {
  if (is_full()) return;
  if (const auto* block = stmt.as<Block>()) {
    for (size_t k = 0; k < block->stmts.size(); ++k) {
      print(block->stmts[k], depth, last && k + 1 == block->stmts.size());
    }
    return;
  }
  indent(depth);
  if (!stmt.defined()) {
    text += "pass\n";
    return;
  }
  switch (stmt.kind()) {
    case StmtKind::For: {
      const auto* n = stmt.as<For>();
      text += prefix_of(n->loop_kind);
      if (!n->intrinsic.empty()) text += n->intrinsic.text() + ' ';
      if (n->axis != ThreadAxis::None) text += fmt::format("{} ", word_of(n->axis));
      text += "for ";
      print(n->var);
      text += " < ";
      print(n->extent);
      text += ":\n";
      return print(n->body, depth + 1, true);
    }
    case StmtKind::If: {
      const auto* n = stmt.as<If>();
      text += "if ";
      print(n->condition);
      text += ":\n";
      print(n->then_body, depth + 1, true);
      if (n->else_body.defined()) {
        indent(depth);
        text += "else:\n";
        print(n->else_body, depth + 1, true);
      }
      return;
    }
    case StmtKind::Let: {
      const auto* n = stmt.as<Let>();
      text += "let ";
      print(n->var);
      text += " = ";
      print(n->value);
      return print_scope(n->body, depth, last);
    }
    case StmtKind::Store: {
      const auto* n = stmt.as<Store>();
      if (n->stream) text += "stream ";
      print_access(n->buffer, n->indices);
      text += " = ";
      print(n->value);
      if (n->predicate.defined()) {
        text += " where ";
        print(n->predicate);
      }
      text += '\n';
      return;
    }
    case StmtKind::Transpose: {
      const auto* n = stmt.as<Transpose>();
      text += fmt::format("transpose {} x {}: ", n->size, n->size);
      print_access(n->to.buffer, {n->to.index});
      text += fmt::format(" by {} = ", n->to.stride);
      print_access(n->from.buffer, {n->from.index});
      text += fmt::format(" by {}\n", n->from.stride);
      return;
    }
    case StmtKind::Prefetch: {
      const auto* n = stmt.as<Prefetch>();
      text += "prefetch ";
      print_access(n->buffer, n->indices);
      text += '\n';
      return;
    }
    case StmtKind::Allocate: {
      const auto* n = stmt.as<Allocate>();
      text += "allocate " + buffer_name(n->buffer);
      if (buffer_details) text += buffer_details(n->buffer);
      return print_scope(n->body, depth, last);
    }
    case StmtKind::Block:
      return;  // above
  }
}

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::Argument:
      return "argument";
    case Scope::Workspace:
      return "workspace";
    case Scope::Thread:
      return "thread";
    case Scope::Stack:
      return "stack";
    case Scope::Register:
      return "register";
    case Scope::Shared:
      return "shared";
    case Scope::DeviceGlobal:
      return "device global";
    case Scope::DeviceLocal:
      return "device local";
    case Scope::DeviceRegister:
      return "device register";
  }
  return "";
}

}  // namespace

std::string to_string(const Expr& expr, const BufferNamer& buffer_name) {
  if (!expr.defined()) return "null";
  Printer printer(buffer_name);
  printer.print(expr);
  return std::move(printer.text);
}

std::string to_string(const Stmt& stmt, const BufferNamer& buffer_name) {
  Printer printer(buffer_name);
  printer.print(stmt, 0, true);
  return std::move(printer.text);
}

std::string brief(const Expr& expr, const BufferNamer& buffer_name) {
  if (!expr.defined()) return "null";
  Printer printer(buffer_name, kBrief);
  printer.print(expr);
  return std::move(printer).cut_text();
}

std::string brief(const Stmt& stmt, const BufferNamer& buffer_name) {
  Printer printer(buffer_name, kBrief);
  printer.print(stmt, 0, true);
  const std::string text = std::move(printer).cut_text();
  return text.substr(0, text.find('\n'));
}

std::string to_string(const Function& function) {
  const auto known = [&](BufferId id) { return id < function.buffers.size(); };
  const BufferNamer namer = [&](BufferId id) {
    return known(id) ? function.buffers[id].name : fmt::format("b{}", id);
  };
  const auto type_and_shape = [&](BufferId id) {
    const Buffer& buffer = function.buffers[id];
    return fmt::format(": {}[{}]", to_string(buffer.element), fmt::join(buffer.shape, ", "));
  };
  Printer printer(namer);
  printer.buffer_details = [&](BufferId id) -> std::string {
    if (!known(id)) return "";
    return fmt::format("{} in {}", type_and_shape(id), name_of(function.buffers[id].scope));
  };
  printer.text = function.name + "(";
  for (size_t k = 0; k < function.arguments.size(); ++k) {
    const BufferId id = function.arguments[k];
    const bool written = k < function.argument_written.size() && function.argument_written[k];
    if (k > 0) printer.text += ", ";
    printer.text += (written ? "out " : "") + namer(id) + (known(id) ? type_and_shape(id) : "");
  }
  printer.text += "):\n";
  printer.print(function.body, 1, true);
  return std::move(printer.text);
}

}  // namespace tilewright::ir
