// ./dev bench apply: from a trace to its LoopTree, the hot path of every search, on one core.
//
// Two conv2d sketches: the steps of bench/traces/C2D2.trace with other factors and some annotations
// on or off, and a deep one with four levels of tiles, as sketch rules make them. Consecutive calls
// have different traces, so that branch prediction is as in a search:
//
//   instantiate   sketch + genome -> trace
//   apply         trace -> LoopTree, into a tree that is reused
//   retile        the same structure, other factors -> the numbers of the LoopTree
//
// This program replaces operator new, which counts heap allocations.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>

#include "base/file.h"
#include "base/must_testing.h"
#include "base/quantile.h"
#include "bench/rows.h"
#include "bench/sketch_text.h"
#include "schedule/apply.h"
#include "schedule/explain.h"
#include "task/parse.h"

namespace {
std::atomic<int64_t> allocations = 0;

void* counted(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
}  // namespace

// GCC sees through one of a pair when it inlines, and then takes new for the library's.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(size_t size) { return counted(size); }
void* operator new[](size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace tilewright::bench {
namespace {

constexpr double kApplyBarUs = 10;
constexpr double kRetileBarUs = 3;
constexpr double kAllocationBar = 0.01;  // per call

// Space and reduction tiled in turn, "SSRSRS", with a cache for the results, the padded input made
// per tile and the weights packed.
constexpr const char* kDeep = R"(
cache_write Y
split Y n {[1, 1]}
split Y y {[1, 7] | [2, 7] | [7, 1] | [1, 14] | [2, 1]}
split Y x {[1, 14] | [2, 7] | [7, 2] | [1, 7] | [14, 1]}
split Y c {[1, 32] | [2, 16] | [4, 32] | [8, 16] | [2, 64]}
reorder Y [n.0, y.0, x.0, c.0, n.1, y.1, x.1, c.1, n.2, y.2, x.2, c.2]
fuse Y [n.0, y.0, x.0, c.0]
annotate Y (n.0,y.0,x.0,c.0) parallel
annotate Y c.2 vectorize
compute_at Y.write Y c.1
split Y.write y {[1] | [2] | [7]}
split Y.write x {[1] | [2] | [7] | [14]}
split Y.write c {[16] | [32]}
split Y.write ry {[1] | [3]}
split Y.write rx {[1] | [3]}
split Y.write rc {[1] | [4] | [8] | [16] | [64]}
reorder Y.write [n, y.0, x.0, c.0, ry.0, rx.0, rc.0, ry.1, rx.1, rc.1, y.1, x.1, c.1]
{annotate Y.write x.1 unroll | }
{annotate Y.write rc.1 unroll | }
annotate Y.write c.1 vectorize
pack W Y.write
compute_at P Y (n.0,y.0,x.0,c.0)
{annotate P c vectorize | }
)";

// The steps of a trace as a sketch: factors halved and doubled, unrolling on or off.
schedule::Sketch sketch_of(const schedule::Trace& trace) {
  schedule::Sketch sketch{.trace = trace, .holes = {}};
  for (size_t k = 0; k < trace.steps.size(); ++k) {
    const auto step = static_cast<int16_t>(k);
    if (const auto* split = std::get_if<schedule::Split>(&trace.steps[k])) {
      schedule::TileDomain tiles;
      for (const int64_t times : {1, 2, 4}) {
        for (const int64_t parts : {1, 2}) {
          schedule::Factors factors = split->factors;
          for (int64_t& factor : factors) factor = std::max<int64_t>(1, factor * times / parts);
          tiles.choices.push_back(factors);
        }
      }
      sketch.holes.push_back({.step = step, .stage = split->stage, .domain = tiles});
    }
    if (const auto* mark = std::get_if<schedule::Annotate>(&trace.steps[k])) {
      if (mark->how != schedule::Annotation::Unroll) continue;
      const schedule::StepDomain choice{.choices = {trace.steps[k], std::nullopt}};
      sketch.holes.push_back({.step = step, .stage = mark->stage, .domain = choice});
    }
  }
  return sketch;
}

struct Cost {
  std::vector<double> microseconds;
  int64_t allocations = 0;

  double median() const { return median_of(microseconds); }
  double allocations_per_call() const {
    return static_cast<double>(allocations) / static_cast<double>(microseconds.size());
  }
};

// One timed call, including the time of the clock (about 20 ns).
template <class Call>
void measure(Cost* cost, const Call& call) {
  using Clock = std::chrono::steady_clock;
  const int64_t before = allocations.load(std::memory_order_relaxed);
  const Clock::time_point start = Clock::now();
  call();
  const std::chrono::duration<double, std::micro> took = Clock::now() - start;
  cost->allocations += allocations.load(std::memory_order_relaxed) - before;
  cost->microseconds.push_back(took.count());
}

struct Case {
  const char* name;
  schedule::LoopTree initial;
  schedule::Sketch sketch;
};

bool is_factors(const schedule::Sketch& sketch, const schedule::Hole& hole) {
  return std::holds_alternative<schedule::Split>(
      sketch.trace.steps[static_cast<size_t>(hole.step)]);
}

// Legal genomes; with `base`, ones that differ from it in factors only.
std::vector<schedule::Genome> legal_genomes(const Case& c, const schedule::Genome* base, Rng& rng,
                                            size_t count) {
  std::vector<schedule::Genome> genomes;
  schedule::LoopTree tree;
  schedule::Trace trace;
  for (int tries = 0; genomes.size() < count; ++tries) {
    CHECK(tries < 1'000'000, "{}: too few legal schedules", c.name);
    schedule::Genome genome = sample(c.sketch, rng);
    for (size_t k = 0; base != nullptr && k < genome.genes.size(); ++k) {
      if (!is_factors(c.sketch, c.sketch.holes[k])) genome.genes[k] = base->genes[k];
    }
    instantiate(c.sketch, genome, &trace);
    if (!apply(c.initial, trace, &tree)) genomes.push_back(std::move(genome));
  }
  return genomes;
}

void report(const Case& c, const char* what, const Cost& cost, Rows* rows) {
  fmt::print("{:<10}{:<14}{:>10.2f}{:>10.2f}{:>14.4f}\n", c.name, what, cost.median(),
             quantile_of_unsorted(cost.microseconds, 0.95), cost.allocations_per_call());
  const std::string name = fmt::format("{}/{}", what, c.name);
  rows->add(name, "median_us", cost.median());
  rows->add(name, "p95_us", quantile_of_unsorted(cost.microseconds, 0.95));
  rows->add(name, "allocations", cost.allocations_per_call());
}

struct Costs {
  Cost instantiate, apply, retile;
};

Costs run_case(const Case& c, int calls, Rng& rng) {
  Costs out;
  for (Cost* cost : {&out.instantiate, &out.apply, &out.retile}) {
    cost->microseconds.reserve(static_cast<size_t>(calls));
  }
  const auto any = legal_genomes(c, nullptr, rng, 1024);
  const auto tiles = legal_genomes(c, &any[0], rng, 1024);
  schedule::LoopTree tree;
  schedule::Trace trace;
  const auto must_be_legal = [&](const schedule::Illegal& illegal) {
    CHECK(!illegal, "{}", explain(c.initial, trace, illegal));
  };
  for (const schedule::Genome& genome : any) {  // warm-up: every buffer has its size
    instantiate(c.sketch, genome, &trace);
    must_be_legal(apply(c.initial, trace, &tree));
  }
  for (int k = 0; k < calls; ++k) {
    const schedule::Genome& genome = any[rng.below(any.size())];
    measure(&out.instantiate, [&] { instantiate(c.sketch, genome, &trace); });
    schedule::Illegal illegal;
    measure(&out.apply, [&] { illegal = apply(c.initial, trace, &tree); });
    must_be_legal(illegal);
  }
  instantiate(c.sketch, tiles[0], &trace);
  must_be_legal(apply(c.initial, trace, &tree));
  for (int k = 0; k < calls; ++k) {
    instantiate(c.sketch, tiles[rng.below(tiles.size())], &trace);
    schedule::Illegal illegal;
    measure(&out.retile, [&] { illegal = retile(trace, &tree); });
    must_be_legal(illegal);
  }
  return out;
}

}  // namespace

int run(const Flags& flags, Rows& rows) {
  Rng rng(2024);
  const Workload workload = must(parse_workload("C2D2"));
  const schedule::LoopTree initial = must(schedule::initial_tree(workload));
  const std::string text = must(read_file(TILEWRIGHT_SOURCE_DIR "/bench/traces/C2D2.trace"));
  const Case cases[] = {{"C2D2", initial, sketch_of(must(schedule::trace_from_text(text)))},
                        {"deep", initial, sketch_from_text(kDeep)}};
  const int calls = flags.full ? 400'000 : 40'000;

  fmt::print("{} calls each\n\n{:<10}{:<14}{:>10}{:>10}{:>14}\n", calls, "steps", "us", "median",
             "p95", "allocations");
  std::vector<std::pair<const Case*, Costs>> results;
  for (const Case& c : cases) {
    const Costs result = run_case(c, calls, rng);
    report(c, "instantiate", result.instantiate, &rows);
    report(c, "apply", result.apply, &rows);
    report(c, "retile", result.retile, &rows);
    results.emplace_back(&c, result);
  }
  fmt::print("\n");
  for (const auto& [c, result] : results) {
    const std::string steps = fmt::format("{} ({} steps)", c->name, c->sketch.trace.steps.size());
    print_verdict("apply, " + steps, result.apply.median(), kApplyBarUs, "us");
    print_verdict("retile, " + steps, result.retile.median(), kRetileBarUs, "us");
    print_verdict("allocations of an apply", result.apply.allocations_per_call(), kAllocationBar,
                  "");
    print_verdict("allocations of a retile", result.retile.allocations_per_call(), kAllocationBar,
                  "");
  }
  return 0;
}

}  // namespace tilewright::bench
