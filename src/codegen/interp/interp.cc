#include "codegen/interp/interp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>

#include "base/check.h"
#include "codegen/interp/lane.h"
#include "ir/print.h"
#include "runtime/host/float_scope.h"

namespace tilewright::codegen {
namespace {

using namespace ir;  // NOLINT(google-build-using-namespace): every node type is named here

// The memory of a live buffer. Elements of a vector type are stored lane after lane.
struct Memory {
  std::byte* data = nullptr;  // null: not live
  std::vector<std::byte> owned;
  std::vector<bool> written;  // per lane; empty for arguments, which count as written
};

// Evaluates lane by lane: evaluate(expr, lane) is the value of that lane alone, so a lazy Select
// needs no special treatment for vectors. The first error is kept; from then on values are zero and
// statements do nothing.
class Interpreter {
 public:
  Interpreter(const Function& function, const InterpOptions& options)
      : function_(function), options_(options), memory_(function.buffers.size()) {}

  Status run(std::span<void* const> arguments) {
    if (arguments.size() != function_.arguments.size()) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{}: {} arguments given, {} expected", function_.name,
                              arguments.size(), function_.arguments.size()));
    }
    for (size_t k = 0; k < arguments.size(); ++k) {
      memory_[function_.arguments[k]].data = static_cast<std::byte*>(arguments[k]);
    }
    execute(function_.body);
    if (error_.empty()) return {};
    return fail(ErrorKind::BadInput, fmt::format("{}: {}", function_.name, error_));
  }

 private:
  void execute(const Stmt& stmt);
  void execute_for(const For& loop);
  void execute_let(const Let& let);
  void execute_store(const Store& store);
  void execute_transpose(const Transpose& transpose);
  void execute_allocate(const Allocate& allocate);

  Lane evaluate(const Expr& expr, unsigned lane);
  Lane evaluate_node(const Expr& expr, unsigned lane);
  Lane evaluate_var(const Var& var, unsigned lane);
  Lane evaluate_load(const Load& load, unsigned lane);
  Lane evaluate_reduce(const VectorReduce& reduce);
  Lane evaluate_dot(const Dot& dot, unsigned lane);

  // The checked offset of an access in lanes; empty after an error.
  std::optional<int64_t> locate(BufferId buffer, const std::vector<Expr>& indices, Type type,
                                unsigned lane);
  void observe(BufferId buffer, int64_t offset, bool is_store) {
    if (options_.observer) options_.observer({buffer, offset, is_store}, environment_);
  }

  bool failed() const { return !error_.empty(); }
  template <class... Args>
  void report(fmt::format_string<Args...> format, Args&&... args) {
    if (failed()) return;
    error_ = fmt::format(format, std::forward<Args>(args)...);
    if (!current_.defined()) return;
    error_ += fmt::format("; at `{}`", brief(current_, [this](BufferId id) { return name(id); }));
  }
  const std::string& name(BufferId id) const { return function_.buffers[id].name; }

  const Function& function_;
  const InterpOptions& options_;
  std::vector<Memory> memory_;                           // by BufferId
  Environment environment_;                              // scalar I64 variables
  std::unordered_map<VarId, std::vector<Lane>> values_;  // all other Let variables
  Stmt current_;                                         // the statement being executed
  int64_t steps_ = 0;
  std::string error_;

  // Values of shared nodes within one statement: expressions are dags, and traversing them as trees
  // may take exponential time. Key: node and lane.
  struct Key {
    const Node* node;
    unsigned lane;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.node) * 31 + key.lane;
    }
  };
  std::unordered_map<Key, Lane, KeyHash> shared_;
};

