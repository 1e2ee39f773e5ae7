#include "tests/toys/machine/device/toy_code.h"

#include <unordered_map>

#include "base/wire.h"
#include "ir/verify.h"
#include "runtime/host/seal.h"

namespace tilewright::toys {
namespace {

constexpr uint64_t kMagic = 0x31544f59;  // "YOT1"
constexpr int kMaxDepth = 1000;

class Writer {
 public:
  Status function(const ir::Function& function) {
    to_.number(kMagic);
    to_.text(function.name);
    to_.number(static_cast<uint8_t>(function.denormals));
    to_.count(function.buffers.size());
    for (const ir::Buffer& buffer : function.buffers) {
      to_.text(buffer.name);
      type(buffer.element);
      to_.count(buffer.shape.size());
      for (const int64_t extent : buffer.shape) to_.number(extent);
      to_.number(buffer.scope);
    }
    to_.count(function.arguments.size());
    for (size_t k = 0; k < function.arguments.size(); ++k) {
      to_.number(function.arguments[k]);
      to_.number(static_cast<uint8_t>(function.argument_written[k]));
    }
    return stmt(function.body);
  }
  std::vector<uint8_t> take() && {
    const std::string bytes = std::move(to_).take();
    return runtime::sealed({bytes.begin(), bytes.end()});
  }

 private:
  void type(ir::Type type) {
    to_.number(type.scalar);
    to_.number(uint64_t{type.lanes});
  }

  Status exprs(const std::vector<ir::Expr>& all) {
    to_.count(all.size());
    for (const ir::Expr& one : all) TRY(expr(one));
    return {};
  }

  Status expr(const ir::Expr& expr) {
    to_.number(expr.kind());
    type(expr.type());
    switch (expr.kind()) {
      case ir::ExprKind::IntImm:
        to_.number(expr.as<ir::IntImm>()->value);
        return {};
      case ir::ExprKind::FloatImm:
        to_.number(expr.as<ir::FloatImm>()->value);
        return {};
      case ir::ExprKind::Var:
        to_.number(expr.as<ir::Var>()->id);
        return {};
      case ir::ExprKind::Cast:
        return this->expr(expr.as<ir::Cast>()->value);
      case ir::ExprKind::Binary: {
        const auto& node = *expr.as<ir::Binary>();
        to_.number(node.op);
        TRY(this->expr(node.a));
        return this->expr(node.b);
      }
      case ir::ExprKind::Fma: {
        const auto& node = *expr.as<ir::Fma>();
        return exprs({node.a, node.b, node.c});
      }
      case ir::ExprKind::Select: {
        const auto& node = *expr.as<ir::Select>();
        return exprs({node.condition, node.if_true, node.if_false});
      }
      case ir::ExprKind::Call:
        to_.number(expr.as<ir::Call>()->function);
        return exprs(expr.as<ir::Call>()->args);
      case ir::ExprKind::Load:
        to_.number(expr.as<ir::Load>()->buffer);
        return exprs(expr.as<ir::Load>()->indices);
      default:
        return fail(ErrorKind::Unsupported, "the toy machine has no vectors");
    }
  }

