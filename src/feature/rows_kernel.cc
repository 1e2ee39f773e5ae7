#include "feature/rows_kernel.h"

#include <algorithm>
#include <cmath>

namespace tilewright::feature {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

void write_tails(RowState& state) {
  state.set(column::RaggedShare, state.nests.ragged_share(state.statement.stage));
  double used = 1 / static_cast<double>(state.lanes);
  if (state.vector >= 0) {
    const NestLoop& level = state.nest->levels[static_cast<size_t>(state.vector)];
    used = level.trips / (state.vectors_of(level) * static_cast<double>(state.lanes));
  }
  state.set(column::LanesUsed, used);
  state.set(column::OverlapRecompute, state.nests.overlap(state.statement.stage));
  double density = 1;
  for (size_t t = 0; t < state.touches->size(); ++t) {
    density = std::min(density, (*state.touches)[t].density);
  }
  state.set(column::GuardDensity, density);
}

void write_threads(RowState& state, const Weighted& weighted) {
  double tasks = 1;
  for (const NestLoop& level : state.nest->levels) {
    if (level.is_parallel()) tasks *= level.trips;
  }
  const double rounds = std::ceil(tasks / state.target.threads);
  state.thread_share = rounds / tasks;
  state.set(column::Tasks, tasks);
  state.set(column::Balance, tasks / (rounds * state.target.threads));
  state.set(column::TaskInstructions, weighted.instructions / tasks);
}

// The elements of an operand that an intrinsic takes at once, per lane.
double factors_of(const RowState& state, const Touch& touch) {
  double factors = 1;
  for (size_t k = 0; state.tensorized && k < state.nest->size(); ++k) {
    const NestLoop& level = state.nest->levels[k];
    const bool taken = level.intrinsic == IntrinsicAxis::Factor && touch.is_moved_by(k);
    if (taken) factors *= static_cast<double>(level.extent);
  }
  return factors;
}

// Loads of the innermost body per computed vector.
void write_operands(RowState& state, double vectors) {
  double loads = 0;
  double broadcasts = 0;
  double gathers = 0;
  for (size_t t = 0; t < state.touches->size(); ++t) {
    const Touch& touch = (*state.touches)[t];
    const double elements = touch.elements[state.body] / factors_of(state, touch);
    if (state.vector < 0) {
      loads += touch.writes ? 0 : elements;
      continue;
    }
    const auto level = static_cast<size_t>(state.vector);
    if (!touch.is_moved_by(level)) {
      broadcasts += touch.writes ? 0 : elements;
    } else if (state.is_contiguous(touch, level)) {
      const auto extent = static_cast<double>(state.nest->levels[level].extent);
      loads += touch.writes ? 0 : elements / extent * state.vectors_of(state.nest->levels[level]);
    } else {
      gathers += elements;
    }
  }
  state.set(column::VectorLoadsPerOp, loads / vectors);
  state.set(column::BroadcastsPerOp, broadcasts / vectors);
  state.set(column::GathersPerOp, gathers / vectors);
}

// Accumulators stay in registers across the reduce loops around the innermost body, if everything
// inside these is unrolled.
double updates_in_registers(const RowState& state) {
  if (state.statement.kind != StatementKind::Update) return 0;
  double updates = 1;
  bool in_loop = false;  // inside a reduce loop that is not unrolled
  for (size_t k = state.nest->size(); k-- > state.nest->own;) {
    const NestLoop& level = state.nest->levels[k];
    if (level.kind == IterKind::Reduce) {
      updates *= level.trips;
      in_loop |= k < state.body;
    } else if (k < state.body || in_loop) {
      break;
    }
  }
  return updates > 1 ? updates : 0;
}

void write_body(RowState& state, const Weighted& weighted) {
  state.set_flag(column::IsInit, state.statement.kind == StatementKind::Init);
  state.set_flag(column::IsUpdate, state.statement.kind == StatementKind::Update);
  state.set_flag(column::IsCopy, state.statement.kind == StatementKind::Copy);
  state.set_flag(column::IsStreamed, state.stage->streams);
  double copies = 1;   // of the code
  double vectors = 1;  // of the innermost body
  double sums = 1;
  for (size_t k = state.nest->size(); k-- > 0;) {
    const NestLoop& level = state.nest->levels[k];
    double times = 1;
    if (level.annotation == Annotation::Unroll) times = static_cast<double>(level.extent);
    if (level.annotation == Annotation::Vectorize) times = state.vectors_of(level);
    copies *= times;
    if (k < state.body) continue;
    vectors *= times;
    if (level.kind == IterKind::Spatial) sums *= times;
  }
  state.set_flag(column::IsTensorized, state.tensorized);
  state.set(column::SumsInFlight, sums);
  state.set(column::UpdatesInRegisters, updates_in_registers(state));
  state.set(column::BodyInstructions,
            vectors / state.factors * instructions_of(state.tree, state.statement));
  state.set(column::CodeCopies, copies);
  state.set(column::InnermostTrips, state.body > 0 ? state.nest->levels[state.body - 1].trips : 1);
  state.set(column::Instructions, weighted.instructions);
  state.set(column::InstructionsPerThread, weighted.instructions * state.thread_share);
  state.set(column::WorkShare, weighted.instructions / std::max(1.0, state.program.instructions));
  write_operands(state, vectors);
  double live = sums;
  for (size_t t = 0; t < state.touches->size(); ++t) {
    const Touch& touch = (*state.touches)[t];
    if (touch.writes) continue;
    const bool moves = state.vector >= 0 && touch.is_moved_by(static_cast<size_t>(state.vector));
    live += moves ? state.vectors_of(state.nest->levels[static_cast<size_t>(state.vector)]) : 1;
  }
  state.set(column::RegisterPressure, live / state.target.registers);
}

}  // namespace

void write_kernel(RowState& state, const Weighted& weighted) {
  write_tails(state);
  write_threads(state, weighted);
  write_body(state, weighted);
}

}  // namespace tilewright::feature
