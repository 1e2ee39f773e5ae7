#include "cost/samples.h"

#include <string_view>

#include "base/check.h"

namespace tilewright::cost {

void append_samples(const Samples& more, size_t count, Samples* samples) {
  append_samples(more, 0, count, samples);
}

void append_samples(const Samples& more, size_t first, size_t last, Samples* samples) {
  CHECK(first <= last && last <= more.size(), "samples {} to {} of {}", first, last, more.size());
  if (first == last) return;
  const auto add = [&](const auto& from, auto* to) {
    to->insert(to->end(), from.begin() + static_cast<std::ptrdiff_t>(first),
               from.begin() + static_cast<std::ptrdiff_t>(last));
  };
  for (const auto& [group, origin] : more.origins) {
    const auto at = samples->origins.emplace(group, origin).first;
    CHECK(at->second.key == origin.key, "group {} has two origins", group);
  }
  const bool has_weights = !samples->weight.empty() || !more.weight.empty();
  if (has_weights) {
    samples->weight.resize(samples->size(), 1.0F);
    if (more.weight.empty()) {
      samples->weight.resize(samples->size() + last - first, 1.0F);
    } else {
      add(more.weight, &samples->weight);
    }
  }
  const auto add_if_known = [&](std::string_view what, const auto& from, auto* to) {
    CHECK(samples->size() == 0 || to->empty() == from.empty(),
          "{} of some samples only: {} of {}, and {} of {} more", what, to->size(), samples->size(),
          from.size(), more.size());
    if (!from.empty()) add(from, to);
  };
  add_if_known("traces", more.trace, &samples->trace);
  add_if_known("programs", more.program, &samples->program);
  add(more.group, &samples->group);
  add(more.latency_ns, &samples->latency_ns);
  feature::append(more.inputs, first, last, &samples->inputs);
}

void keep_newest(size_t count, Samples* samples) {
  if (samples->size() <= count) return;
  const size_t dropped = samples->size() - count;
  const auto drop = [dropped](auto* from) {
    if (!from->empty())
      from->erase(from->begin(), from->begin() + static_cast<std::ptrdiff_t>(dropped));
  };
  feature::drop_first(dropped, &samples->inputs);
  drop(&samples->group);
  drop(&samples->latency_ns);
  drop(&samples->weight);
  drop(&samples->trace);
  drop(&samples->program);
}

}  // namespace tilewright::cost
