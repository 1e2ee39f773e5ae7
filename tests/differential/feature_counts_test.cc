// Rows of features against counts taken by the interpreter: how often each statement is executed,
// its operations, and the bytes, elements and cache lines of each buffer that it touches.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "codegen/interp/interp.h"
#include "feature/rows.h"
#include "feature/rows_table.h"
#include "ir/visit.h"
#include "lower/build_nest.h"
#include "operands.h"
#include "schedule/apply.h"
#include "space/random_trace.h"
#include "task/parse.h"

namespace tilewright::testing {
namespace {

using schedule::Attachment;
using schedule::kNone;
using schedule::LoopTree;
using schedule::Stage;
using schedule::StageIndex;
using schedule::VarIndex;

constexpr int64_t kLineBytes = 64;

Machine some_machine() {
  Machine machine;
  machine.caches = {{.level = 1, .size_bytes = 32 << 10, .line_bytes = kLineBytes, .shared_by = 1}};
  return machine;
}

// The accesses of one statement to one buffer.
struct BufferCount {
  int64_t loads = 0, stores = 0;
  std::set<int64_t> elements, lines;
  int64_t last_line = -1, line_changes = 0;
  std::map<int64_t, std::vector<int64_t>> uses;  // by element: the executions, each once
};

struct StatementCount {
  StageIndex stage = kNone;
  bool folds = false;    // it is inside a reduce loop
  int64_t executed = 0;  // by its stores to the first of its buffers
  std::map<ir::BufferId, BufferCount> buffers;
};

// Observes one run of a nest. The bound loops identify the statement that accesses a buffer.
class Watcher {
 public:
  Watcher(const LoopTree& tree, const std::vector<lower::LoopBinding>& bindings)
      : tree_(tree), vars_(tree.vars.size()) {
    for (const lower::LoopBinding& binding : bindings) {
      vars_[static_cast<size_t>(binding.loop)].push_back(binding.var);
    }
  }

  void on_access(const codegen::AccessEvent& event, const codegen::Environment& environment) {
    StatementCount& statement = statement_of(event, environment);
    if (event.buffer >= tree_.buffers.size()) return;  // an accumulator of another type
    BufferCount& count = statement.buffers[event.buffer];
    const int bytes = ir::bytes_of(tree_.buffers[event.buffer].element);
    const int64_t line = event.offset * bytes / kLineBytes;
    (event.is_store ? count.stores : count.loads) += 1;
    count.elements.insert(event.offset);
    count.lines.insert(line);
    if (std::exchange(count.last_line, line) != line) ++count.line_changes;
    std::vector<int64_t>& uses = count.uses[event.offset];
    if (uses.empty() || uses.back() != statement.executed) uses.push_back(statement.executed);
    const auto first = static_cast<ir::BufferId>(tree_.stage(statement.stage).first_buffer);
    if (event.is_store && event.buffer == first) ++statement.executed;
  }

  const std::vector<StatementCount>& statements() const { return statements_; }  // as they began

 private:
  bool is_bound(VarIndex loop, const codegen::Environment& environment) const {
    return std::ranges::any_of(vars_[static_cast<size_t>(loop)],
                               [&](ir::VarId var) { return environment.find(var) != nullptr; });
  }

  int depth_of(StageIndex index) const {
    int depth = 0;
    for (; tree_.stage(index).place == Attachment::At; ++depth) index = tree_.stage(index).at_stage;
    return depth;
  }

  StatementCount& statement_of(const codegen::AccessEvent& event,
                               const codegen::Environment& environment) {
    StageIndex found = kNone;
    bool folds = false;
    for (size_t k = 0; k < tree_.stages.size(); ++k) {
      const Stage& stage = tree_.stages[k];
      if (stage.kind == schedule::StageKind::Input || stage.place == Attachment::Inlined) continue;
      bool inside = false;
      bool reduces = false;
      for (const VarIndex loop : stage.loops) {
        const bool bound = is_bound(loop, environment);
        inside |= bound;
        reduces |= bound && tree_.var(loop).kind == schedule::IterKind::Reduce;
      }
      const auto index = static_cast<StageIndex>(k);
      if (!inside || (found != kNone && depth_of(found) > depth_of(index))) continue;
      found = index;
      folds = reduces;
    }
    CHECK(found != kNone, "an access of buffer {} outside of all loops", event.buffer);
    for (StatementCount& statement : statements_) {
      if (statement.stage == found && statement.folds == folds) return statement;
    }
    statements_.push_back({.stage = found, .folds = folds, .executed = 0, .buffers = {}});
    return statements_.back();
  }