void Interpreter::execute(const Stmt& stmt) {
  if (!stmt.defined() || failed()) return;
  if (const auto* block = stmt.as<Block>()) {
    for (const Stmt& child : block->stmts) execute(child);
    return;
  }
  current_ = stmt;
  shared_.clear();
  if (++steps_ > options_.max_steps) return report("more than {} steps", options_.max_steps);
  switch (stmt.kind()) {
    case StmtKind::For:
      return execute_for(*stmt.as<For>());
    case StmtKind::Let:
      return execute_let(*stmt.as<Let>());
    case StmtKind::Store:
      return execute_store(*stmt.as<Store>());
    case StmtKind::Allocate:
      return execute_allocate(*stmt.as<Allocate>());
    case StmtKind::Transpose:
      return execute_transpose(*stmt.as<Transpose>());
    case StmtKind::Prefetch:
      return;
    case StmtKind::If: {
      const auto* branch = stmt.as<If>();
      const bool taken = evaluate(branch->condition, 0) != 0;
      return execute(taken ? branch->then_body : branch->else_body);
    }
    case StmtKind::Block:
      break;
  }
}

void Interpreter::execute_for(const For& loop) {
  const int64_t extent = integer_of(evaluate(loop.extent, 0));
  const VarId var = loop.var.as<Var>()->id;
  for (int64_t k = 0; k < extent && !failed(); ++k) {
    environment_.set(var, k);
    execute(loop.body);
    environment_.erase(var);
  }
}

void Interpreter::execute_let(const Let& let) {
  const VarId var = let.var.as<Var>()->id;
  if (let.value.type() == kIndex) {
    environment_.set(var, integer_of(evaluate(let.value, 0)));
    execute(let.body);
    environment_.erase(var);
    return;
  }
  std::vector<Lane> lanes;
  for (unsigned k = 0; k < let.value.type().lanes; ++k) lanes.push_back(evaluate(let.value, k));
  values_[var] = std::move(lanes);
  execute(let.body);
  values_.erase(var);
}

// All lanes are evaluated before the first is written; they are written in order.
void Interpreter::execute_store(const Store& store) {
  const Type type = store.value.type();
  const auto bytes = static_cast<int64_t>(bytes_of(type.scalar));
  std::vector<std::pair<int64_t, Lane>> lanes;
  for (unsigned k = 0; k < type.lanes; ++k) {
    const Lane value = evaluate(store.value, k);
    if (store.predicate.defined() && evaluate(store.predicate, k) == 0) continue;
    const auto offset = locate(store.buffer, store.indices, type, k);
    if (!offset || failed()) return;
    lanes.emplace_back(*offset, value);
  }
  Memory& memory = memory_[store.buffer];
  for (const auto& [offset, value] : lanes) {
    observe(store.buffer, offset, true);
    store_lane(type.scalar, value, memory.data + offset * bytes);
    if (!memory.written.empty()) memory.written[static_cast<size_t>(offset)] = true;
  }
}

// Element by element; each is a Store of a Load.
void Interpreter::execute_transpose(const Transpose& transpose) {
  const Scalar type = function_.buffers[transpose.to.buffer].element.scalar;
  const int64_t to_start = integer_of(evaluate(transpose.to.index, 0));
  const int64_t from_start = integer_of(evaluate(transpose.from.index, 0));
  for (int64_t row = 0; row < transpose.size; ++row) {
    for (int64_t column = 0; column < transpose.size && !failed(); ++column) {
      const Expr from = int_imm(from_start + column * transpose.from.stride + row);
      const Expr to = int_imm(to_start + row * transpose.to.stride + column);
      const Stmt store =
          make_store(transpose.to.buffer, {to}, load(type, transpose.from.buffer, {from}));
      execute_store(*store.as<Store>());
    }
  }
}

void Interpreter::execute_allocate(const Allocate& allocate) {
  const Buffer& buffer = function_.buffers[allocate.buffer];
  const auto lanes = static_cast<size_t>(buffer.elements()) * buffer.element.lanes;
  Memory& memory = memory_[allocate.buffer];
  memory.owned.assign(lanes * static_cast<size_t>(bytes_of(buffer.element.scalar)), std::byte{0});
  memory.owned.reserve(1);  // so that data is never null
  memory.written.assign(std::max<size_t>(lanes, 1), false);
  memory.data = memory.owned.data();
  execute(allocate.body);
  memory.data = nullptr;
}

