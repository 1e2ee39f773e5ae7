#include "cost/analytic.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace tilewright::cost {
namespace {

// The columns that the estimate reads.
enum Column : size_t {
  FloatMad,
  FloatAdd,
  FloatMul,
  FloatDiv,
  FloatCompare,
  FloatMath,
  FloatOther,
  IntMad,
  IntAdd,
  IntMul,
  IntDiv,
  IntCompare,
  IntOther,
  BoolOps,
  Selects,
  VectorLength,
  BufferBytes,
  Iterations,
  BodyInstructions,
  IsFloat,
  AccumulatorBytes,
  VectorBytes,
  Threads,
  L2Bytes,
  L3Bytes,
  LanesUsed,
  GuardDensity,
  IsUpdate,
  IsStreamed,
  SumsInFlight,
  UpdatesInRegisters,
  VectorLoads,
  Broadcasts,
  Gathers,
  RegisterPressure,
  CodeCopies,
  InnermostTrips,
  Instructions,
  InstructionsPerThread,
  Tasks,
  L1Traffic,
  L2Traffic,
  L3Traffic,
  ParallelRegions,
  Count,
};
constexpr std::array<std::string_view, Column::Count> kNames = {
    "float_mad",
    "float_add",
    "float_mul",
    "float_div",
    "float_compare",
    "float_math",
    "float_other",
    "int_mad",
    "int_add",
    "int_mul",
    "int_div",
    "int_compare",
    "int_other",
    "bool_ops",
    "selects",
    "vectorise_innermost",
    "buffer_bytes",
    "iterations",
    "body_instructions",
    "is_float",
    "accumulator_bytes",
    "vector_bytes",
    "threads",
    "l2_bytes",
    "l3_bytes",
    "lanes_used",
    "guard_density",
    "is_update",
    "is_streamed",
    "sums_in_flight",
    "updates_in_registers",
    "vector_loads_per_op",
    "broadcasts_per_op",
    "gathers_per_op",
    "register_pressure",
    "code_copies",
    "innermost_trips",
    "instructions",
    "instructions_per_thread",
    "tasks",
    "l1_traffic",
    "l2_traffic",
    "l3_traffic",
    "parallel_regions",
};
using Values = std::array<double, Column::Count>;

constexpr double kCodeInCache = 3000;    // instructions that the first instruction cache holds
constexpr double kAbout = 1.01;          // rows are rounded
constexpr double kPromotedSums = 64;     // of a buffer of its own that become registers
constexpr double kHoistedSums = 32;      // of any buffer that a loop keeps in registers
constexpr double kConflictingSums = 32;  // more of them do not get into each other's way more

// Rows hold log2(x + 1).
double plain(float value) { return std::exp2(static_cast<double>(value)) - 1; }

// Does the compiler keep the sums of an update in registers? A buffer of the program's own becomes
// registers when all of it is written out; of others, what a loop adds to while it runs.
bool sums_in_registers(const Values& v) {
  if (v[UpdatesInRegisters] < 1) return false;
  const double sums = std::max(1.0, v[SumsInFlight]);
  const double held = sums * (v[VectorLength] > 1 ? v[VectorBytes] : v[AccumulatorBytes]);
  const bool is_written_out = v[BufferBytes] > 0 && v[BufferBytes] <= kAbout * held;
  if (is_written_out && sums <= kPromotedSums) return true;
  const bool in_loop = v[UpdatesInRegisters] * sums > kAbout * v[CodeCopies];
  return in_loop && sums <= kHoistedSums;
}

// Lanes that neither are a power of two nor fill vectors.
bool is_odd_vector(double length, double lanes) {
  if (length < 2) return false;
  const double doublings = std::log2(length);
  const double vectors = length / lanes;
  constexpr double kNear = 1e-3;
  return std::abs(doublings - std::round(doublings)) > kNear &&
         std::abs(vectors - std::round(vectors)) > kNear;
}

class Analytic : public CostModel {
 public:
  explicit Analytic(const AnalyticConstants& constants) : c_(constants) {
    const std::span<const feature::FeatureInfo> table = feature::feature_table();
    for (size_t k = 0; k < kNames.size(); ++k) {
      const auto found = std::ranges::find(table, kNames[k], &feature::FeatureInfo::name);
      CHECK(found != table.end(), "no feature {}", kNames[k]);
      column_[k] = static_cast<size_t>(found - table.begin());
    }
  }

  std::string_view name() const override { return "analytic"; }
  Status train(const Samples& /*samples*/) override { return {}; }
  bool is_trained() const override { return true; }

  void predict(const feature::RowBatch& rows, std::span<float> scores) const override {
    for (size_t p = 0; p < rows.programs(); ++p) {
      const double cycles = program_cycles(rows, rows.begin[p], rows.begin[p + 1]);
      scores[p] = static_cast<float>(-std::log2(1 + cycles));
    }
  }

 private:
  // Bytes that all statements of a program move between levels.
  struct Moved {
    double l2 = 0, l3 = 0;
  };

  double program_cycles(const feature::RowBatch& rows, size_t first, size_t last) const {
    if (first == last) return 0;
    const size_t width = feature::feature_count();
    const auto value = [&](size_t row, Column column) {
      return plain(rows.values[row * width + column_[column]]);
    };
    Moved moved;
    for (size_t r = first; r < last; ++r) {
      moved.l2 += value(r, L2Traffic);
      moved.l3 += value(r, L3Traffic);
    }
    double cycles = c_.region * value(first, ParallelRegions);
    for (size_t r = first; r < last; ++r) {
      Values v{};
      for (size_t k = 0; k < v.size(); ++k) v[k] = value(r, static_cast<Column>(k));
      cycles += statement_cycles(v, moved);
    }
    return cycles;
  }

