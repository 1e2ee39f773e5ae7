#include "ir/expr.h"

#include <array>
#include <limits>

#include "ir/fold.h"
#include "ir/typing.h"

namespace tilewright::ir {
namespace {

void check_defined(const Expr& expr) { CHECK(expr.defined(), "operand is null"); }

unsigned checked_lanes(unsigned lanes) {
  CHECK(lanes >= 1 && lanes <= std::numeric_limits<uint16_t>::max(), "{} lanes", lanes);
  return lanes;
}

// Owns the new node and checks its types, a CHECK.
Expr checked(const Node* node) {
  Expr expr(node);
  const char* fault = type_fault(*node);
  CHECK(fault == nullptr, "{}", fault);
  return expr;
}

constexpr std::array<std::string_view, 20> kBinaryNames = {
    "+",  "-", "*",  "/",  "%",  "min", "max", "==", "!=", "<",
    "<=", ">", ">=", "&&", "||", "&",   "|",   "^",  "<<", ">>"};
constexpr std::array<std::string_view, 15> kIntrinsicNames = {
    "neg",  "abs", "not",     "floor", "round", "sqrt",  "exp",    "log",
    "tanh", "erf", "sigmoid", "rsqrt", "pow",   "ldexp", "bitcast"};

}  // namespace

// Frees a tree without recursion: children whose last reference was their parent are put on a list,
// which is as long as the tree is wide.
class ExprReaper {
 public:
  void free_tree(const Node* root) {
    free_node(root);
    while (count_ > 0 || !overflow_.empty()) free_node(pop());
  }

 private:
  void free_node(const Node* node) {
    switch (node->kind) {
      case ExprKind::IntImm:
        delete static_cast<const IntImm*>(node);
        return;
      case ExprKind::FloatImm:
        delete static_cast<const FloatImm*>(node);
        return;
      case ExprKind::Var:
        delete static_cast<const Var*>(node);
        return;
      case ExprKind::Cast:
        return free_with(static_cast<const Cast*>(node), &Cast::value);
      case ExprKind::Binary:
        return free_with(static_cast<const Binary*>(node), &Binary::a, &Binary::b);
      case ExprKind::Fma:
        return free_with(static_cast<const Fma*>(node), &Fma::a, &Fma::b, &Fma::c);
      case ExprKind::Select:
        return free_with(static_cast<const Select*>(node), &Select::condition, &Select::if_true,
                         &Select::if_false);
      case ExprKind::Call:
        return free_with_list(static_cast<const Call*>(node), &Call::args);
      case ExprKind::Load:
        return free_with_list(static_cast<const Load*>(node), &Load::indices);
      case ExprKind::Ramp:
        return free_with(static_cast<const Ramp*>(node), &Ramp::base);
      case ExprKind::Broadcast:
        return free_with(static_cast<const Broadcast*>(node), &Broadcast::value);
      case ExprKind::VectorReduce:
        return free_with(static_cast<const VectorReduce*>(node), &VectorReduce::value);
      case ExprKind::Dot:
        return free_with(static_cast<const Dot*>(node), &Dot::sum, &Dot::a, &Dot::b);
    }
  }

  template <class T, class... Member>
  void free_with(const T* node, Member... member) {
    T* dead = const_cast<T*>(node);  // the last reference is gone
    (drop(dead->*member), ...);
    delete dead;
  }
  template <class T>
  void free_with_list(const T* node, std::vector<Expr> T::* list) {
    T* dead = const_cast<T*>(node);
    for (Expr& child : dead->*list) drop(child);
    delete dead;
  }