std::optional<int64_t> Interpreter::locate(BufferId id, const std::vector<Expr>& indices, Type type,
                                           unsigned lane) {
  const Buffer& buffer = function_.buffers[id];
  if (memory_[id].data == nullptr) {
    report("`{}` is accessed outside of its Allocate", buffer.name);
    return std::nullopt;
  }
  if (indices.size() != buffer.shape.size()) {
    report("`{}` has {} dimensions, not {}", buffer.name, buffer.shape.size(), indices.size());
    return std::nullopt;
  }
  int64_t offset = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    const unsigned index_lane = indices[d].type().is_vector() ? lane : 0;
    const int64_t index = integer_of(evaluate(indices[d], index_lane));
    if (failed()) return std::nullopt;
    if (index < 0 || index >= buffer.shape[d]) {
      report("index {} of dimension {} of `{}` is not in [0, {})", index, d, buffer.name,
             buffer.shape[d]);
      return std::nullopt;
    }
    offset = offset * buffer.shape[d] + index;
  }
  if (!buffer.element.is_vector()) return offset;
  if (buffer.element.lanes != type.lanes) {
    report("`{}` of {} is accessed as {}", buffer.name, to_string(buffer.element), to_string(type));
    return std::nullopt;
  }
  return offset * buffer.element.lanes + lane;
}

Lane Interpreter::evaluate(const Expr& expr, unsigned lane) {
  const ExprKind kind = expr.kind();
  const bool worth_keeping = kind == ExprKind::Fma || kind == ExprKind::Call ||
                             kind == ExprKind::Select || kind == ExprKind::VectorReduce;
  if (!worth_keeping || expr.get()->references.load(std::memory_order_relaxed) < 2) {
    return evaluate_node(expr, lane);
  }
  const Key key{expr.get(), lane};
  if (const auto found = shared_.find(key); found != shared_.end()) return found->second;
  const Lane value = evaluate_node(expr, lane);
  shared_.emplace(key, value);
  return value;
}

Lane Interpreter::evaluate_node(const Expr& expr, unsigned lane) {
  if (failed()) return 0;
  const Scalar type = expr.type().scalar;
  switch (expr.kind()) {
    case ExprKind::IntImm:
      return lane_of(expr.as<IntImm>()->value);
    case ExprKind::FloatImm:
      return lane_of_float(type, expr.as<FloatImm>()->value);
    case ExprKind::Var:
      return evaluate_var(*expr.as<Var>(), lane);
    case ExprKind::Load:
      return evaluate_load(*expr.as<Load>(), lane);
    case ExprKind::Broadcast:
      return evaluate(expr.as<Broadcast>()->value, 0);
    case ExprKind::VectorReduce:
      return evaluate_reduce(*expr.as<VectorReduce>());
    case ExprKind::Dot:
      return evaluate_dot(*expr.as<Dot>(), lane);
    case ExprKind::Cast: {
      const auto* cast = expr.as<Cast>();
      return cast_lane(cast->value.type().scalar, type, evaluate(cast->value, lane));
    }
    case ExprKind::Ramp: {
      const auto* ramp = expr.as<Ramp>();
      const auto step = static_cast<__int128>(ramp->stride) * lane;
      return lane_of_exact(type, integer_of(evaluate(ramp->base, 0)) + step);
    }
    case ExprKind::Fma: {
      const auto* fma = expr.as<Fma>();
      const Lane a = evaluate(fma->a, lane);
      const Lane b = evaluate(fma->b, lane);
      return fma_lane(type, a, b, evaluate(fma->c, lane));
    }
    case ExprKind::Select: {
      const auto* select = expr.as<Select>();
      const bool taken = evaluate(select->condition, lane) != 0;
      return evaluate(taken ? select->if_true : select->if_false, lane);
    }
    case ExprKind::Call: {
      const auto* call = expr.as<Call>();
      const Lane a = evaluate(call->args[0], lane);
      if (call->function == Intrinsic::Bitcast) {
        return bitcast_lane(call->args[0].type().scalar, type, a);
      }
      return call_lane(call->function, type, a,
                       call->args.size() > 1 ? evaluate(call->args[1], lane) : 0);
    }
    case ExprKind::Binary: {
      const auto* binary = expr.as<Binary>();
      const Lane a = evaluate(binary->a, lane);
      const Lane b = evaluate(binary->b, lane);
      if (failed()) return 0;
      const auto value = binary_lane(binary->op, binary->a.type().scalar, a, b);
      if (!value)
        report("{} {} {} has no value", integer_of(a), name_of(binary->op), integer_of(b));
      return value.value_or(0);
    }
  }
  return 0;
}

