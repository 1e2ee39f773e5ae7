// The table of features: names and sentences, in the order of rows_layout.h.
#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "feature/rows.h"
#include "feature/rows_layout.h"

namespace tilewright::feature {
namespace {

struct Entry {
  std::string name;
  std::string what;
};

// NOLINTBEGIN(readability-magic-numbers)
class TableWriter {
 public:
  std::vector<Entry> run() {
    write_arithmetic();
    write_annotation("vectorize", "vectorized");
    write_annotation("unroll", "unrolled");
    write_annotation("parallel", "parallel");
    write_gpu();
    for (size_t k = 0; k < kRowAccesses; ++k) write_access(k);
    for (size_t k = 0; k < kCurvePoints; ++k) {
      add(fmt::format("curve{}", k),
          fmt::format("Arithmetic operations per byte touched, where {} % of the operations are "
                      "inside, between loop levels on a straight line.",
                      (k + 1) * 100 / kCurvePoints));
    }
    write_outside();
    write_type_and_target();
    write_tails();
    write_kernel();
    write_memory();
    CHECK(entries_.size() == column::Count, "{} names for {} columns", entries_.size(),
          static_cast<size_t>(column::Count));
    return std::move(entries_);
  }

 private:
  void add(std::string name, std::string what) {
    entries_.push_back({std::move(name), std::move(what)});
  }

  void write_arithmetic() {
    constexpr const char* kSorts[][2] = {
        {"mad", "multiplications whose product is added to something, with that addition"},
        {"add", "additions and subtractions that are no part of a mad"},
        {"mul", "multiplications that are no part of a mad"},
        {"div", "divisions and remainders"},
        {"compare", "minima, maxima and comparisons"},
        {"math", "calls of exp, log, tanh, erf, sigmoid, sqrt, rsqrt and pow"},
        {"other", "other operations: neg, abs, floor, round, bits, shifts"},
    };
    for (const char* type : {"float", "int"}) {
      for (const auto& [name, what] : kSorts) {
        add(fmt::format("{}_{}", type, name),
            fmt::format("Of {}s: {}; inlined bodies included, over all iterations.", type, what));
      }
    }
    add("bool_ops", "And, or, not of Bools, over all iterations.");
    add("selects", "Selects, over all iterations.");
  }

  void write_annotation(std::string_view name, std::string_view what) {
    add(fmt::format("{}_loops", name), fmt::format("How many loops around it are {}.", what));
    add(fmt::format("{}_product", name), fmt::format("Product of the lengths of {} loops.", what));
    add(fmt::format("{}_innermost", name), fmt::format("Length of the innermost {} loop.", what));
    constexpr const char* kPositions[][2] = {
        {"none", "no loop is"},
        {"inner_spatial", "the innermost spatial loop is"},
        {"middle_spatial", "a spatial loop is that is neither outermost nor innermost"},
        {"outer_spatial", "the outermost spatial loop of several is"},
        {"inner_reduce", "the innermost reduce loop is"},
        {"middle_reduce", "a reduce loop is that is neither outermost nor innermost"},
        {"outer_reduce", "the outermost reduce loop of several is"},
        {"mixed", "spatial and reduce loops are"},
    };
    const char* which = name == "parallel" ? "outermost" : "innermost";
    for (const auto& [position, text] : kPositions) {
      add(fmt::format("{}_{}", name, position),
          fmt::format("1 when {} {}; of several, the {} decides.", text, what, which));
    }
  }

  void write_gpu() {
    add("is_gpu", "1 when loops are bound to a GPU.");
    for (const char* axis :
         {"block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z", "virtual_thread"}) {
      add(axis, fmt::format("Product of the lengths of loops bound to {}.", axis));
    }
  }

  void write_access(size_t k) {
    constexpr const char* kColumns[][2] = {
        {"is_read", "1 when it is only read"},
        {"is_write", "1 when it is only written"},
        {"is_read_write", "1 when it is read and written"},
        {"bytes", "bytes accessed in all iterations, where guards let them"},
        {"unique_bytes", "bytes of the distinct elements accessed"},
        {"lines", "cache lines accessed, one after the other; again only after another"},
        {"unique_lines", "distinct cache lines accessed"},
        {"reuse_in_loop", "1 when a loop around it does not move it"},
        {"reuse_in_sequence", "1 when only other accesses or statements use the same elements"},
        {"reuse_none", "1 when no element is used twice"},
        {"reuse_iterations", "iterations between uses of an element"},
        {"reuse_bytes", "bytes that the statement touches between uses of an element"},
        {"reuse_count", "how often an element is used again"},
        {"bytes_per_reuse", "bytes / reuse_count, or twice the bytes without reuse"},
        {"unique_bytes_per_reuse", "likewise of unique_bytes"},
        {"lines_per_reuse", "likewise of lines"},
        {"unique_lines_per_reuse", "likewise of unique_lines"},
        {"stride", "elements in memory from one iteration of the innermost loop to the next"},
        {"packed", "1 when the buffer is laid out for its reader"},
        {"contiguous_lanes",
         "lanes of the vectorized loop that lie side by side; 0 when all take one element"},
        {"prefetched", "iterations ahead that it is asked for; 0 when it is not"},
        {"density", "share of the iterations in which its guard lets it through"},
    };
    static_assert(std::size(kColumns) == access_column::Count);
    for (const auto& [name, what] : kColumns) {
      add(fmt::format("access{}.{}", k, name),
          fmt::format("Of the buffer with the {}most lines: {}.", ordinal(k), what));
    }
  }

