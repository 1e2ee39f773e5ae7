#include "app/kernel_losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tilewright::app {
namespace {

constexpr int32_t kFirstWithFacts = 3;  // version of the table

// The smallest level that holds the bytes.
const LevelRate& level_of(double bytes, const MachineRates& rates) {
  const auto found = std::ranges::find_if(rates.levels, [&](const LevelRate& level) {
    return bytes <= static_cast<double>(level.holds_bytes);
  });
  return found != rates.levels.end() ? *found : rates.levels.back();
}

// Gigabytes per second are bytes per nanosecond.
double moving_ns(double read_bytes, double written_bytes, const LevelRate& level) {
  const double copied = 2 * std::min(read_bytes, written_bytes);
  const double others = read_bytes + written_bytes - copied;
  return copied / level.copy_gb_per_s + others / level.read_gb_per_s;
}

}  // namespace

Status check_facts(const TilewrightModelApi& api, std::string_view what) {
  if (api.table->version >= kFirstWithFacts) return {};
  return fail(ErrorKind::Unsupported,
              fmt::format("{} was compiled by an older version, which did not store the FLOP and "
                          "the bytes of its kernels; compile it again",
                          what),
              {}, {{"compile", "MODEL.onnx", "stores them"}});
}

double bytes_of_run(const TilewrightModelApi& api) {
  const TilewrightModelTable& table = *api.table;
  double constants = 0;
  for (int32_t k = 0; k < api.step_count; ++k) {
    constants += static_cast<double>(table.facts[table.steps[k].kernel].constant_bytes);
  }
  // Kernels may share constants, and read only parts of them.
  double bytes = std::min(constants, static_cast<double>(table.constant_bytes)) +
                 static_cast<double>(table.arena_bytes);
  for (int32_t k = 0; k < api.input_count; ++k) bytes += static_cast<double>(api.inputs[k].bytes);
  for (int32_t k = 0; k < api.output_count; ++k) {
    bytes += static_cast<double>(api.outputs[k].bytes);
  }
  return bytes;
}

KernelLimit limit_of(const TilewrightTableFacts& facts, double bytes_of_run,
                     const MachineRates& rates) {
  const auto constants = static_cast<double>(facts.constant_bytes);
  const auto written = static_cast<double>(facts.written_bytes);
  const double read = constants + static_cast<double>(facts.read_bytes);
  const LevelRate& near = level_of(read + written, rates);
  const LevelRate& far = level_of(std::max(bytes_of_run, read + written), rates);
  KernelLimit limit{.ns = facts.flop / rates.gflops, .what = std::string(kFmaLimit)};
  const auto raise = [&](double ns, const LevelRate& level) {
    if (ns > limit.ns) limit = {.ns = ns, .what = level.name};
  };
  raise(moving_ns(read, written, near), near);
  raise(moving_ns(constants, 0, far), far);
  return limit;
}

std::vector<KernelLoss> kernel_losses(const TilewrightModelApi& api,
                                      const std::vector<double>& steps_ns,
                                      const MachineRates& rates) {
  const TilewrightModelTable& table = *api.table;
  const double run_bytes = bytes_of_run(api);
  std::vector<KernelLoss> losses(static_cast<size_t>(table.kernel_count));
  for (size_t step = 0; step < steps_ns.size(); ++step) {
    const auto kernel = static_cast<size_t>(table.steps[step].kernel);
    KernelLoss& loss = losses[kernel];
    if (loss.calls++ == 0) {
      loss.kernel = kernel;
      loss.title = api.step_titles[step];
      loss.limit = limit_of(table.facts[kernel], run_bytes, rates);
    }
    loss.ns += steps_ns[step];
  }
  std::erase_if(losses, [](const KernelLoss& loss) { return loss.calls == 0; });
  std::ranges::sort(losses, {},
                    [](const KernelLoss& loss) { return std::pair(-loss.lost_ns(), loss.kernel); });
  return losses;
}

}  // namespace tilewright::app
