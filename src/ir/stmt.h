// Statements of the loop IR, immutable and shared like expressions, and the Function that holds
// them with its table of buffers.
//
// - For runs its body for var = 0 .. extent-1. Several threads may run the iterations of a Parallel
//   loop, which are independent; Parallel loops do not nest. Vectorized, Unrolled and Tensorized
//   are requests that the passes of those names carry out; a back end runs a remaining one as
//   Serial.
// - The iterations of a Bound loop are independent and run on an index of a GPU: `axis`. Loops of
//   different axes nest, blocks outside threads; those of virtual threads also in each other. What
//   a loop writes is visible to the statements after it, so a back end separates the loops of
//   threads by barriers. A CPU has no such loops; the interpreter runs them as Serial.
// - Allocate is the lifetime of a buffer, whose contents are undefined on entry.
// - A vector Store has vector indices, as a vector Load has. With a predicate it writes only the
//   lanes where that is true; the indices of other lanes may be out of bounds. The value is
//   evaluated in every lane.
// - Transpose copies a square of elements and swaps rows and columns. Elements do not overlap in
//   `to`; `to` and `from` are different buffers with one index each.
// - Prefetch, and `stream` of a Store, are hints that change no value.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_axis.h"
#include "ir/expr.h"

namespace tilewright::ir {

enum class StmtKind : uint8_t { For, If, Let, Store, Transpose, Prefetch, Allocate, Block };
enum class ForKind : uint8_t { Serial, Parallel, Vectorized, Unrolled, Tensorized, Bound };

struct StmtNode {
  mutable std::atomic<uint32_t> references{0};
  StmtKind kind;

 protected:
  explicit StmtNode(StmtKind k) : kind(k) {}
};

void destroy(const StmtNode* node);

class Stmt {
 public:
  Stmt() = default;  // null: an empty statement, such as an absent else
  explicit Stmt(const StmtNode* node) : node_(node) { retain(); }
  Stmt(const Stmt& other) : node_(other.node_) { retain(); }
  Stmt(Stmt&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Stmt& operator=(Stmt other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Stmt() { release(); }

  bool defined() const { return node_ != nullptr; }
  StmtKind kind() const { return node_->kind; }
  bool same_as(const Stmt& other) const { return node_ == other.node_; }
  const StmtNode* get() const { return node_; }

  template <class T>
  const T* as() const {
    return node_ != nullptr && node_->kind == T::kKind ? static_cast<const T*>(node_) : nullptr;
  }

 private:
  friend class StmtReaper;
  void retain() const {
    if (node_ != nullptr) node_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (node_ != nullptr && node_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy(node_);
    }
  }
  const StmtNode* node_ = nullptr;
};

struct For : StmtNode {
  static constexpr StmtKind kKind = StmtKind::For;
  Expr var;  // a Var of type I64
  Expr extent;
  ForKind loop_kind;
  // Tensorized: the outermost of the loops that it computes (schedule/intrinsics.h)
  Name intrinsic;
  ThreadAxis axis;  // Bound: the index that runs the iterations; else None
  Stmt body;
  For(Expr v, Expr e, ForKind k, Name i, ThreadAxis a, Stmt b)
      : StmtNode(kKind),
        var(std::move(v)),
        extent(std::move(e)),
        loop_kind(k),
        intrinsic(i),
        axis(a),
        body(std::move(b)) {}
  // The iterations are independent: several threads may run them.
  bool is_parallel() const { return loop_kind == ForKind::Parallel || loop_kind == ForKind::Bound; }
};
struct If : StmtNode {
  static constexpr StmtKind kKind = StmtKind::If;
  Expr condition;  // a scalar Bool
  Stmt then_body;
  Stmt else_body;  // may be null
  If(Expr c, Stmt t, Stmt e)
      : StmtNode(kKind),
        condition(std::move(c)),
        then_body(std::move(t)),
        else_body(std::move(e)) {}
};
struct Let : StmtNode {  // names a value for the body
  static constexpr StmtKind kKind = StmtKind::Let;
  Expr var;
  Expr value;
  Stmt body;
  Let(Expr v, Expr x, Stmt b)
      : StmtNode(kKind), var(std::move(v)), value(std::move(x)), body(std::move(b)) {}
};
struct Store : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Store;
  BufferId buffer;
  std::vector<Expr> indices;
  Expr value;
  Expr predicate;  // Bool of the value's lanes; null: always
  bool stream;     // a non-temporal store if possible: the element is not read soon
  Store(BufferId b, std::vector<Expr> i, Expr v, Expr p, bool s)
      : StmtNode(kKind),
        buffer(b),
        indices(std::move(i)),
        value(std::move(v)),
        predicate(std::move(p)),
        stream(s) {}
};
// A square of elements: row r, column c is buffer[index + r * stride + c].
struct Square {
  BufferId buffer;
  Expr index;  // a scalar
  int64_t stride;
};
struct Transpose : StmtNode {  // row r, column c of `to` = row c, column r of `from`
  static constexpr StmtKind kKind = StmtKind::Transpose;
  Square to;
  Square from;
  int64_t size;  // rows, and columns; a power of two, at least 4
  Transpose(Square t, Square f, int64_t s)
      : StmtNode(kKind), to(std::move(t)), from(std::move(f)), size(s) {}
};
struct Prefetch : StmtNode {  // the element is read soon; the indices may be out of bounds
  static constexpr StmtKind kKind = StmtKind::Prefetch;
  BufferId buffer;
  std::vector<Expr> indices;  // scalars
  Prefetch(BufferId b, std::vector<Expr> i) : StmtNode(kKind), buffer(b), indices(std::move(i)) {}
};
struct Allocate : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Allocate;
  BufferId buffer;
  Stmt body;
  Allocate(BufferId b, Stmt s) : StmtNode(kKind), buffer(b), body(std::move(s)) {}
};
struct Block : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Block;
  std::vector<Stmt> stmts;  // at least two, none null, none a Block
  explicit Block(std::vector<Stmt> s) : StmtNode(kKind), stmts(std::move(s)) {}
};