  void drop(Expr& child) {
    const Node* node = std::exchange(child.node_, nullptr);
    if (node == nullptr || node->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (count_ < inline_.size()) {
      inline_[count_++] = node;
    } else {
      overflow_.push_back(node);
    }
  }
  const Node* pop() {
    if (overflow_.empty()) return inline_[--count_];
    const Node* node = overflow_.back();
    overflow_.pop_back();
    return node;
  }

  std::array<const Node*, 64> inline_;
  size_t count_ = 0;
  std::vector<const Node*> overflow_;
};

void destroy(const Node* node) {
  ExprReaper reaper;
  reaper.free_tree(node);
}

VarId fresh_var_id() {
  static std::atomic<VarId> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Expr int_imm(int64_t value, Type type) {
  CHECK(!is_float(type), "integer constant {} of type {}", value, to_string(type));
  CHECK(wrap_integer(value, type.scalar) == value, "{} is no {}", value, name_of(type.scalar));
  return broadcast(Expr(new IntImm(type.element(), value)), type.lanes);
}

Expr float_imm(double value, Type type) {
  CHECK(is_float(type), "float constant {} of type {}", value, to_string(type));
  const double rounded = convert(value, type.scalar);
  return broadcast(Expr(new FloatImm(type.element(), rounded)), type.lanes);
}

Expr imm(double value, Type type) {
  if (is_float(type)) return float_imm(value, type);
  return int_imm(convert_to_integer(value, type.scalar), type);
}

Expr var(std::string_view name, Type type) {
  return checked(new Var(type, fresh_var_id(), Name(name)));
}

Expr cast(Scalar to, Expr value) {
  check_defined(value);
  if (value.type().scalar == to) return value;
  if (Expr folded = fold_cast(to, value); folded.defined()) return folded;
  const Type type{to, value.type().lanes};
  return checked(new Cast(type, std::move(value)));
}

Expr binary(BinaryOp op, Expr a, Expr b) {
  check_defined(a);
  check_defined(b);
  const Type type = result_type(op, a.type());
  Expr made(new Binary(type, op, std::move(a), std::move(b)));
  const auto* node = made.as<Binary>();
  const char* fault = type_fault(*node);
  CHECK(fault == nullptr, "{}: {} {} {}", fault, to_string(node->a.type()), name_of(op),
        to_string(node->b.type()));
  Expr folded = fold(op, node->a, node->b);
  return folded.defined() ? folded : made;
}

Expr fma(Expr a, Expr b, Expr c) {
  check_defined(a);
  check_defined(b);
  check_defined(c);
  Expr made = checked(new Fma(std::move(a), std::move(b), std::move(c)));
  const auto* node = made.as<Fma>();
  Expr folded = fold_fma(node->a, node->b, node->c);
  return folded.defined() ? folded : made;
}

Expr select(Expr condition, Expr if_true, Expr if_false) {
  check_defined(condition);
  check_defined(if_true);
  check_defined(if_false);
  return checked(new Select(std::move(condition), std::move(if_true), std::move(if_false)));
}

Expr call(Intrinsic function, std::vector<Expr> args) {
  CHECK(function != Intrinsic::Bitcast, "use bitcast()");
  CHECK(!args.empty(), "{} without arguments", name_of(function));
  for (const Expr& arg : args) check_defined(arg);
  Expr made = checked(new Call(args[0].type(), function, args));
  Expr folded = fold_call(function, args[0], args.size() > 1 ? args[1] : Expr{});
  return folded.defined() ? folded : made;
}

Expr bitcast(Scalar to, Expr value) {
  check_defined(value);
  if (value.type().scalar == to) return value;
  const Type type{to, value.type().lanes};
  Expr made = checked(new Call(type, Intrinsic::Bitcast, {value}));
  Expr folded = fold_bitcast(to, value);
  return folded.defined() ? folded : made;
}

Expr load(Scalar element, BufferId buffer, std::vector<Expr> indices) {
  for (const Expr& index : indices) check_defined(index);
  const uint16_t lanes = indices.empty() ? uint16_t{1} : indices[0].type().lanes;
  return load(Type{element, lanes}, buffer, std::move(indices));
}

Expr load(Type type, BufferId buffer, std::vector<Expr> indices) {
  for (const Expr& index : indices) check_defined(index);
  return checked(new Load(type, buffer, std::move(indices)));
}

Expr ramp(Expr base, int64_t stride, unsigned lanes) {
  check_defined(base);
  if (checked_lanes(lanes) == 1) return base;
  return checked(new Ramp(std::move(base), stride, lanes));
}

Expr broadcast(Expr value, unsigned lanes) {
  check_defined(value);
  if (checked_lanes(lanes) == 1) return value;
  return checked(new Broadcast(std::move(value), lanes));
}

Expr vector_reduce(BinaryOp op, Expr value) {
  check_defined(value);
  if (!value.type().is_vector()) return value;
  return checked(new VectorReduce(op, std::move(value)));
}

Expr dot(Expr sum, Expr a, Expr b, unsigned rows, Name intrinsic, DotRounding rounding) {
  check_defined(sum);
  check_defined(a);
  check_defined(b);
  return checked(new Dot(std::move(sum), std::move(a), std::move(b), rows, intrinsic, rounding));
}

std::string_view name_of(BinaryOp op) { return kBinaryNames[static_cast<size_t>(op)]; }
std::string_view name_of(Intrinsic function) {
  return kIntrinsicNames[static_cast<size_t>(function)];
}

const int64_t* as_int(const Expr& expr) {
  if (const auto* i = expr.as<IntImm>()) return &i->value;
  if (const auto* b = expr.as<Broadcast>()) {
    if (const auto* i = b->value.as<IntImm>()) return &i->value;
  }
  return nullptr;
}

const Expr* uniform_value(const Expr& expr) {
  if (const auto* b = expr.as<Broadcast>()) return &b->value;
  return expr.type().is_vector() ? nullptr : &expr;
}

}  // namespace tilewright::ir
