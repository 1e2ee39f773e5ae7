#include "cost/analytic.h"

#include <algorithm>
#include <cmath>

#include "feature/rows_layout.h"
#include "feature/rows_table.h"

namespace tilewright::cost {
namespace {

namespace column = feature::column;
namespace sort = feature::sort;  // operation counts are the first columns of a row
static_assert(column::Arithmetic == 0);
// Facts about the innermost vectorized loop.
constexpr size_t kVectorLength = column::Vectorize + 2;
constexpr size_t kL1Traffic = column::LevelTraffic, kL2Traffic = kL1Traffic + 1,
                 kL3Traffic = kL1Traffic + 2;
constexpr size_t kL2Bytes = column::CacheBytes + 1, kL3Bytes = column::CacheBytes + 2;

constexpr double kCodeInCache = 3000;  // capacity of the L1 instruction cache
constexpr double kAbout = 1.01;        // values in rows are rounded
// Accumulators of an allocated buffer that are promoted to registers.
constexpr double kPromotedSums = 64;
constexpr double kHoistedSums = 32;  // accumulators of any buffer that a loop keeps in registers
constexpr double kConflictingSums = 32;  // with more accumulators, conflicts do not increase

// One feature row, by the columns of feature/rows_layout.h. It holds log2(x + 1).
class Row {
 public:
  explicit Row(const float* values) : values_(values) {}
  double operator[](size_t column) const {
    return std::exp2(static_cast<double>(values_[column])) - 1;
  }

 private:
  const float* values_;
};

// True if the compiler keeps the accumulators of an update in registers. An allocated buffer is
// promoted if all of it is unrolled; of other buffers, a loop keeps the elements that it
// accumulates.
bool sums_in_registers(const Row& v) {
  if (v[column::UpdatesInRegisters] < 1) return false;
  const double sums = std::max(1.0, v[column::SumsInFlight]);
  const double held =
      sums * (v[kVectorLength] > 1 ? v[column::VectorBytes] : v[column::AccumulatorBytes]);
  const bool is_written_out = v[column::BufferBytes] > 0 && v[column::BufferBytes] <= kAbout * held;
  if (is_written_out && sums <= kPromotedSums) return true;
  const bool in_loop = v[column::UpdatesInRegisters] * sums > kAbout * v[column::CodeCopies];
  return in_loop && sums <= kHoistedSums;
}

// Lanes that are neither a power of two nor whole vectors.
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
  explicit Analytic(const AnalyticConstants& constants) : c_(constants) {}

  std::vector<std::string> encodings() const override { return {"features"}; }
  bool learns() const override { return false; }
  Status train(const Samples& /*samples*/) override { return {}; }
  bool is_trained() const override { return true; }

  void predict(const feature::Inputs& inputs, const Predictions& out) const override {
    const feature::Encoded& rows = inputs.front();
    for (size_t p = 0; p < rows.programs(); ++p) {
      const double cycles = program_cycles(rows, rows.begin[p], rows.begin[p + 1]);
      out.mean[p] = static_cast<float>(-std::log2(1 + cycles));
    }
  }

 private:
  // Traffic between levels, summed over all statements.
  struct Moved {
    double l2 = 0, l3 = 0;
  };

  double program_cycles(const feature::Encoded& rows, size_t first, size_t last) const {
    if (first == last) return 0;
    const auto row = [&](size_t r) { return Row(&rows.values[r * feature::feature_count()]); };
    Moved moved;
    for (size_t r = first; r < last; ++r) {
      moved.l2 += row(r)[kL2Traffic];
      moved.l3 += row(r)[kL3Traffic];
    }
    double cycles = c_.region * row(first)[column::ParallelRegions];
    for (size_t r = first; r < last; ++r) cycles += statement_cycles(row(r), moved);
    return cycles;
  }

  // For the busiest thread.
  double statement_cycles(const Row& v, const Moved& moved) const {
    const double work = working(v);
    const double traffic = moving(v, moved);
    const double share = std::clamp(
        v[column::InstructionsPerThread] / std::max(1.0, v[column::Instructions]), 0.0, 1.0);
    return (std::max(work, traffic) + (1 - c_.hidden) * std::min(work, traffic)) * share +
           c_.task * v[column::Tasks] / std::max(1.0, v[column::Threads]);
  }

  static double lanes(const Row& v) {
    return std::max(1.0, v[column::VectorBytes] / std::max(1.0, v[column::AccumulatorBytes]));
  }
  static double elements_per_vector(const Row& v) {
    return std::max(1.0, lanes(v) * v[column::LanesUsed]);
  }

