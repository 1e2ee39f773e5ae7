#include "cli/graph_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "cli/units.h"

namespace tilewright::cli {
namespace {

std::string task_text(const app::GraphBox& box) { return box.task ? short_id(*box.task) : ""; }

}  // namespace

std::string graph_text(const app::GraphView& view) {
  std::string text;
  for (size_t k = 0; k < view.boxes.size(); ++k) {
    const app::GraphBox& box = view.boxes[k];
    text += fmt::format("{:>4}  {:<12}  {:>10}  {}: {}", k, task_text(box),
                        box.ns > 0 ? duration_text(box.ns) : "-", box.title, box.detail);
    if (!box.from.empty()) text += fmt::format(" <- {}", fmt::join(box.from, ", "));
    text += "\n";
    for (const std::string& node : box.nodes) text += fmt::format("{:>34}{}\n", "", node);
  }
  return text;
}

Json graph_json(const app::GraphView& view) {
  Json boxes = Json::array();
  for (const app::GraphBox& box : view.boxes) {
    Json one = {{"title", box.title}, {"type", box.detail}, {"from", box.from}};
    if (box.task) one["task"] = task_text(box);
    if (!box.nodes.empty()) one["nodes"] = box.nodes;
    if (box.ns > 0) one["ns"] = box.ns;
    boxes.push_back(std::move(one));
  }
  return {{"model", view.name}, {"groups", std::move(boxes)}};
}

}  // namespace tilewright::cli