Lane Interpreter::evaluate_var(const Var& var, unsigned lane) {
  if (var.type == kIndex) {
    if (const int64_t* value = environment_.find(var.id)) return lane_of(*value);
  } else if (const auto found = values_.find(var.id); found != values_.end()) {
    return found->second[lane];
  }
  report("variable `{}` is not bound", var.name.text());
  return 0;
}

Lane Interpreter::evaluate_load(const Load& load, unsigned lane) {
  const auto offset = locate(load.buffer, load.indices, load.type, lane);
  if (!offset) return 0;
  const Memory& memory = memory_[load.buffer];
  if (!memory.written.empty() && !memory.written[static_cast<size_t>(*offset)]) {
    report("element {} of `{}` is read before it was written", *offset, name(load.buffer));
    return 0;
  }
  observe(load.buffer, *offset, false);
  const auto bytes = static_cast<int64_t>(bytes_of(load.type.scalar));
  return load_lane(load.type.scalar, memory.data + *offset * bytes);
}

Lane Interpreter::evaluate_reduce(const VectorReduce& reduce) {
  const Scalar type = reduce.type.scalar;
  std::vector<Lane> lanes;
  for (unsigned k = 0; k < reduce.value.type().lanes; ++k) {
    lanes.push_back(evaluate(reduce.value, k));
  }
  while (lanes.size() > 1 && !failed()) {
    const size_t half = std::bit_floor(lanes.size() - 1);
    for (size_t k = 0; k + half < lanes.size(); ++k) {
      const auto value = binary_lane(reduce.op, type, lanes[k], lanes[k + half]);
      if (!value) report("{} does not reduce {}", name_of(reduce.op), to_string(reduce.type));
      lanes[k] = value.value_or(0);
    }
    lanes.resize(half);
  }
  return lanes[0];
}

Lane Interpreter::evaluate_dot(const Dot& dot, unsigned lane) {
  Lane sum = evaluate(dot.sum, lane);
  const unsigned factors = dot.factors();
  const unsigned row = lane / dot.lanes();
  const bool ascending = dot.rounding == ir::DotRounding::Ascending;
  for (unsigned k = 0; k < factors; ++k) {
    const unsigned f = ascending ? k : factors - 1 - k;
    const Lane a = evaluate(dot.a, row * factors + f);
    const Lane b = evaluate(dot.b, lane % dot.lanes() * factors + f);
    sum = dot_lane(dot.a.type().scalar, dot.rounding, a, b, sum);
  }
  return sum;
}

}  // namespace

const int64_t* Environment::find(VarId var) const {
  for (auto entry = values_.rbegin(); entry != values_.rend(); ++entry) {
    if (entry->first == var) return &entry->second;
  }
  return nullptr;
}

void Environment::set(VarId var, int64_t value) { values_.emplace_back(var, value); }

void Environment::erase(VarId var) {
  const auto entry = std::find_if(values_.rbegin(), values_.rend(),
                                  [&](const auto& bound) { return bound.first == var; });
  if (entry != values_.rend()) values_.erase(std::next(entry).base());
}

Status interpret(const Function& function, std::span<void* const> arguments,
                 const InterpOptions& options) {
  const runtime::FloatScope scope(function.denormals);
  return Interpreter(function, options).run(arguments);
}

}  // namespace tilewright::codegen