  const LoopTree& tree_;
  std::vector<std::vector<ir::VarId>> vars_;  // that stand for a loop, by loop
  std::vector<StatementCount> statements_;
};

// Float operations of the stores to a buffer: those of the store that has most of them.
struct FloatOps {
  double adds = 0, muls = 0, compares = 0, math = 0;
};

class StoreVisitor : public ir::Visitor {
 public:
  explicit StoreVisitor(ir::BufferId buffer) : buffer_(buffer) {}

  void visit(const ir::Stmt& stmt) override {
    if (const auto* store = stmt.as<ir::Store>(); store != nullptr && store->buffer == buffer_) {
      FloatOps ops;
      count(store->value, ops);
      if (ops.adds + ops.muls + ops.compares + ops.math >
          max_ops.adds + max_ops.muls + max_ops.compares + max_ops.math) {
        max_ops = ops;
      }
    }
    ir::Visitor::visit(stmt);
  }
  using ir::Visitor::visit;

  FloatOps max_ops;

 private:
  static void count(const ir::Expr& expr, FloatOps& ops) {
    if (expr.as<ir::Load>() != nullptr) return;
    if (const auto* node = expr.as<ir::Binary>(); node != nullptr && ir::is_float(node->a.type())) {
      const bool is_add = node->op == ir::BinaryOp::Add || node->op == ir::BinaryOp::Sub;
      if (is_add) {
        ops.adds += 1;
      } else if (node->op == ir::BinaryOp::Mul) {
        ops.muls += 1;
      } else if (node->op != ir::BinaryOp::Div) {
        ops.compares += 1;
      }
    }
    if (const auto* call = expr.as<ir::Call>(); call != nullptr && ir::is_float(expr.type())) {
      if (call->function >= ir::Intrinsic::Sqrt && call->function <= ir::Intrinsic::Pow) {
        ops.math += 1;
      }
    }
    ir::for_each_child(expr, [&](const ir::Expr& child) { count(child, ops); });
  }
  ir::BufferId buffer_;
};

struct Program {
  const char* name;
  const char* workload;
  const char* trace;
  bool lines = true;   // rows of buffers begin at a line, so that line counts are exact
  bool unique = true;  // regions are exact
  bool bytes = true;   // the border is met as often as in one pass: no halo is computed again
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's name
void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

class FeatureCountsTest : public ::testing::TestWithParam<Program> {
 protected:
  void SetUp() override {
    task_.workload = parse_workload(GetParam().workload).value();
    task_.target = parse_target("x86-64-v4;threads=2").value();
    trace_ = schedule::trace_from_text(GetParam().trace).value();
    initial_ = schedule::initial_tree(task_.workload).value();
    auto tree = schedule::apply_or_explain(initial_, trace_);
    ASSERT_TRUE(tree.has_value()) << tree.error().message;
    tree_ = *tree;
    nest_ = lower::build_nest(task_.workload, task_.target, tree_, trace_, &bindings_);
    feature::FeatureExtractor(task_, some_machine()).append(tree_, &batch_);
  }

  std::vector<StatementCount> counted() {
    Watcher watcher(tree_, bindings_);
    Memory memory = packed_operands(task_.workload, tree_, make_operands(task_.workload, 1));
    std::vector<void*> pointers;
    for (auto& bytes : memory) pointers.push_back(bytes.data());
    const codegen::InterpOptions options{
        .observer = [&](const auto& event, const auto& environment) {
          watcher.on_access(event, environment);
        }};
    EXPECT_TRUE(codegen::interpret(nest_, pointers, options).has_value());
    return watcher.statements();
  }

  double at(size_t row, std::string_view name) const {
    const auto table = feature::feature_table();
    const auto found = std::ranges::find(table, name, &feature::FeatureInfo::name);
    CHECK(found != table.end(), "there is no feature {}", name);
    const auto column = static_cast<size_t>(found - table.begin());
    const double value = batch_.values[row * feature::feature_count() + column];
    return std::copysign(std::exp2(std::abs(value)) - 1, value);
  }