  Status stmt(const ir::Stmt& stmt) {
    to_.number(static_cast<uint8_t>(stmt.defined()));
    if (!stmt.defined()) return {};
    to_.number(stmt.kind());
    switch (stmt.kind()) {
      case ir::StmtKind::For: {
        const auto& node = *stmt.as<ir::For>();
        to_.number(node.loop_kind);
        to_.number(node.axis);
        TRY(exprs({node.var, node.extent}));
        return this->stmt(node.body);
      }
      case ir::StmtKind::If: {
        const auto& node = *stmt.as<ir::If>();
        TRY(expr(node.condition));
        TRY(this->stmt(node.then_body));
        return this->stmt(node.else_body);
      }
      case ir::StmtKind::Let: {
        const auto& node = *stmt.as<ir::Let>();
        TRY(exprs({node.var, node.value}));
        return this->stmt(node.body);
      }
      case ir::StmtKind::Store: {
        const auto& node = *stmt.as<ir::Store>();
        if (node.predicate.defined()) return fail(ErrorKind::Unsupported, "no masks on the toy");
        to_.number(node.buffer);
        TRY(exprs(node.indices));
        return expr(node.value);
      }
      case ir::StmtKind::Prefetch:
        to_.number(stmt.as<ir::Prefetch>()->buffer);
        return exprs(stmt.as<ir::Prefetch>()->indices);
      case ir::StmtKind::Allocate:
        to_.number(stmt.as<ir::Allocate>()->buffer);
        return this->stmt(stmt.as<ir::Allocate>()->body);
      case ir::StmtKind::Block:
        to_.count(stmt.as<ir::Block>()->stmts.size());
        for (const ir::Stmt& one : stmt.as<ir::Block>()->stmts) TRY(this->stmt(one));
        return {};
      default:
        return fail(ErrorKind::Unsupported, "the toy machine does not transpose");
    }
  }