  // Of the thread that has most to do.
  double statement_cycles(const Values& v, const Moved& moved) const {
    const double work = working(v);
    const double traffic = moving(v, moved);
    const double share =
        std::clamp(v[InstructionsPerThread] / std::max(1.0, v[Instructions]), 0.0, 1.0);
    return (std::max(work, traffic) + (1 - c_.hidden) * std::min(work, traffic)) * share +
           c_.task * v[Tasks] / std::max(1.0, v[Threads]);
  }

  static double lanes(const Values& v) {
    return std::max(1.0, v[VectorBytes] / std::max(1.0, v[AccumulatorBytes]));
  }
  static double elements_a_vector(const Values& v) {
    return std::max(1.0, lanes(v) * v[LanesUsed]);
  }

  // Cycles of the instructions, if all they touch were in the first cache.
  double working(const Values& v) const {
    const double vectors = v[Iterations] / elements_a_vector(v);
    const bool updates = v[IsUpdate] > 0;
    const bool in_registers = updates && sums_in_registers(v);
    const double operations = arithmetic(v) / elements_a_vector(v);
    const double stores = updates ? 0 : 1;
    const double busy = operations / c_.fma;
    const double memory = vectors * ((v[VectorLoads] + v[Broadcasts] * c_.broadcast) / c_.loads +
                                     stores / c_.stores + v[Gathers] * c_.gather);
    const double issue = (light(v) / elements_a_vector(v) +
                          vectors * (v[VectorLoads] + v[Broadcasts] + stores + 2 * v[Gathers])) /
                         c_.issue;
    const double wait = in_registers ? vectors * c_.latency / std::max(1.0, v[SumsInFlight]) : 0;
    const double most = std::max({busy, memory, issue});
    double cycles = std::max(most, wait) + c_.rest * (busy + memory + issue - most);
    if (updates && !in_registers) {
      cycles += vectors *
                (c_.sum_in_memory + c_.sum_conflict * std::min(v[SumsInFlight], kConflictingSums));
    }
    if (is_odd_vector(v[VectorLength], lanes(v))) cycles *= c_.odd_vector;
    cycles += vectors * c_.spill * std::clamp(v[RegisterPressure] - 1, 0.0, 1.0);
    if (v[BodyInstructions] > kCodeInCache) cycles *= c_.large_code;
    const double bodies = vectors / std::max(1.0, v[CodeCopies]);
    return cycles + bodies * (c_.step + c_.loop_end / std::max(1.0, v[InnermostTrips]));
  }

  // Operations that take about as long as a multiply-add. Those on indices of a program of floats
  // are guards: of sums they are hoisted, of copies mostly.
  double light(const Values& v) const {
    const double floats = v[FloatMad] + v[FloatAdd] + v[FloatMul] + v[FloatCompare] + v[FloatOther];
    const double integers =
        v[IntMad] + v[IntAdd] + v[IntMul] + v[IntCompare] + v[IntOther] + v[BoolOps] + v[Selects];
    const double of_floats = v[IsUpdate] > 0 ? 0 : c_.guard;
    // Terms that a guard makes 0 are left out (lower/drop_zero_terms).
    const double done = v[IsUpdate] > 0 ? v[GuardDensity] : 1;
    return done * floats + (v[IsFloat] > 0 ? of_floats : 1) * integers;
  }

  double arithmetic(const Values& v) const {
    const double divisions = v[FloatDiv] + (v[IsFloat] > 0 ? 0 : v[IntDiv]);
    return light(v) + c_.division * divisions + c_.math * v[FloatMath];
  }

  // Cycles of the traffic between caches. Calls follow each other: where all that moves fits a
  // level it is there already.
  double moving(const Values& v, const Moved& moved) const {
    const double threads = std::max(1.0, v[Threads]);
    double cycles = v[L1Traffic] / c_.l2_bytes;
    if (moved.l2 > v[L2Bytes] * threads) cycles += v[L2Traffic] / c_.l3_bytes;
    if (moved.l3 > v[L3Bytes] * threads) cycles += v[L3Traffic] / c_.memory_bytes;
    if (v[IsStreamed] > 0) {
      cycles += v[Iterations] / elements_a_vector(v) * v[VectorBytes] / c_.streamed_bytes;
    }
    return cycles;
  }

  AnalyticConstants c_;
  std::array<size_t, Column::Count> column_{};
};

}  // namespace

AnalyticConstants analytic_constants(const Target& target, const Machine& machine) {
  AnalyticConstants constants;
  // AMD's first cores with AVX-512 have units of 256 bits.
  if (target.vector_bits == 512 && machine.vendor == "AuthenticAMD") {
    constants.fma = 1;
    constants.loads = 1;
    constants.stores = 0.5;
  }
  return constants;
}

std::unique_ptr<CostModel> make_analytic(const AnalyticConstants& constants) {
  return std::make_unique<Analytic>(constants);
}

std::unique_ptr<CostModel> make_analytic(const Task& task, const Machine& machine) {
  return make_analytic(analytic_constants(task.target, machine));
}

}  // namespace tilewright::cost