  static const char* ordinal(size_t k) {
    constexpr const char* kWords[] = {"", "second ", "third ", "fourth ", "fifth "};
    static_assert(std::size(kWords) == kRowAccesses);
    return kWords[k];
  }

  void write_outside() {
    add("buffer_bytes", "Size of the buffer that is written, when the program allocates it.");
    add("buffer_bytes_times_outer", "buffer_bytes x buffer_outer.");
    add("buffer_outer", "Iterations of the loops outside the place where that buffer lives.");
    add("buffer_inner", "Iterations of the loops inside that place, of one iteration outside.");
    add("iterations", "How often the statement is executed.");
    add("loops", "Loops around it, those of one iteration left out.");
    add("body_instructions", "Instructions of the innermost body with what is unrolled in it.");
  }

  void write_type_and_target() {
    add("element_bytes", "Bytes of an element of the buffer that is written.");
    add("is_float", "1 when those elements are floats.");
    add("accumulator_bytes", "Bytes of what the statement computes with.");
    add("vector_bytes", "Of the target: bytes of a vector register.");
    add("registers", "Of the target: vector registers.");
    add("threads", "Of the target: threads.");
    for (const char* level : {"l1", "l2", "l3"}) {
      add(fmt::format("{}_bytes", level),
          fmt::format("Of the machine: bytes of {} that a thread has.", level));
    }
    add("line_bytes", "Of the machine: bytes of a cache line.");
  }

  void write_tails() {
    add("ragged_share", "Share of the iterations that lie in the smaller last tile of a split.");
    add("lanes_used", "Share of the vectors' lanes that hold elements; without vectors, 1 lane.");
    add("overlap_recompute", "Elements computed over elements needed, where last tiles overlap.");
    add("guard_density", "The least density of the accesses.");
  }

  void write_kernel() {
    add("is_init", "1 for the beginning of sums.");
    add("is_update", "1 where something is added to sums.");
    add("is_copy", "1 for a copy.");
    add("is_tensorized", "1 when a tensor intrinsic computes it.");
    add("is_streamed", "1 when stores go past the caches.");
    add("sums_in_flight", "Vectors of independent results in the innermost unrolled body.");
    add("updates_in_registers",
        "How often a sum is added to between load and store; 0: not kept in registers.");
    add("vector_loads_per_op", "Vectors loaded per vector computed in the innermost body.");
    add("broadcasts_per_op", "Scalars loaded for all lanes per vector computed there.");
    add("gathers_per_op", "Single elements loaded or stored for lanes per vector computed there.");
    add("register_pressure", "Vectors that live at once over vector registers.");
    add("code_copies", "How often the statement is written out: unrolled and vector loops.");
    add("innermost_trips", "Iterations of the innermost loop that is not unrolled.");
    add("instructions", "Vector instructions executed, an estimate.");
    add("instructions_per_thread", "Those of the thread that has most of them.");
    add("work_share", "Share of the program's instructions.");
    add("tasks", "Iterations of parallel loops.");
    add("balance", "Share of the threads' time that is used when tasks are equal.");
    add("task_instructions", "Instructions of one task.");
  }

  void write_memory() {
    constexpr const char* kLevels[] = {"l1", "l2", "l3"};
    for (const char* level : kLevels) {
      add(fmt::format("{}_footprint", level),
          fmt::format("Bytes that one iteration of the outermost loop that fits {} touches.",
                      level));
    }
    for (const char* level : kLevels) {
      add(fmt::format("{}_traffic", level),
          fmt::format("Bytes moved between {} and what is beyond, all iterations.", level));
    }
    for (const char* level : kLevels) {
      add(fmt::format("{}_traffic_per_instruction", level),
          fmt::format("{}_traffic / instructions.", level));
    }
    for (const char* level : kLevels) {
      add(fmt::format("{}_traffic_per_thread", level),
          fmt::format("{}_traffic of the thread that has most of it.", level));
    }
    add("recompute", "Elements computed over elements that the tensor has.");
    add("inlined_recompute",
        "Evaluations of an inlined body over the elements of its tensor, the most.");
    add("statements", "Of the program: statements that have rows, or would have.");
    add("parallel_regions", "Of the program: loops that are shared among threads.");
    add("workspace_bytes", "Of the program: bytes of the buffers that it allocates at root.");
  }

  std::vector<Entry> entries_;
};
// NOLINTEND(readability-magic-numbers)

}  // namespace

std::span<const FeatureInfo> feature_table() {
  static const std::vector<Entry> entries = TableWriter().run();
  static const std::vector<FeatureInfo> table = [] {
    std::vector<FeatureInfo> infos;
    infos.reserve(entries.size());
    for (const Entry& entry : entries) infos.push_back({entry.name, entry.what});
    return infos;
  }();
  return table;
}

size_t feature_count() { return column::Count; }

}  // namespace tilewright::feature
