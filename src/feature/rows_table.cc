#include "feature/rows_table.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "base/check.h"
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
          fmt::format("Arithmetic operations per byte touched, at the depth that encloses {} % of "
                      "the operations; interpolated linearly between loop levels.",
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
        {"mad", "multiply-adds (a multiplication and the addition of its product)"},
        {"add", "additions and subtractions outside multiply-adds"},
        {"mul", "multiplications outside multiply-adds"},
        {"div", "divisions and remainders"},
        {"compare", "minima, maxima and comparisons"},
        {"math", "calls of exp, log, tanh, erf, sigmoid, sqrt, rsqrt and pow"},
        {"other", "other operations: neg, abs, floor, round, bitwise operations, shifts"},
    };
    for (const char* type : {"float", "int"}) {
      for (const auto& [name, what] : kSorts) {
        add(fmt::format("{}_{}", type, name),
            fmt::format("On {}s: {}; over all iterations, including inlined bodies.", type, what));
      }
    }
    add("bool_ops", "And, or and not on bools, over all iterations.");
    add("selects", "Selects, over all iterations.");
  }

  void write_annotation(std::string_view name, std::string_view what) {
    add(fmt::format("{}_loops", name),
        fmt::format("Number of {} loops around the statement.", what));
    add(fmt::format("{}_product", name),
        fmt::format("Product of the extents of the {} loops.", what));
    add(fmt::format("{}_innermost", name), fmt::format("Extent of the innermost {} loop.", what));
    constexpr const char* kPositions[][2] = {
        {"none", "no loop is {}"},
        {"inner_spatial", "the innermost spatial loop is {}"},
        {"middle_spatial", "a spatial loop that is neither outermost nor innermost is {}"},
        {"outer_spatial", "the outermost of several spatial loops is {}"},
        {"inner_reduce", "the innermost reduce loop is {}"},
        {"middle_reduce", "a reduce loop that is neither outermost nor innermost is {}"},
        {"outer_reduce", "the outermost of several reduce loops is {}"},
        {"mixed", "spatial and reduce loops are {}"},
    };
    for (const auto& [position, text] : kPositions) {
      add(fmt::format("{}_{}", name, position),
          fmt::format("1 if {}.", fmt::format(fmt::runtime(text), what)));
    }
  }

  void write_gpu() {
    add("is_gpu", "1 if loops are bound to a GPU.");
    for (const char* axis :
         {"block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z", "virtual_thread"}) {
      add(axis, fmt::format("Product of the extents of the loops bound to {}.", axis));
    }
  }

  void write_access(size_t k) {
    constexpr const char* kColumns[][2] = {
        {"is_read", "1 if it is only read"},
        {"is_write", "1 if it is only written"},
        {"is_read_write", "1 if it is read and written"},
        {"bytes", "bytes accessed in all iterations whose guard holds"},
        {"unique_bytes", "bytes of the distinct elements accessed"},
        {"lines", "cache lines accessed; consecutive accesses to one line count once"},
        {"unique_lines", "distinct cache lines accessed"},
        {"reuse_in_loop", "1 if a loop around it does not change its address"},
        {"reuse_in_sequence", "1 if only other accesses or statements reuse its elements"},
        {"reuse_none", "1 if no element is reused"},
        {"reuse_iterations", "iterations between two uses of an element"},
        {"reuse_bytes", "bytes that the statement touches between two uses of an element"},
        {"reuse_count", "number of reuses of an element"},
        {"bytes_per_reuse", "bytes / reuse_count; without reuse, twice the bytes"},
        {"unique_bytes_per_reuse", "the same for unique_bytes"},
        {"lines_per_reuse", "the same for lines"},
        {"unique_lines_per_reuse", "the same for unique_lines"},
        {"stride", "distance in elements between two iterations of the innermost loop"},
        {"packed", "1 if the buffer is packed for its reader"},
        {"contiguous_lanes",
         "contiguous lanes of the vectorized loop; 0 if all lanes read one element"},
        {"prefetched", "prefetch distance in iterations; 0: not prefetched"},
        {"density", "share of the iterations whose guard holds"},
    };
    static_assert(std::size(kColumns) == access_column::Count);
    for (const auto& [name, what] : kColumns) {
      add(fmt::format("access{}.{}", k, name),
          fmt::format("Buffer with the {}most cache lines: {}.", ordinal(k), what));
    }
  }

  static const char* ordinal(size_t k) {
    constexpr const char* kWords[] = {"", "second ", "third ", "fourth ", "fifth "};
    static_assert(std::size(kWords) == kRowAccesses);
    return kWords[k];
  }

  void write_outside() {
    add("buffer_bytes", "Bytes of the written buffer, if the program allocates it.");
    add("buffer_bytes_times_outer", "buffer_bytes * buffer_outer.");
    add("buffer_outer", "Iterations of the loops outside the allocation of that buffer.");
    add("buffer_inner", "Iterations of the loops inside the allocation, per iteration outside.");
    add("iterations", "Number of executions of the statement.");
    add("loops", "Number of loops around the statement, without loops of one iteration.");
    add("body_instructions", "Instructions of the innermost body after unrolling.");
  }

  void write_type_and_target() {
    add("element_bytes", "Bytes of an element of the written buffer.");
    add("is_float", "1 if those elements are floats.");
    add("accumulator_bytes", "Bytes of the type that the statement computes in.");
    add("vector_bytes", "Target: bytes of a vector register.");
    add("registers", "Target: number of vector registers.");
    add("threads", "Target: number of threads.");
    for (const char* level : {"l1", "l2", "l3"}) {
      add(fmt::format("{}_bytes", level), fmt::format("Machine: bytes of {} per thread.", level));
    }
    add("line_bytes", "Machine: bytes of a cache line.");
  }

  void write_tails() {
    add("ragged_share", "Share of the iterations that are in the partial last tile of a split.");
    add("lanes_used", "Share of the vector lanes that hold elements; scalar code uses 1 lane.");
    add("overlap_recompute", "Elements computed / elements needed, with overlapping last tiles.");
    add("guard_density", "Lowest density of all accesses.");
  }

  void write_kernel() {
    add("is_init", "1 for the initialization of a reduction.");
    add("is_update", "1 for the update of a reduction.");
    add("is_copy", "1 for a copy.");
    add("is_tensorized", "1 if a tensor intrinsic computes it.");
    add("is_streamed", "1 if its stores are non-temporal.");
    add("sums_in_flight", "Independent accumulator vectors in the innermost unrolled body.");
    add("updates_in_registers",
        "Updates of an accumulator between its load and store; 0: not in a register.");
    add("vector_loads_per_op", "Vector loads per computed vector in the innermost body.");
    add("broadcasts_per_op", "Scalar broadcasts per computed vector in the innermost body.");
    add("gathers_per_op",
        "Elements gathered or scattered per computed vector in the innermost body.");
    add("register_pressure", "Simultaneously live vectors / vector registers.");
    add("code_copies", "Copies of the statement in the code, by unrolled and vector loops.");
    add("innermost_trips", "Iterations of the innermost loop that is not unrolled.");
    add("instructions", "Executed vector instructions (estimate).");
    add("instructions_per_thread", "Executed instructions of the busiest thread.");
    add("work_share", "Share of the instructions of the program.");
    add("tasks", "Iterations of the parallel loops (parallel tasks).");
    add("balance", "Utilization of the threads if all parallel tasks take equal time.");
    add("task_instructions", "Instructions of one parallel task.");
  }

  void write_memory() {
    constexpr const char* kLevels[] = {"l1", "l2", "l3"};
    for (const char* level : kLevels) {
      add(fmt::format("{}_footprint", level),
          fmt::format("Bytes touched by one iteration of the outermost loop that fits {}.", level));
    }
    for (const char* level : kLevels) {
      add(fmt::format("{}_traffic", level),
          fmt::format("Bytes moved between {} and the next level, over all iterations.", level));
    }
    for (const char* level : kLevels) {
      add(fmt::format("{}_traffic_per_instruction", level),
          fmt::format("{}_traffic / instructions.", level));
    }
    for (const char* level : kLevels) {
      add(fmt::format("{}_traffic_per_thread", level),
          fmt::format("{}_traffic of the busiest thread.", level));
    }
    add("recompute", "Elements computed / elements of the tensor.");
    add("inlined_recompute",
        "Highest ratio of evaluations of an inlined body to elements of its tensor.");
    add("statements", "Program: number of statements, including those without a row.");
    add("parallel_regions", "Program: number of parallel loops.");
    add("workspace_bytes", "Program: bytes of the buffers allocated at root.");
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
