#include "feature/rows_state.h"

#include <algorithm>
#include <string>

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

void RowState::begin(const Weighted& weighted, const Nest& of_nest, const TouchFinder& of_touches,
                     std::span<float> into) {
  row = into;
  statement = weighted.statement;
  stage = &tree.stage(statement.stage);
  nest = &of_nest;
  touches = &of_touches;
  lanes = std::max(1, target.vector_bytes / std::max(1, computed_bytes(tree, statement)));
  const auto is_written_out = [&](size_t k) {
    return nest->levels[k].annotation == Annotation::Unroll ||
           nest->levels[k].annotation == Annotation::Vectorize;
  };
  body = nest->size();
  while (body > 0 && is_written_out(body - 1)) --body;
  tensorized = false;
  factors = 1;
  for (const NestLoop& level : nest->levels) {
    tensorized |= level.intrinsic != IntrinsicAxis::None;
    if (level.intrinsic == IntrinsicAxis::Factor) factors *= static_cast<double>(level.extent);
  }
  vector = -1;
  for (size_t k = nest->size(); k-- > nest->own && vector < 0;) {
    if (nest->levels[k].annotation == Annotation::Vectorize) vector = static_cast<int>(k);
  }
  for (size_t k = 0; k <= nest->size(); ++k) {
    bytes[k] = 0;
    lines[k] = 0;
  }
  for (size_t t = 0; t < touches->size(); ++t) {
    const Touch& touch = (*touches)[t];
    for (size_t k = 0; k <= nest->size(); ++k) {
      bytes[k] += touch.bytes(k);
      lines[k] += touch.lines[k];
    }
  }
}

}  // namespace tilewright::feature
