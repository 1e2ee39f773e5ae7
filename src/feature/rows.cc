#include "feature/rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/rounding.h"
#include "feature/rows_arith.h"
#include "feature/rows_nest.h"
#include "feature/rows_touch.h"
#include "feature/rows_writer.h"
#include "target/host_vectors.h"

namespace tilewright::feature {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

constexpr size_t kMaxRows = 8;  // per program; those with the most instructions
constexpr size_t kBlock = 16;
constexpr size_t kPadded = round_up(size_t{column::Count}, kBlock);
using PaddedRow = std::array<float, kPadded>;

// sign(x) * log2(|x| + 1) within 1e-5, exact for 0 and 1: log2(1 + t) = t * (1 + (1 - t) * q(t)).
[[gnu::always_inline]] inline float slog(float x) {
  const float y = std::abs(x) + 1.0F;
  const auto bits = std::bit_cast<int32_t>(y);
  const auto exponent = static_cast<float>((bits >> 23) - 127);
  const float t = std::bit_cast<float>((bits & 0x7fffff) | 0x3f800000) - 1.0F;
  const float q =
      0.44268885F +
      t * (-0.27820167F +
           t * (0.19666100F + t * (-0.13144654F + t * (0.06407294F + t * -0.01512545F))));
  const float log = exponent + t * (1.0F + (1.0F - t) * q);
  return std::copysign(log, x);
}

// Most rows have fewer buffers than columns for them; unused columns stay zero.
[[gnu::always_inline]] inline void make_logarithmic_by_blocks(float* row) {
  for (size_t begin = 0; begin < kPadded; begin += kBlock) {
    float* block = row + begin;
    uint32_t bits = 0;
    for (size_t k = 0; k < kBlock; ++k) bits |= std::bit_cast<uint32_t>(block[k]);
    if (bits == 0) continue;
    for (size_t k = 0; k < kBlock; ++k) block[k] = slog(block[k]);
  }
}

// The same operations in wider vectors, without fma, so that all machines give the same bits.
TILEWRIGHT_VECTORS_256 void make_logarithmic_256(float* row) { make_logarithmic_by_blocks(row); }
void make_logarithmic_plain(float* row) { make_logarithmic_by_blocks(row); }

void make_logarithmic(float* row) {
  static const bool is_wide = host_has_vectors_256();
  (is_wide ? make_logarithmic_256 : make_logarithmic_plain)(row);
}

}  // namespace

struct FeatureExtractor::Impl {
  Impl(const Task& task, const Machine& machine)
      : target(row_target(task.target, machine)),
        dag(task.workload.dag),
        arithmetic(*dag, task.workload.permissions.contract),
        touches(target.line_bytes) {}

  // Vector instructions of all executions of a statement.
  double weight_of(const LoopTree& tree, const Statement& statement) const {
    double all = statement.iterations * instructions_of(tree, statement);
    const Stage& stage = tree.stage(statement.stage);
    for (size_t k = stage.loops.size(); k-- > 0;) {
      const LoopVar& var = tree.var(stage.loops[k]);
      const IntrinsicAxis axis = tree.intrinsic_axis(stage, k);
      if (axis == IntrinsicAxis::Factor && statement.kind == StatementKind::Update) {
        all /= static_cast<double>(var.extent);
      }
      if (var.annotation != Annotation::Vectorize && axis != IntrinsicAxis::Lane) continue;
      if (statement.kind == StatementKind::Init && var.kind == IterKind::Reduce) continue;
      const int64_t lanes =
          std::max(1, target.vector_bytes / std::max(1, computed_bytes(tree, statement)));
      const int64_t vectors = ceil_div(var.extent, lanes);
      return all * static_cast<double>(vectors) / static_cast<double>(var.extent);
    }
    return all;
  }

  void find_program(const LoopTree& tree) {
    weighted.clear();
    program = {};
    for (const Statement& statement : nests.statements()) {
      weighted.push_back({.statement = statement, .instructions = weight_of(tree, statement)});
      program.instructions += weighted.back().instructions;
    }
    program.statements = static_cast<double>(weighted.size());
    for (const LoopVar& var : tree.vars) {  // those that start host threads; a launch has none
      if (var.position >= 0 && var.annotation == Annotation::Parallel) ++program.parallel_regions;
    }
    for (const Buffer& buffer : tree.buffers) {
      if (buffer.is_argument || tree.stage(buffer.stage).place != Attachment::Root) continue;
      double bytes = ir::bytes_of(buffer.element);
      for (const int64_t extent : buffer.extent) bytes *= static_cast<double>(extent);
      program.workspace_bytes += bytes;
    }
    keep_heaviest();
  }

  void keep_heaviest() {
    for (size_t left = weighted.size(); left > kMaxRows; --left) {
      Weighted* lightest = nullptr;
      for (Weighted& row : weighted) {
        const bool lighter = lightest == nullptr || row.instructions < lightest->instructions;
        if (row.kept && lighter) lightest = &row;
      }
      lightest->kept = false;
    }
  }

  void append(const LoopTree& tree, Encoded* out) {
    out->width = column::Count;
    out->version = kFeatureVersion;
    nests.begin(tree);
    touches.begin(tree);
    find_program(tree);
    RowWriter writer(target, tree, program, nests);
    for (const Weighted& row : weighted) {
      if (!row.kept) continue;
      nests.make_nest(row.statement, &nest);
      touches.find(row.statement, nest, nests);
      const bool updates = row.statement.kind == StatementKind::Update;
      values.fill(0);
      writer.write(row, nest, touches, arithmetic.of(tree, row.statement.stage, updates),
                   std::span(values).first(column::Count));
      make_logarithmic(values.data());
      out->values.insert(out->values.end(), values.begin(), values.begin() + column::Count);
    }
    out->begin.push_back(static_cast<uint32_t>(out->values.size() / column::Count));
  }

  RowTarget target;
  std::shared_ptr<const te::Dag> dag;
  DagArithmetic arithmetic;
  NestFinder nests;
  TouchFinder touches;
  Nest nest;
  ProgramFacts program;
  std::vector<Weighted> weighted;
  alignas(64) PaddedRow values{};
};

FeatureExtractor::FeatureExtractor(const Task& task, const Machine& machine)
    : impl_(std::make_unique<Impl>(task, machine)) {}
FeatureExtractor::~FeatureExtractor() = default;
FeatureExtractor::FeatureExtractor(FeatureExtractor&&) noexcept = default;
FeatureExtractor& FeatureExtractor::operator=(FeatureExtractor&&) noexcept = default;

void FeatureExtractor::append(const LoopTree& tree, Encoded* out) { impl_->append(tree, out); }

}  // namespace tilewright::feature
