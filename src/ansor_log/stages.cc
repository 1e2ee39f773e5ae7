#include "ansor_log/stages.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace tilewright::ansor_log {

using schedule::LoopTree;
using schedule::StageIndex;

namespace {

// The producers of each stage, each once, in the order of the body.
std::vector<StageIndex> producers_of(const LoopTree& tree, StageIndex stage) {
  std::vector<StageIndex> producers;
  for (const schedule::Access& access : tree.reads_of(tree.stage(stage))) {
    const StageIndex writer = tree.buffer(access.buffer).stage;
    if (std::ranges::find(producers, writer) == producers.end()) producers.push_back(writer);
  }
  return producers;
}

}  // namespace

std::vector<StageIndex> stage_order(const LoopTree& tree) {
  const size_t count = tree.stages.size();
  std::vector<int> met(count, -1);
  std::vector<size_t> missing(count, 0);
  std::vector<std::vector<StageIndex>> readers(count);
  std::vector<StageIndex> stack;
  for (size_t k = 0; k < count; ++k) {
    const auto stage = static_cast<StageIndex>(k);
    if (tree.is_output(stage) && tree.stage(stage).kind != schedule::StageKind::Input) {
      stack.push_back(stage);
    }
  }
  int number = 0;
  while (!stack.empty()) {
    const StageIndex stage = stack.back();
    stack.pop_back();
    const auto at = static_cast<size_t>(stage);
    if (met[at] >= 0) continue;
    met[at] = number++;
    const std::vector<StageIndex> producers = producers_of(tree, stage);
    missing[at] = producers.size();
    for (const StageIndex producer : producers) {
      readers[static_cast<size_t>(producer)].push_back(stage);
      stack.push_back(producer);
    }
  }
  std::priority_queue<std::pair<int, StageIndex>> ready;
  for (size_t k = 0; k < count; ++k) {
    if (met[k] >= 0 && missing[k] == 0) ready.emplace(met[k], static_cast<StageIndex>(k));
  }
  std::vector<StageIndex> order;
  while (!ready.empty()) {
    const StageIndex stage = ready.top().second;
    ready.pop();
    order.push_back(stage);
    for (const StageIndex reader : readers[static_cast<size_t>(stage)]) {
      if (--missing[static_cast<size_t>(reader)] == 0) {
        ready.emplace(met[static_cast<size_t>(reader)], reader);
      }
    }
  }
  return order;
}

StageState state_of(const LoopTree& tree, StageIndex index) {
  const schedule::Stage& stage = tree.stage(index);
  StageState state;
  state.name = stage.name.text();
  state.input = stage.kind == schedule::StageKind::Input;
  for (const schedule::VarIndex loop : stage.loops) {
    const schedule::LoopVar& var = tree.var(loop);
    state.loops.push_back({.name = var.name.text(),
                           .extent = var.extent,
                           .reduce = var.kind == schedule::IterKind::Reduce});
  }
  return state;
}

}  // namespace tilewright::ansor_log
