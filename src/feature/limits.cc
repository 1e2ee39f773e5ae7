#include "feature/limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright::feature {
namespace {

constexpr double kClose = 0.7;        // share of a ceiling from which on it is the limit
constexpr double kBeyond = 1.1;       // share of a ceiling beyond which its estimate does not hold
constexpr int64_t kSumsInFlight = 8;  // two multiply-adds start per cycle, each takes four cycles
// Utilization of threads or lanes below which a sentence is printed.
constexpr double kIdleShare = 0.85;
constexpr double kRaggedShare = 0.1;
constexpr double kComputedAgain = 1.1;
constexpr size_t kSentences = 3;

double percent(double share) { return 100 * share; }

// How the loops use the host threads, the lanes and the registers of a CPU, most serious first.
void add_lacks_on_cpu(const NestFacts& facts, const Target& target, std::vector<std::string>* out) {
  const std::string stage = facts.hottest.text();
  if (target.threads() > 1 && facts.tasks == 1) {
    out->push_back(fmt::format("{} runs on one of {} threads: no loop around it is parallel.",
                               stage, target.threads()));
  }
  if (!facts.vectorized) {
    out->push_back(
        fmt::format("{} has no vectorized loop: it uses one of {} lanes.", stage, target.lanes(4)));
  } else if (!facts.with_gaps.op.empty()) {
    out->push_back(fmt::format("The lanes of {} take {} with gaps, element by element.", stage,
                               facts.with_gaps.text()));
  }
  if (facts.reduces && facts.vectorized && facts.sums < kSumsInFlight) {
    out->push_back(
        fmt::format("Only {} accumulator{} in flight in {}: a multiply-add takes about four cycles "
                    "and two start per cycle, so about {} are needed.",
                    facts.sums, facts.sums == 1 ? " is" : "s are", stage, kSumsInFlight));
  }
  const int64_t registers = target.vector_registers();
  if (facts.reduces && facts.vectorized && facts.sums > registers) {
    out->push_back(fmt::format("{} accumulators in {} exceed the {} vector registers: they spill.",
                               facts.sums, stage, registers));
  }
}

// Unused threads and lanes of a CPU, less serious than recomputation.
void add_idle_on_cpu(const NestFacts& facts, const Target& target, std::vector<std::string>* out) {
  if (target.threads() > 1 && facts.tasks > 1 && facts.balance < kIdleShare) {
    out->push_back(
        fmt::format("{} parallel iterations on {} threads keep them busy {:.0f} % of the "
                    "time.",
                    facts.tasks, target.threads(), percent(facts.balance)));
  }
  if (facts.vectorized && facts.lanes_used < kIdleShare) {
    out->push_back(fmt::format("A vectorized loop of {} fills {:.0f} % of its lanes.",
                               facts.vector_length, percent(facts.lanes_used)));
  }
}

// Shortcomings of the loops, most serious first.
std::vector<std::string> lacks(const Traffic& traffic, const NestFacts& facts,
                               const Target& target) {
  std::vector<std::string> out;
  if (target.runs_on_cpu()) add_lacks_on_cpu(facts, target, &out);
  if (traffic.computed_flop > kComputedAgain * traffic.flop) {
    out.push_back(
        fmt::format("It computes {:.2f} times the FLOP of the workload: inlined, attached "
                    "or overlapping elements are recomputed.",
                    traffic.computed_flop / traffic.flop));
  }
  if (target.runs_on_cpu()) add_idle_on_cpu(facts, target, &out);
  if (facts.ragged_share > kRaggedShare) {
    out.push_back(fmt::format("{:.0f} % of an axis are in a smaller last tile, which runs slower.",
                              percent(facts.ragged_share)));
  }
  return out;
}

}  // namespace

std::vector<Share> shares_of(const Traffic& traffic, const Ceilings& ceilings, double latency_ns) {
  std::vector<Share> shares;
  if (latency_ns <= 0) return shares;
  const auto add = [&](std::string what, double amount, double ceiling) {
    const double reached = amount / latency_ns;  // per nanosecond: giga per second
    shares.push_back({std::move(what), reached, ceiling, ceiling > 0 ? reached / ceiling : 0});
  };
  add("FMA peak", traffic.flop, ceilings.gflops);
  for (size_t k = 0; k < traffic.levels.size(); ++k) {
    const double ceiling = k < ceilings.gigabytes_per_s.size() ? ceilings.gigabytes_per_s[k] : 0;
    add(traffic.levels[k].beyond, traffic.levels[k].bytes, ceiling);
  }
  return shares;
}

std::vector<std::string> likely_limits(const Traffic& traffic, const NestFacts& facts,
                                       const Target& target, const std::vector<Share>& shares) {
  std::vector<std::string> out;
  const auto believed = [](const Share& s) { return s.share > kBeyond ? 0 : s.share; };
  const auto highest = std::ranges::max_element(shares, {}, believed);
  const bool known = highest != shares.end() && believed(*highest) > 0;
  const bool compute = known && highest == shares.begin();
  const auto wrong = std::ranges::find_if(shares, [](const Share& s) { return s.share > kBeyond; });
  if (known && highest->share >= kClose) {
    out.push_back(compute
                      ? fmt::format("Arithmetic limits it: {:.0f} % of the FMA peak.",
                                    percent(highest->share))
                      : fmt::format("The bandwidth of {} limits it: about {:.1f} GB/s, {:.0f} % "
                                    "of the peak.",
                                    highest->what, highest->reached, percent(highest->share)));
  }
  for (std::string& sentence : lacks(traffic, facts, target)) out.push_back(std::move(sentence));
  if (known && highest->share < kClose) {
    std::string text =
        compute ? fmt::format("The nearest ceiling is arithmetic: {:.0f} % of the FMA peak",
                              percent(highest->share))
                : fmt::format(
                      "The nearest ceiling is the bandwidth of {}: {:.0f} % of "
                      "the peak",
                      highest->what, percent(highest->share));
    text += out.empty() ? "; latency of loads, short loops or the start of threads may be the rest."
                        : ".";
    out.push_back(std::move(text));
  }
  if (out.empty()) {
    out.emplace_back(target.runs_on_cpu() ? "Its loops lack none of the usual properties."
                                          : "Limits on a device are not estimated.");
  }
  if (wrong == shares.end()) {
    if (out.size() > kSentences) out.resize(kSentences);
    return out;
  }
  if (out.size() >= kSentences) out.resize(kSentences - 1);
  out.push_back(
      fmt::format("The estimate for {} does not hold: it would be {:.0f} % of the "
                  "peak.",
                  wrong->what, percent(wrong->share)));
  return out;
}

}  // namespace tilewright::feature