  // The buffers of a row: how they are used, bytes, and unique bytes and lines where those are
  // exact.
  std::multiset<std::string> row_buffers(size_t row) const {
    std::multiset<std::string> out;
    for (int k = 0; k < 5; ++k) {
      const auto column = [&](const char* name) {
        return at(row, fmt::format("access{}.{}", k, name));
      };
      const bool reads = column("is_read") + column("is_read_write") > 0.5;
      const bool writes = column("is_write") + column("is_read_write") > 0.5;
      if (!reads && !writes) continue;
      out.insert(text_of(reads, writes, column("bytes"), column("unique_bytes"),
                         column("unique_lines"), column("lines")));
    }
    return out;
  }

  std::multiset<std::string> counted_buffers(const StatementCount& statement) const {
    std::multiset<std::string> out;
    for (const auto& [buffer, count] : statement.buffers) {
      const double element = ir::bytes_of(tree_.buffers[buffer].element);
      const auto accesses = static_cast<double>(std::max(count.loads, count.stores));
      out.insert(text_of(count.loads > 0, count.stores > 0, element * accesses,
                         element * static_cast<double>(count.elements.size()),
                         static_cast<double>(count.lines.size()),
                         static_cast<double>(count.line_changes)));
    }
    return out;
  }

  static std::string text_of(bool reads, bool writes, double bytes, double unique_bytes,
                             double unique_lines, double lines) {
    std::string text = fmt::format("{}{}", reads ? "read" : "", writes ? "write" : "");
    if (GetParam().bytes) text += fmt::format(" {} bytes", std::llround(bytes));
    if (GetParam().unique) text += fmt::format(", {} unique", std::llround(unique_bytes));
    if (GetParam().lines) {
      text += fmt::format(", {} unique lines, {} lines", std::llround(unique_lines),
                          std::llround(lines));
    }
    return text;
  }

  Task task_;
  schedule::Trace trace_;
  LoopTree initial_, tree_;
  ir::Function nest_;
  std::vector<lower::LoopBinding> bindings_;
  feature::Encoded batch_;
};

TEST_P(FeatureCountsTest, RowsEqualInterpreterCounts) {
  const std::vector<StatementCount> statements = counted();
  ASSERT_EQ(batch_.begin[1], statements.size());
  for (size_t row = 0; row < statements.size(); ++row) {
    const StatementCount& statement = statements[row];
    const Stage& stage = tree_.stage(statement.stage);
    SCOPED_TRACE(fmt::format("statement {}, of {}\n{}", row, stage.name.text(), tree_.to_string()));
    const auto executed = static_cast<double>(statement.executed);
    EXPECT_NEAR(at(row, "iterations"), executed, 1e-4 * executed);
    EXPECT_EQ(at(row, "is_update") > 0.5, statement.folds);
    EXPECT_EQ(row_buffers(row), counted_buffers(statement));

    StoreVisitor visitor(static_cast<ir::BufferId>(stage.first_buffer));
    visitor.visit(nest_.body);
    const bool is_init = at(row, "is_init") > 0.5;
    const FloatOps ops = is_init ? FloatOps{} : visitor.max_ops;
    const double near = 1e-4 * executed;
    EXPECT_NEAR(at(row, "float_mad") + at(row, "float_add"), ops.adds * executed, near);
    EXPECT_NEAR(at(row, "float_mad") + at(row, "float_mul"), ops.muls * executed, near);
    EXPECT_NEAR(at(row, "float_compare"), ops.compares * executed, near);
    EXPECT_NEAR(at(row, "float_math"), ops.math * executed, near);
  }
}

// The reuse of elements of a buffer by a statement: the minimum number of executions between two
// uses, and the number of consecutive reuses at that distance.
struct Reuse {
  int64_t distance = 0, times = 0;  // 0: no element is used by two executions
};

Reuse reuse_of(const BufferCount& count) {
  Reuse reuse;
  for (const auto& [element, uses] : count.uses) {
    for (size_t k = 1; k < uses.size(); ++k) {
      const int64_t distance = uses[k] - uses[k - 1];
      if (reuse.distance == 0 || distance < reuse.distance) reuse.distance = distance;
    }
  }
  for (const auto& [element, uses] : count.uses) {
    int64_t times = 1;
    for (size_t k = 1; k < uses.size(); ++k) {
      times = uses[k] - uses[k - 1] == reuse.distance ? times + 1 : 1;
      reuse.times = std::max(reuse.times, times);
    }
  }
  return reuse;
}

class FeatureReuseTest : public FeatureCountsTest {
 protected:
  // Bytes of all buffers that the first executions of a statement touch.
  double bytes_within(const StatementCount& statement, int64_t executions) const {
    double bytes = 0;
    for (const auto& [buffer, count] : statement.buffers) {
      for (const auto& [element, uses] : count.uses) {
        if (uses.front() < executions) bytes += ir::bytes_of(tree_.buffers[buffer].element);
      }
    }
    return bytes;
  }

