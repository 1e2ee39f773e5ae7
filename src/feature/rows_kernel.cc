// The columns about the innermost kernel, threads, caches and recomputation.
#include <algorithm>
#include <cmath>

#include "feature/rows_writer.h"
#include "feature/traffic.h"

namespace tilewright::feature {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

RowTarget row_target(const Target& target, const Machine& machine) {
  RowTarget out{.vector_bytes = target.vector_bytes(),
                .registers = target.vector_registers(),
                .threads = target.threads()};
  for (const Cache& cache : machine.caches) {
    if (cache.line_bytes > 0) out.line_bytes = cache.line_bytes;
  }
  int64_t last = 0;
  const std::vector<MemoryLevel> levels = memory_levels(target, machine);
  for (size_t k = 0; k < kMemoryLevels; ++k) {
    const std::string name = "L" + std::to_string(k + 1);
    for (const MemoryLevel& level : levels) {
      if (level.name == name) last = level.capacity;
    }
    out.capacity[k] = last;  // a missing level is as large as the one before
  }
  return out;
}

int computed_bytes(const LoopTree& tree, const Statement& statement) {
  const Stage& stage = tree.stage(statement.stage);
  const bool folds =
      statement.kind == StatementKind::Init || statement.kind == StatementKind::Update;
  if (!folds) return ir::bytes_of(tree.buffer(stage.first_buffer).element);
  return ir::bytes_of(tree.dag->op(stage.op).reduction->identity[0].type().scalar);
}

double instructions_of(const LoopTree& tree, const Statement& statement) {
  if (statement.kind == StatementKind::Init) return 1;
  const Stage& stage = tree.stage(statement.stage);
  const double all = stage.instructions;
  if (statement.kind != StatementKind::Update) return all;
  // The guards of inlined padding become loop borders; in a reduction, loads and fold remain.
  const bool guarded = std::ranges::any_of(tree.reads_of(stage), [](const schedule::Access& read) {
    return read.guarded && read.via != schedule::kNone;
  });
  return guarded ? std::min(all, 2.0 + stage.accesses) : all;
}

double RowWriter::vectors_of(const NestLoop& level) const {
  return std::ceil(level.trips / static_cast<double>(lanes_));
}

void RowWriter::write_tails() {
  set(column::RaggedShare, nests_.ragged_share(statement_.stage));
  double used = 1 / static_cast<double>(lanes_);
  if (vector_ >= 0) {
    const NestLoop& level = nest_->levels[static_cast<size_t>(vector_)];
    used = level.trips / (vectors_of(level) * static_cast<double>(lanes_));
  }
  set(column::LanesUsed, used);
  set(column::OverlapRecompute, nests_.overlap(statement_.stage));
  double density = 1;
  for (size_t t = 0; t < touches_->size(); ++t) {
    density = std::min(density, (*touches_)[t].density);
  }
  set(column::GuardDensity, density);
}

void RowWriter::write_threads(const Weighted& weighted) {
  double tasks = 1;
  for (const NestLoop& level : nest_->levels) {
    if (level.annotation == Annotation::Parallel) tasks *= level.trips;
  }
  const double rounds = std::ceil(tasks / target_.threads);
  thread_share_ = rounds / tasks;
  set(column::Tasks, tasks);
  set(column::Balance, tasks / (rounds * target_.threads));
  set(column::TaskInstructions, weighted.instructions / tasks);
}

void RowWriter::write_kernel(const Weighted& weighted) {
  set_flag(column::IsInit, statement_.kind == StatementKind::Init);
  set_flag(column::IsUpdate, statement_.kind == StatementKind::Update);
  set_flag(column::IsCopy, statement_.kind == StatementKind::Copy);
  set_flag(column::IsStreamed, stage_->streams);
  double copies = 1;   // of the code
  double vectors = 1;  // of the innermost body
  double sums = 1;
  bool tensorized = false;
  for (size_t k = nest_->size(); k-- > 0;) {
    const NestLoop& level = nest_->levels[k];
    double times = 1;
    if (level.annotation == Annotation::Unroll) times = static_cast<double>(level.extent);
    if (level.annotation == Annotation::Vectorize) times = vectors_of(level);
    copies *= times;
    // The intrinsic also replaces the loop inside it, so it may be outside the body.
    tensorized |= !tree_.tensorized.empty() && tree_.find_tensorized(level.var) != nullptr;
    if (k < body_) continue;
    vectors *= times;
    if (level.kind == IterKind::Spatial) sums *= times;
  }
  set_flag(column::IsTensorized, tensorized);
  set(column::SumsInFlight, sums);
  set(column::UpdatesInRegisters, updates_in_registers());
  set(column::BodyInstructions, vectors * instructions_of(tree_, statement_));
  set(column::CodeCopies, copies);
  set(column::InnermostTrips, body_ > 0 ? nest_->levels[body_ - 1].trips : 1);
  set(column::Instructions, weighted.instructions);
  set(column::InstructionsPerThread, weighted.instructions * thread_share_);
  set(column::WorkShare, weighted.instructions / std::max(1.0, program_.instructions));
  write_operands(vectors);
  double live = sums;
  for (size_t t = 0; t < touches_->size(); ++t) {
    const Touch& touch = (*touches_)[t];
    if (touch.writes) continue;
    const bool moves = vector_ >= 0 && touch.is_moved_by(static_cast<size_t>(vector_));
    live += moves ? vectors_of(nest_->levels[static_cast<size_t>(vector_)]) : 1;
  }
  set(column::RegisterPressure, live / target_.registers);
}

// Loads of the innermost body per computed vector.
void RowWriter::write_operands(double vectors) {
  double loads = 0;
  double broadcasts = 0;
  double gathers = 0;
  for (size_t t = 0; t < touches_->size(); ++t) {
    const Touch& touch = (*touches_)[t];
    const double elements = touch.elements[body_];
    if (vector_ < 0) {
      loads += touch.writes ? 0 : elements;
      continue;
    }
    const auto level = static_cast<size_t>(vector_);
    if (!touch.is_moved_by(level)) {
      broadcasts += touch.writes ? 0 : elements;
    } else if (std::abs(touch.flat[level]) == 1) {
      const auto extent = static_cast<double>(nest_->levels[level].extent);
      loads += touch.writes ? 0 : elements / extent * vectors_of(nest_->levels[level]);
    } else {
      gathers += elements;
    }
  }
  set(column::VectorLoadsPerOp, loads / vectors);
  set(column::BroadcastsPerOp, broadcasts / vectors);
  set(column::GathersPerOp, gathers / vectors);
}

// Accumulators stay in registers across the reduce loops around the innermost body, if everything
// inside these is unrolled.
double RowWriter::updates_in_registers() const {
  if (statement_.kind != StatementKind::Update) return 0;
  double updates = 1;
  bool in_loop = false;  // inside a reduce loop that is not unrolled
  for (size_t k = nest_->size(); k-- > nest_->own;) {
    const NestLoop& level = nest_->levels[k];
    if (level.kind == IterKind::Reduce) {
      updates *= level.trips;
      in_loop |= k < body_;
    } else if (k < body_ || in_loop) {
      break;
    }
  }
  return updates > 1 ? updates : 0;
}

// The traffic of feature/traffic.h, estimated from this statement alone.
void RowWriter::write_level(size_t level, const Weighted& weighted) {
  const auto line = static_cast<double>(target_.line_bytes);
  const auto capacity = static_cast<double>(target_.capacity[level]);
  size_t fits = 0;  // the levels from this one inwards fit
  while (fits < nest_->size() && lines_[fits] * line > capacity) ++fits;
  const size_t boundary = fits == 0 ? 0 : fits - 1;
  bool comes_back = false;  // an outer reduce loop revisits the accumulators
  for (size_t k = nest_->own; k < boundary; ++k) {
    comes_back |= nest_->levels[k].kind == IterKind::Reduce;
  }
  double traffic = 0;
  for (size_t t = 0; t < touches_->size(); ++t) {
    const Touch& touch = (*touches_)[t];
    if (touch.place > boundary) continue;  // allocated inside
    const double times = comes_back && touch.reads && touch.writes ? 2 : 1;
    traffic += times * touch.lines[boundary] * line;
  }
  traffic *= nest_->outer(boundary);
  set(column::LevelFootprint + level, lines_[fits] * line);
  set(column::LevelTraffic + level, traffic);
  set(column::LevelTrafficPerInstruction + level, traffic / std::max(1.0, weighted.instructions));
  set(column::LevelTrafficPerThread + level, traffic * thread_share_);
}

void RowWriter::write_recompute(const DagArithmetic::Statement& arithmetic) {
  double computed = statement_.iterations;
  for (size_t k = nest_->own; k < nest_->size(); ++k) {
    if (nest_->levels[k].kind == IterKind::Reduce) computed /= nest_->levels[k].trips;
  }
  const Buffer& buffer = tree_.buffer(stage_->first_buffer);
  const te::Tensor& tensor = tree_.dag->tensor(buffer.tensor);
  double needed = 1;
  for (size_t d = 0; d < buffer.rank; ++d) {
    const int64_t extent =
        d < tensor.shape.size() ? tensor.shape[d].high : tree_.var(stage_->dims[d]).extent;
    needed *= static_cast<double>(extent);
  }
  set(column::Recompute, computed / needed);
  if (arithmetic.min_inlined > 0) {
    set(column::InlinedRecompute, statement_.iterations / arithmetic.min_inlined);
  }
}

}  // namespace tilewright::feature