Stmt make_for(Expr var, Expr extent, ForKind kind, Stmt body, Name intrinsic = {});
Stmt make_bound_for(Expr var, Expr extent, ThreadAxis axis, Stmt body);
// A loop of the kind, the intrinsic and the axis of another.
Stmt make_for_like(const For& loop, Expr var, Expr extent, Stmt body);
Stmt make_if(Expr condition, Stmt then_body, Stmt else_body = {});
Stmt make_let(Expr var, Expr value, Stmt body);
Stmt make_store(BufferId buffer, std::vector<Expr> indices, Expr value,
                Expr predicate = {},  // a constant true is dropped
                bool stream = false);
Stmt make_transpose(Square to, Square from, int64_t size);
Stmt make_prefetch(BufferId buffer, std::vector<Expr> indices);
Stmt make_allocate(BufferId buffer, Stmt body);
Stmt make_block(std::vector<Stmt> stmts);  // drops nulls, splices Blocks; may give null or one stmt

// The memory a buffer is in: of the host, or of a device (target/capability.h).
enum class Scope : uint8_t {
  Argument,        // a pointer of the call; never allocated
  Workspace,       // host: the call's workspace, one for all threads
  Thread,          // host: the workspace of the thread that runs the enclosing Parallel iteration
  Stack,           // host: small, on the stack
  Register,        // `type` may be a vector; one element, index 0; becomes an SSA value
  Shared,          // device: on the chip, for the threads of one block
  DeviceGlobal,    // device: for all threads of the launch
  DeviceLocal,     // device: of one thread, in memory
  DeviceRegister,  // device: of one thread, in registers as far as its indices are constant
};
constexpr bool is_on_device(Scope scope) { return scope >= Scope::Shared; }

struct Buffer {
  std::string name;
  Type element;                // scalar, except for Register
  std::vector<int64_t> shape;  // before `flatten`, logical; afterwards one number of elements
  Scope scope = Scope::Argument;
  int alignment = 64;  // of the first element, in bytes
  // Its values are finite constants of the workload, or copies of such.
  bool finite = false;
  // A step chose its memory: no pass moves it to another.
  bool pinned = false;

  int64_t elements() const {
    int64_t n = 1;
    for (int64_t extent : shape) n *= extent;
    return n;
  }
};

// One kernel. `buffers[k]` for k in `arguments` are the pointers of the call, in that order.
struct Function {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<BufferId> arguments;
  std::vector<bool> argument_written;  // parallel to `arguments`: outputs
  Stmt body;
  bool denormals = false;  // they are kept; false: they count as zero (ir/type.h)
};

}  // namespace tilewright::ir