  std::multiset<std::string> counted_reuse(const StatementCount& statement) const {
    std::multiset<std::string> out;
    for (const auto& [index, count] : statement.buffers) {
      const schedule::Buffer& buffer = tree_.buffers[index];
      const bool own =
          !buffer.is_argument && tree_.stage(buffer.stage).kind != schedule::StageKind::Input;
      const Reuse reuse = reuse_of(count);
      const auto accesses = static_cast<double>(std::max(count.loads, count.stores));
      const double bytes = accesses * ir::bytes_of(buffer.element);
      if (reuse.distance == 0) {
        out.insert(own ? "sequence" : fmt::format("none {}", std::llround(2 * bytes)));
        continue;
      }
      out.insert(fmt::format("loop {} x{} {} bytes between, {} each", reuse.distance, reuse.times,
                             std::llround(bytes_within(statement, reuse.distance)),
                             std::llround(bytes / static_cast<double>(reuse.times))));
    }
    return out;
  }

  std::multiset<std::string> row_reuse(size_t row) const {
    std::multiset<std::string> out;
    for (int k = 0; k < 5; ++k) {
      const auto column = [&](const char* name) {
        return at(row, fmt::format("access{}.{}", k, name));
      };
      if (column("bytes") < 0.5) continue;
      const auto each = std::llround(column("bytes_per_reuse"));
      if (column("reuse_in_sequence") > 0.5) out.insert("sequence");
      if (column("reuse_none") > 0.5) out.insert(fmt::format("none {}", each));
      if (column("reuse_in_loop") < 0.5) continue;
      const double count = column("reuse_count");
      out.insert(fmt::format("loop {} x{} {} bytes between, {} each",
                             std::llround(column("reuse_iterations")), std::llround(count),
                             std::llround(column("reuse_bytes")), each));
      // The others of their kind are by the same count.
      for (const char* name : {"unique_bytes", "lines", "unique_lines"}) {
        EXPECT_NEAR(column(fmt::format("{}_per_reuse", name).c_str()), column(name) / count,
                    1e-3 * column(name));
      }
    }
    return out;
  }
};

TEST_P(FeatureReuseTest, ReuseEqualsThatOfInterpreterEvents) {
  const std::vector<StatementCount> statements = counted();
  ASSERT_EQ(batch_.begin[1], statements.size());
  for (size_t row = 0; row < statements.size(); ++row) {
    SCOPED_TRACE(fmt::format("statement {}\n{}", row, tree_.to_string()));
    EXPECT_EQ(row_reuse(row), counted_reuse(statements[row]));
  }
}

// Operations a byte after a tenth of the work and after all of it: outer loops are of 10.
TEST_P(FeatureReuseTest, IntensityEqualsThatOfInterpreterEvents) {
  const std::vector<StatementCount> statements = counted();
  for (size_t row = 0; row < statements.size(); ++row) {
    const StatementCount& statement = statements[row];
    StoreVisitor visitor(static_cast<ir::BufferId>(tree_.stage(statement.stage).first_buffer));
    visitor.visit(nest_.body);
    const FloatOps& max_ops = visitor.max_ops;
    const double ops = at(row, "is_init") > 0.5
                           ? 0
                           : max_ops.adds + max_ops.muls + max_ops.compares + max_ops.math;
    for (const auto& [name, share] : {std::pair("curve0", 10), {"curve9", 1}}) {
      const int64_t executions = statement.executed / share;
      const double expected =
          ops * static_cast<double>(executions) / bytes_within(statement, executions);
      EXPECT_NEAR(at(row, name), expected, 1e-3 * expected) << "statement " << row << " " << name;
    }
    for (int k = 1; k < 10 && ops > 0; ++k) {  // between those it does not fall
      EXPECT_GE(at(row, fmt::format("curve{}", k)) * 1.001, at(row, fmt::format("curve{}", k - 1)));
    }
  }
}

const Program kReusing[] = {
    {.name = "products_inside", .workload = "matmul:m=10,n=24,k=16", .trace = ""},
    {.name = "columns_inside",
     .workload = "matmul:m=10,n=24,k=16",
     .trace = "reorder C [i, k, j]\n"},
    {.name = "rows_inside", .workload = "matmul:m=12,n=10,k=16", .trace = "reorder C [j, k, i]\n"},
    {.name = "tile_inside",
     .workload = "matmul:m=20,n=16,k=8",
     .trace = "split C i [2]\nreorder C [i.0, k, i.1, j]\n"},
    {.name = "nothing_again", .workload = "elementwise:shape=10x32,chain=relu", .trace = ""},
    {.name = "sums_of_rows", .workload = "reduce:op=sum,shape=10x64,axes=1", .trace = ""},
    {.name = "maxima_of_columns", .workload = "reduce:op=max,shape=16x10,axes=0", .trace = ""},
};

INSTANTIATE_TEST_SUITE_P(Programs, FeatureReuseTest, ::testing::ValuesIn(kReusing),
                         [](const auto& info) { return std::string(info.param.name); });

const Program kPrograms[] = {
    {.name = "matmul_tiled",
     .workload = "matmul:m=16,n=64,k=32",
     .trace = "cache_write C\nsplit C i [4]\nsplit C j [32]\nreorder C [i.0, j.0, i.1, j.1]\n"
              "annotate C i.0 parallel\nannotate C j.1 vectorize\ncompute_at C.write C j.0\n"
              "split C.write k [16]\nreorder C.write [k.0, k.1, i, j]\n"
              "annotate C.write i unroll\nannotate C.write j vectorize\n"},
    {.name = "matmul_fused_loops",
     .workload = "matmul:m=8,n=48,k=16",
     .trace = "split C j [16]\nreorder C [i, j.0, k, j.1]\nfuse C [i, j.0]\n"
              "annotate C (i,j.0) parallel\nannotate C j.1 vectorize\n"},
    {.name = "fusion_that_is_split",
     .workload = "elementwise:shape=12x32,chain=relu",
     .trace = "fuse Y [i, j]\nsplit Y (i,j) [16]\nannotate Y (i,j).1 vectorize\n"},
    {.name = "conv_padding_inlined",
     .workload = "conv2d:n=1,h=6,w=5,ci=16,co=32,kernel=3,stride=1,pad=1",
     .trace = "compute_inline P\nreorder Y [n, y, x, ry, rx, rc, c]\nannotate Y c vectorize\n",
     .lines = false},
    {.name = "conv_strided_padding_inlined",
     .workload = "conv2d:n=1,h=9,w=7,ci=4,co=16,kernel=3,stride=2,pad=1",
     .trace = "compute_inline P\nsplit Y y [2]\nreorder Y [n, y.0, x, c, ry, rx, rc, y.1]\n",
     .lines = false},
    {.name = "conv_padding_attached",
     .workload = "conv2d:n=1,h=8,w=8,ci=16,co=16,kernel=3,stride=1,pad=1",
     .trace = "split Y y [4]\nreorder Y [n, y.0, y.1, x, ry, rx, rc, c]\ncompute_at P Y y.0\n",
     .lines = false,
     .unique = false,
     .bytes = false},
    {.name = "rfactor",
     .workload = "reduce:op=sum,shape=4x64,axes=1",
     .trace = "split Y rj [16]\nrfactor Y rj.1\nreorder Y.rfactor [i, rj.0, rj.1]\n"
              "annotate Y.rfactor rj.1 vectorize\n"},
    {.name = "ragged",
     .workload = "matmul:m=10,n=21,k=7",
     .trace = "split C i [4]\nsplit C j [8]\nsplit C k [2]\n"
              "reorder C [i.0, j.0, k.0, k.1, i.1, j.1]\n",
     .lines = false},
    {.name = "ragged_three_parts",
     .workload = "matmul:m=23,n=8,k=5",
     .trace = "split C i [2, 5]\nreorder C [i.0, i.1, j, k, i.2]\n",
     .lines = false},
    {.name = "ragged_attached",
     .workload = "matmul:m=10,n=16,k=7",
     .trace = "cache_write C\nsplit C i [4]\nreorder C [i.0, i.1, j]\ncompute_at C.write C i.0\n"
              "reorder C.write [k, i, j]\n",
     .lines = false},
    {.name = "ragged_attached_halo",
     .workload = "conv1d:n=1,l=10,ci=2,co=3,kernel=3,stride=1,pad=1",
     .trace = "split Y x [4]\nreorder Y [n, x.0, x.1, c, rx, rc]\ncompute_at P Y x.0\n",
     .lines = false,
     .unique = false,
     .bytes = false},
    {.name = "overlap",
     .workload = "elementwise:shape=3x21,chain=relu",
     .trace = "split Y j [8] tail=overlap\n",
     .lines = false},
    {.name = "packed",
     .workload = "matmul:m=8,n=64,k=16",
     .trace = "split C j [32]\nreorder C [j.0, i, k, j.1]\ncache_read B [C]\n"
              "compute_at B.read C j.0\npack B.read C\nannotate C j.1 vectorize\n"
              "split B.read d1 [16]\nannotate B.read d1.1 vectorize\n"},
    {.name = "softmax_rows",
     .workload = "softmax:m=6,n=32",
     .trace = "split Y i [2]\ncompute_at M Y i.0\ncompute_at E Y i.0\ncompute_at S Y i.0\n"
              "compute_inline R\n",
     .lines = false},
    {.name = "elementwise_chain",
     .workload = "conv2d_bias_bn_relu:n=1,h=4,w=4,ci=4,co=16,kernel=1,stride=1,pad=0",
     .trace = "reorder C [n, y, x, rc, ry, rx, c]\n"},
    {.name = "elementwise_chain_inlined",
     .workload = "conv2d_bias_bn_relu:n=1,h=4,w=4,ci=4,co=16,kernel=1,stride=1,pad=0",
     .trace = "compute_inline T1\ncompute_inline T2\ncompute_inline T3\ncompute_at C Y y\n"
              "reorder C [n, y, x, rc, ry, rx, c]\n"},
    {.name = "gelu",
     .workload = "elementwise:shape=4x32,chain=gelu",
     .trace = "annotate Y j vectorize\n",
     .bytes = false},  // the expression has its operand twice
    {.name = "maxima_of_windows",
     .workload = "pool:op=max,spatial=8,c=16,kernel=3,stride=1,pad=1",
     .trace = "compute_inline P\n",
     .lines = false},
    {.name = "copies_that_alternate",
     .workload = "concat:shape=4x40,axis=0,parts=1x3",
     .trace = "",
     .lines = false},
    {.name = "transposed",
     .workload = "transpose_batch_matmul:b=1,heads=2,seq=4,dim=32",
     .trace = "",
     .lines = false},
};

INSTANTIATE_TEST_SUITE_P(Programs, FeatureCountsTest, ::testing::ValuesIn(kPrograms),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FeatureRowsTest, RandomProgramsHaveFiniteNumbers) {
  constexpr float kLargest = 80;  // logarithms
  for (const char* text :
       {"C2D2", "GMM2", "DEP1", "T2D1", "CAP0", "SFM0", "NRM0", "TBS1",
        "conv1d:n=1,l=13,ci=3,co=7,"
        "kernel=3,stride=2,pad=1",
        "gather:shape=10x32,axis=0,indices=6", "matmul:m=1,n=1,k=1",
        "reduce:op=argmax,shape=2x32,axes=1", "attention:b=1,heads=2,seq=5,dim=4"}) {
    const Task task{parse_workload(text).value(), parse_target("x86-64-v4;threads=2").value()};
    const LoopTree initial = schedule::initial_tree(task.workload).value();
    feature::FeatureExtractor maker(task, some_machine());
    feature::Encoded batch;
    LoopTree tree;
    Rng rng(7);
    for (const schedule::Trace& trace : space::random_traces(task, 8, rng)) {
      ASSERT_FALSE(schedule::apply(initial, trace, &tree)) << text;
      maker.append(tree, &batch);
    }
    EXPECT_GT(batch.programs(), 0u) << text;
    for (const float value : batch.values) {
      ASSERT_TRUE(value >= 0 && value < kLargest) << text << ": " << value;
    }
  }
}

}  // namespace
}  // namespace tilewright::testing