  // Cycles of the instructions if all data is in L1.
  double working(const Row& v) const {
    const double vectors = v[column::Iterations] / elements_per_vector(v);
    const bool updates = v[column::IsUpdate] > 0;
    const bool in_registers = updates && sums_in_registers(v);
    const double operations = arithmetic(v) / elements_per_vector(v);
    const double stores = updates ? 0 : 1;
    const double busy = operations / c_.fma;
    const double memory =
        vectors *
        ((v[column::VectorLoadsPerOp] + v[column::BroadcastsPerOp] * c_.broadcast) / c_.loads +
         stores / c_.stores + v[column::GathersPerOp] * c_.gather);
    const double issue = (light(v) / elements_per_vector(v) +
                          vectors * (v[column::VectorLoadsPerOp] + v[column::BroadcastsPerOp] +
                                     stores + 2 * v[column::GathersPerOp])) /
                         c_.issue;
    const double wait =
        in_registers ? vectors * c_.latency / std::max(1.0, v[column::SumsInFlight]) : 0;
    const double longest = std::max({busy, memory, issue});
    double cycles = std::max(longest, wait) + c_.rest * (busy + memory + issue - longest);
    if (updates && !in_registers) {
      cycles += vectors * (c_.sum_in_memory +
                           c_.sum_conflict * std::min(v[column::SumsInFlight], kConflictingSums));
    }
    if (is_odd_vector(v[kVectorLength], lanes(v))) cycles *= c_.odd_vector;
    cycles += vectors * c_.spill * std::clamp(v[column::RegisterPressure] - 1, 0.0, 1.0);
    if (v[column::BodyInstructions] > kCodeInCache) cycles *= c_.large_code;
    const double bodies = vectors / std::max(1.0, v[column::CodeCopies]);
    return cycles + bodies * (c_.step + c_.loop_end / std::max(1.0, v[column::InnermostTrips]));
  }

  // Operations that cost about one multiply-add. Index operations in a float program are guards: in
  // reductions all of them are hoisted, in copies most.
  double light(const Row& v) const {
    const double floats = v[sort::FloatMad] + v[sort::FloatAdd] + v[sort::FloatMul] +
                          v[sort::FloatCompare] + v[sort::FloatOther];
    const double integers = v[sort::IntMad] + v[sort::IntAdd] + v[sort::IntMul] +
                            v[sort::IntCompare] + v[sort::IntOther] + v[sort::Bools] +
                            v[sort::Selects];
    const double of_floats = v[column::IsUpdate] > 0 ? 0 : c_.guard;
    // Terms that a guard makes 0 are dropped (lower/drop_zero_terms).
    const double done = v[column::IsUpdate] > 0 ? v[column::GuardDensity] : 1;
    return done * floats + (v[column::IsFloat] > 0 ? of_floats : 1) * integers;
  }

  double arithmetic(const Row& v) const {
    const double divisions = v[sort::FloatDiv] + (v[column::IsFloat] > 0 ? 0 : v[sort::IntDiv]);
    return light(v) + c_.division * divisions + c_.math * v[sort::FloatMath];
  }

  // Cycles of the traffic between caches. Calls are repeated: if all data fits a level, it is
  // already there.
  double moving(const Row& v, const Moved& moved) const {
    const double threads = std::max(1.0, v[column::Threads]);
    double cycles = v[kL1Traffic] / c_.l2_bytes;
    if (moved.l2 > v[kL2Bytes] * threads) cycles += v[kL2Traffic] / c_.l3_bytes;
    if (moved.l3 > v[kL3Bytes] * threads) cycles += v[kL3Traffic] / c_.memory_bytes;
    if (v[column::IsStreamed] > 0) {
      cycles += v[column::Iterations] / elements_per_vector(v) * v[column::VectorBytes] /
                c_.streamed_bytes;
    }
    return cycles;
  }

  AnalyticConstants c_;
};

}  // namespace

AnalyticConstants analytic_constants(const Target& target, const Machine& machine) {
  AnalyticConstants constants;
  // AMD's first cores with 64-byte vectors have units of half that width.
  if (target.vector_bytes() == 64 && machine.vendor == "AuthenticAMD") {
    constants.fma = 1;
    constants.loads = 1;
    constants.stores = 0.5;
  }
  return constants;
}

std::unique_ptr<CostModel> make_analytic(const AnalyticConstants& constants) {
  return std::make_unique<Analytic>(constants);
}

std::unique_ptr<CostModel> make_analytic(const Target& target, const Machine& machine) {
  return make_analytic(analytic_constants(target, machine));
}

ModelRow analytic_model() {
  return make_row<std::unique_ptr<CostModel>, ModelContext>(
      "analytic", "an analytic estimate of the time; does not learn", NoOptions{},
      [](const ModelContext& context, const NoOptions&) -> Result<std::unique_ptr<CostModel>> {
        TRY(refuse_base(context, "analytic"));
        return make_analytic(*context.target, *context.machine);
      });
}

}  // namespace tilewright::cost