  WireWriter to_;
};

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes)
      : from_({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) {}

  Result<ir::Function> function() {
    if (from_.number<uint64_t>() != kMagic) return bad();
    ir::Function function;
    function.name = from_.text();
    function.denormals = from_.number<uint8_t>() != 0;
    function.buffers.resize(from_.count(1));
    for (ir::Buffer& buffer : function.buffers) {
      buffer.name = from_.text();
      buffer.element = type();
      buffer.shape.resize(from_.count(1));
      for (int64_t& extent : buffer.shape) extent = from_.number<int64_t>();
      buffer.scope = from_.number<ir::Scope>();
    }
    function.arguments.resize(from_.count(1));
    for (ir::BufferId& argument : function.arguments) {
      argument = from_.number<ir::BufferId>();
      function.argument_written.push_back(from_.number<uint8_t>() != 0);
    }
    function.body = TRY(stmt());
    if (!from_.complete()) return bad();
    TRY(ir::verify(function));
    return function;
  }

 private:
  static std::unexpected<Error> bad() {
    return fail(ErrorKind::Build, "not a program of the toy machine");
  }

  ir::Type type() {
    const auto scalar = from_.number<ir::Scalar>();
    return ir::Type{scalar, static_cast<uint16_t>(from_.number<uint64_t>())};
  }

  Result<std::vector<ir::Expr>> exprs(size_t wanted) {
    std::vector<ir::Expr> all(from_.count(1));
    if (from_.failed() || (wanted != 0 && all.size() != wanted)) return bad();
    for (ir::Expr& one : all) one = TRY(expr());
    return all;
  }

  Result<ir::Expr> expr() {
    if (from_.failed() || ++depth_ > kMaxDepth) return bad();
    const auto kind = from_.number<ir::ExprKind>();
    const ir::Type type = this->type();
    if (from_.failed()) return bad();
    Result<ir::Expr> made = of_kind(kind, type);
    --depth_;
    return made;
  }

  Result<ir::Expr> of_kind(ir::ExprKind kind, ir::Type type) {
    switch (kind) {
      case ir::ExprKind::IntImm: {
        const auto value = from_.number<int64_t>();
        if (from_.failed()) return bad();
        return ir::int_imm(value, type);
      }
      case ir::ExprKind::FloatImm: {
        const auto value = from_.number<double>();
        if (from_.failed()) return bad();
        return ir::float_imm(value, type);
      }
      case ir::ExprKind::Var: {
        const auto id = from_.number<ir::VarId>();
        if (from_.failed()) return bad();
        ir::Expr& known = vars_[id];
        if (!known.defined()) known = ir::var("v", type);
        return known;
      }
      case ir::ExprKind::Cast:
        return ir::cast(type.scalar, TRY(expr()));
      case ir::ExprKind::Binary: {
        const auto op = from_.number<ir::BinaryOp>();
        ir::Expr a = TRY(expr());
        return ir::binary(op, std::move(a), TRY(expr()));
      }
      case ir::ExprKind::Fma: {
        const std::vector<ir::Expr> of = TRY(exprs(3));
        return ir::fma(of[0], of[1], of[2]);
      }
      case ir::ExprKind::Select: {
        const std::vector<ir::Expr> of = TRY(exprs(3));
        return ir::select(of[0], of[1], of[2]);
      }
      case ir::ExprKind::Call: {
        const auto function = from_.number<ir::Intrinsic>();
        std::vector<ir::Expr> arguments = TRY(exprs(0));
        if (function == ir::Intrinsic::Bitcast) return ir::bitcast(type.scalar, arguments.at(0));
        return ir::call(function, std::move(arguments));
      }
      case ir::ExprKind::Load: {
        const auto buffer = from_.number<ir::BufferId>();
        return ir::load(type, buffer, TRY(exprs(0)));
      }
      default:
        return bad();
    }
  }

  Result<ir::Stmt> stmt() {
    ir::Stmt made = TRY(optional_stmt());
    if (!made.defined()) return bad();
    return made;
  }

  Result<ir::Stmt> optional_stmt() {
    const bool is_there = from_.number<uint8_t>() != 0;
    if (from_.failed() || ++depth_ > kMaxDepth) return bad();
    Result<ir::Stmt> made = is_there ? stmt_of_kind() : ir::Stmt();
    --depth_;
    return made;
  }

  Result<ir::Stmt> stmt_of_kind() {
    switch (from_.number<ir::StmtKind>()) {
      case ir::StmtKind::For: {
        const auto kind = from_.number<ir::ForKind>();
        const auto axis = from_.number<ThreadAxis>();
        const std::vector<ir::Expr> of = TRY(exprs(2));
        ir::Stmt body = TRY(stmt());
        if (kind != ir::ForKind::Bound) return ir::make_for(of[0], of[1], kind, std::move(body));
        return ir::make_bound_for(of[0], of[1], axis, std::move(body));
      }
      case ir::StmtKind::If: {
        ir::Expr condition = TRY(expr());
        ir::Stmt then_body = TRY(stmt());
        return ir::make_if(std::move(condition), std::move(then_body), TRY(optional_stmt()));
      }
      case ir::StmtKind::Let: {
        const std::vector<ir::Expr> of = TRY(exprs(2));
        return ir::make_let(of[0], of[1], TRY(stmt()));
      }
      case ir::StmtKind::Store: {
        const auto buffer = from_.number<ir::BufferId>();
        std::vector<ir::Expr> indices = TRY(exprs(0));
        return ir::make_store(buffer, std::move(indices), TRY(expr()));
      }
      case ir::StmtKind::Prefetch: {
        const auto buffer = from_.number<ir::BufferId>();
        return ir::make_prefetch(buffer, TRY(exprs(0)));
      }
      case ir::StmtKind::Allocate: {
        const auto buffer = from_.number<ir::BufferId>();
        return ir::make_allocate(buffer, TRY(stmt()));
      }
      case ir::StmtKind::Block: {
        std::vector<ir::Stmt> stmts(from_.count(1));
        for (ir::Stmt& one : stmts) one = TRY(stmt());
        return ir::make_block(std::move(stmts));
      }
      default:
        return bad();
    }
  }

  WireReader from_;
  std::unordered_map<ir::VarId, ir::Expr> vars_;
  int depth_ = 0;
};

}  // namespace

Result<std::vector<uint8_t>> encode(const ir::Function& function) {
  Writer writer;
  TRY(writer.function(function));
  return std::move(writer).take();
}

// The seal is checked first, because the builders of loop IR do not check their arguments.
Result<ir::Function> decode(std::span<const uint8_t> bytes) {
  return Reader(TRY(runtime::unsealed(bytes))).function();
}

}  // namespace tilewright::toys
