#include "cost/analytic.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace tilewright::cost {
namespace {

// The columns that the estimate reads, by name.
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
  Selects,
  Iterations,
  AccumulatorBytes,
  VectorBytes,
  LanesUsed,
  IsUpdate,
  IsTensorized,
  SumsInFlight,
  UpdatesInRegisters,
  VectorLoads,
  Broadcasts,
  Gathers,
  RegisterPressure,
  BodyInstructions,
  CodeCopies,
  InnermostTrips,
  Instructions,
  InstructionsPerThread,
  Tasks,
  L1Traffic,
  L2Traffic,
  L3Traffic,
  ParallelRegions,
  Threads,
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
    "selects",
    "iterations",
    "accumulator_bytes",
    "vector_bytes",
    "lanes_used",
    "is_update",
    "is_tensorized",
    "sums_in_flight",
    "updates_in_registers",
    "vector_loads_per_op",
    "broadcasts_per_op",
    "gathers_per_op",
    "register_pressure",
    "body_instructions",
    "code_copies",
    "innermost_trips",
    "instructions",
    "instructions_per_thread",
    "tasks",
    "l1_traffic",
    "l2_traffic",
    "l3_traffic",
    "parallel_regions",
    "threads",
};

constexpr double kCodeInCache = 3000;  // instructions that the first instruction cache holds

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
    const size_t width = feature::feature_count();
    for (size_t p = 0; p < rows.programs(); ++p) {
      double cycles = 1;
      for (size_t r = rows.begin[p]; r < rows.begin[p + 1]; ++r) {
        cycles += statement_cycles(read({&rows.values[r * width], width}));
      }
      if (rows.begin[p] < rows.begin[p + 1]) {
        const float* first = &rows.values[rows.begin[p] * width];
        cycles += c_.region * plain(first[column_[ParallelRegions]]);
      }
      scores[p] = static_cast<float>(-std::log2(cycles));
    }
  }

 private:
  using Values = std::array<double, Column::Count>;

  // Rows hold log2(x + 1).
  static double plain(float value) { return std::exp2(static_cast<double>(value)) - 1; }

  Values read(std::span<const float> row) const {
    Values v{};
    for (size_t k = 0; k < v.size(); ++k) v[k] = plain(row[column_[k]]);
    return v;
  }

  // Cycles of the thread that has most to do.
  double statement_cycles(const Values& v) const {
    const double lanes = std::max(1.0, v[VectorBytes] / std::max(1.0, v[AccumulatorBytes]));
    const double per_vector = std::max(1.0, lanes * v[LanesUsed]);
    const double vectors = v[Iterations] / per_vector;  // executions of the statement
    const double busy = arithmetic(v) / per_vector / c_.fma_per_cycle;
    double cycles =
        std::max({busy, waiting(v, vectors), loading(v, vectors), v[Instructions] / c_.issue});
    if (v[RegisterPressure] > 1) {
      cycles += vectors * c_.spill * std::min(1.0, v[RegisterPressure] - 1);
    }
    if (v[BodyInstructions] > kCodeInCache) cycles *= 1 + c_.code;
    const double bodies = v[Iterations] / std::max(1.0, v[CodeCopies]);
    cycles += bodies * (c_.step + c_.branch / std::max(1.0, v[InnermostTrips]));
    cycles +=
        v[L1Traffic] / c_.l2_bytes + v[L2Traffic] / c_.l3_bytes + v[L3Traffic] / c_.memory_bytes;
    const double share =
        std::clamp(v[InstructionsPerThread] / std::max(1.0, v[Instructions]), 0.0, 1.0);
    return cycles * share + c_.task * v[Tasks] / std::max(1.0, v[Threads]);
  }

  // Operations, in multiply-adds.
  double arithmetic(const Values& v) const {
    const double light = v[FloatMad] + v[FloatAdd] + v[FloatMul] + v[FloatCompare] + v[FloatOther] +
                         v[IntMad] + v[IntAdd] + v[IntMul] + v[IntCompare] + v[IntOther] +
                         v[Selects];
    return light + c_.div * (v[FloatDiv] + v[IntDiv]) + c_.math * v[FloatMath];
  }

  // A sum waits for the one before it.
  double waiting(const Values& v, double vectors) const {
    if (v[IsUpdate] == 0) return 0;
    const double latency = v[UpdatesInRegisters] > 0 ? c_.latency : c_.latency + c_.memory_sum;
    return vectors * latency / std::max(1.0, v[SumsInFlight]);
  }

  double loading(const Values& v, double vectors) const {
    const bool through_memory = v[IsUpdate] > 0 && v[UpdatesInRegisters] == 0;
    const double loads = v[VectorLoads] + v[Broadcasts] * 0.5 + (through_memory ? 1 : 0);
    const double stores = v[IsUpdate] == 0 || through_memory ? 1 : 0;
    return vectors *
           (loads / c_.loads_per_cycle + stores / c_.stores_per_cycle + v[Gathers] * c_.gather);
  }

  AnalyticConstants c_;
  std::array<size_t, Column::Count> column_{};
};

}  // namespace

AnalyticConstants analytic_constants(const Target& target, const Machine& machine) {
  AnalyticConstants constants;
  // AMD's first cores with AVX-512 have units of 256 bits.
  if (target.vector_bits == 512 && machine.vendor == "AuthenticAMD") {
    constants.fma_per_cycle = 1;
    constants.loads_per_cycle = 1;
    constants.stores_per_cycle = 0.5;
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
