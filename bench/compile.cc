// ./dev bench compile: from a LoopTree to a callable kernel. 200 schedules of matmul, conv2d and
// softmax, drawn from sketches like those of a tuner: register tiles of 1x16 to 14x32, operands
// packed, loops parallel, unrolled and vectorized, tiles that divide and tiles that leave
// remainders. Every legal draw counts, whatever its compile time.
//
// The schedules (five times as many with --full) are compiled in rounds, all of them in each: first
// some warm-up rounds, then the measured ones. Time is the CPU time of the compiling thread in the
// measured rounds. The growth of memory is measured between the ends of rounds, after the same work
// each time.
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <numeric>
#include <utility>

#include "base/must_testing.h"
#include "base/quantile.h"
#include "bench/rows.h"
#include "bench/sketch_text.h"
#include "codegen/back_ends/build_kernel.h"
#include "runtime/host/kernel.h"
#include "runtime/host/timer.h"
#include "schedule/apply.h"
#include "schedule/explain.h"
#include "schedule/program_hash.h"
#include "task/parse.h"

namespace tilewright::bench {
namespace {

constexpr double kMedianBarMs = 20;
constexpr double kP95BarMs = 60;
constexpr double kGrowthBarKib = 1024;

struct Source {
  const char* what;                   // a workload
  std::array<const char*, 3> sketch;  // its parts
  int schedules;                      // 200 in all
};

// C in register tiles; B copied and packed a block of columns at a time, A read in place.
constexpr const char* kMatmul = R"(
cache_write C
split C i {[1, 1] | [2, 1] | [1, 2] | [4, 4] | [2, 6] | [4, 8] | [8, 8] | [2, 12] | [2, 14] | [1, 10]}
split C j {[1, 16] | [4, 16] | [1, 32] | [2, 32] | [4, 32] | [8, 32]}
reorder C {[i.0, j.0, i.1, j.1, i.2, j.2] | [j.0, i.0, j.1, i.1, i.2, j.2] | [j.0, i.0, i.1, j.1, i.2, j.2]}
{fuse C [i.0, j.0] | }
{annotate C (i.0,j.0) parallel | annotate C j.0 parallel | annotate C i.0 parallel}
{annotate C i.2 unroll | }
annotate C j.2 vectorize
compute_at C.write C {i.1 | j.1}
split C.write k {[1] | [2] | [4] | [8]}
reorder C.write [k.0, k.1, i, j]
{annotate C.write k.1 unroll | }
annotate C.write i unroll
annotate C.write j vectorize
{cache_read B [C.write] | }
compute_at B.read C {j.0 | i.0}
{pack B.read C.write | }
split B.read d1 {[16] | [32] | [64]}
reorder B.read [d1.0, d0, d1.1]
annotate B.read d1.1 vectorize
)";

// The same with B a constant, packed at compile time.
constexpr const char* kMatmulPacked = R"(
cache_write C
split C i {[1, 1] | [4, 4] | [2, 6] | [4, 8] | [2, 12] | [2, 14]}
split C j {[1, 16] | [4, 16] | [2, 32] | [4, 32]}
reorder C {[i.0, j.0, i.1, j.1, i.2, j.2] | [j.0, i.0, j.1, i.1, i.2, j.2]}
{annotate C j.0 parallel | annotate C i.0 parallel}
{annotate C i.2 unroll | }
annotate C j.2 vectorize
compute_at C.write C {i.1 | j.1}
split C.write k {[1] | [2] | [4] | [16]}
reorder C.write [k.0, k.1, i, j]
{annotate C.write k.1 unroll | }
annotate C.write i unroll
annotate C.write j vectorize
{pack B C.write | }
)";

// Y in register tiles of pixels x channels, weights packed, the padded input made beforehand, a
// band of rows at a time, or where it is read.
constexpr const char* kConv2d = R"(
cache_write Y
split Y c {[16] | [32]}
split Y x {[1] | [2] | [4] | [6] | [7] | [8] | [14]}
split Y y {[1] | [2] | [7]}
{reorder Y [c.0, n, y.0, y.1, x.0, x.1, c.1] | reorder Y [n, y.0, c.0, y.1, x.0, x.1, c.1] | reorder Y [n, y.0, c.0, x.0, y.1, x.1, c.1]}
annotate Y {c.0 | y.0} parallel
{annotate Y x.1 unroll | }
annotate Y c.1 vectorize
compute_at Y.write Y {x.0 | x.0 | y.1}
split Y.write rc {[1] | [2] | [4] | [8]}
reorder Y.write {[ry, rx, rc.0, rc.1, n, y, x, c] | [rc.0, ry, rx, rc.1, n, y, x, c] | [ry, rc.0, rx, rc.1, n, y, x, c]}
{annotate Y.write rc.1 unroll | | }
{annotate Y.write rx unroll | | | }
annotate Y.write x unroll
annotate Y.write c vectorize
{pack W Y.write | }
)";
constexpr const char* kPadding = R"(
{split P c [16] | split P c [64] | compute_inline P | compute_at P Y y.0}
{annotate P c.1 vectorize | annotate P c vectorize | }
{annotate P y parallel | }
)";

// Rows in parallel, each stage some rows at a time.
constexpr const char* kSoftmax = R"(
split Y i {[1] | [2] | [4] | [8]}
split Y j {[16] | [32] | [64] | [128] | [48]}
annotate Y i.0 parallel
annotate Y j.1 vectorize
{compute_at R Y i.1 | compute_at R Y i.0 | compute_inline R}
compute_at S Y {i.1 | i.0}
compute_at M Y {i.1 | i.0}
)";
constexpr const char* kVectorReductions = R"(
split M k {[1, 16] | [1, 64] | [2, 32] | [4, 16] | [1, 128] | [2, 48]}
annotate M k.2 vectorize
{annotate M k.1 unroll | }
split S k {[1, 16] | [1, 64] | [2, 32] | [4, 16] | [1, 128] | [2, 48]}
annotate S k.2 vectorize
{annotate S k.1 unroll | }
)";
constexpr const char* kFactoredReductions = R"(
split M k {[1, 16] | [1, 32] | [2, 16] | [4, 16] | [8, 16] | [4, 32]}
rfactor M k.2
compute_at M.rfactor Y {i.1 | i.0}
reorder M.rfactor [k.0, k.1, k.2]
{annotate M.rfactor k.1 unroll | }
annotate M.rfactor k.2 vectorize
{annotate M k.2 unroll | }
split S k {[1, 16] | [1, 32] | [2, 16] | [4, 16] | [8, 16] | [4, 32]}
rfactor S k.2
compute_at S.rfactor Y {i.1 | i.0}
reorder S.rfactor [k.0, k.1, k.2]
{annotate S.rfactor k.1 unroll | }
annotate S.rfactor k.2 vectorize
{annotate S k.2 unroll | }
)";
// The exponentials kept for the row, or computed twice.
constexpr const char* kKeepPowers = R"(
compute_at E Y {i.1 | i.0}
split E j {[16] | [32] | [64] | [48]}
annotate E j.1 vectorize
)";
constexpr const char* kTwicePowers = R"(
compute_inline E
)";

constexpr Source kSources[] = {
    {"GMM2", {kMatmul}, 28},
    {"GMM0", {kMatmul}, 10},
    {"matmul:m=100,n=70,k=33", {kMatmul}, 8},
    {"matmul:m=512,n=512,k=512,constant=B", {kMatmulPacked}, 24},
    {"C2D2", {kConv2d, kPadding}, 28},
    {"C2D1", {kConv2d}, 12},
    {"C2D3", {kConv2d, kPadding}, 12},
    {"C2D0", {kConv2d, kPadding}, 10},
    {"conv2d:n=1,h=13,w=17,ci=24,co=40,kernel=3,pad=1", {kConv2d, kPadding}, 8},
    {"SFM2", {kSoftmax, kVectorReductions, kKeepPowers}, 16},
    {"SFM2", {kSoftmax, kFactoredReductions, kKeepPowers}, 16},
    {"SFM2", {kSoftmax, kVectorReductions, kTwicePowers}, 8},
    {"SFM0", {kSoftmax, kFactoredReductions, kTwicePowers}, 8},
    {"softmax:m=100,n=192", {kSoftmax, kFactoredReductions, kKeepPowers}, 6},
    {"softmax:m=100,n=200", {kSoftmax, kVectorReductions, kKeepPowers}, 6},
};

struct Schedule {
  std::string_view what;
  std::shared_ptr<const Task> task;
  schedule::Trace trace;
  schedule::LoopTree tree;
  std::vector<double> milliseconds;  // of each measured compile
};

// The drawn schedules of a source; no program twice.
void draw(const Source& source, int schedules, Rng& rng, std::vector<Schedule>* out,
          int64_t* illegal) {
  const auto task =
      std::make_shared<const Task>(Task{must(parse_workload(source.what)), host_target(2)});
  const schedule::LoopTree initial = must(schedule::initial_tree(task->workload));
  std::string text;
  for (const char* part : source.sketch) text += part != nullptr ? part : "";
  const schedule::Sketch sketch = sketch_from_text(text);
  std::vector<Hash128> seen;
  for (int drawn = 0, tries = 0; drawn < schedules; ++tries) {
    Schedule made{.what = source.what, .task = task, .trace = {}, .tree = {}, .milliseconds = {}};
    instantiate(sketch, sample(sketch, rng), &made.trace);
    const schedule::Illegal why = apply(initial, made.trace, &made.tree);
    CHECK(tries < 100'000, "too few schedules of {}; the last draw: {}", source.what,
          why ? explain(initial, made.trace, why) : "legal");
    if (why) {
      ++*illegal;
      continue;
    }
    const Hash128 hash = program_hash(made.tree);
    if (std::find(seen.begin(), seen.end(), hash) != seen.end()) continue;
    seen.push_back(hash);
    out->push_back(std::move(made));
    ++drawn;
  }
}

// Time by pass, in the order in which passes run.
class Passes {
 public:
  explicit Passes(size_t compiles) : compiles_(compiles) {}

  void add(std::string_view pass, double milliseconds) {
    for (auto& [name, samples] : passes_) {
      if (name == pass) return samples.push_back(milliseconds);
    }
    passes_.push_back({std::string(pass), {}});
    passes_.back().second.reserve(compiles_);  // so that only the compiler allocates memory
    passes_.back().second.push_back(milliseconds);
  }
  void clear() {
    for (auto& [name, samples] : passes_) samples.clear();
  }
  void print(Rows* rows) const {
    fmt::print("{:<22}{:>10}{:>10}{:>10}\n", "ms", "mean", "median", "p95");
    for (const auto& [name, samples] : passes_) {
      const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) /
                          static_cast<double>(samples.size());
      fmt::print("{:<22}{:>10.3f}{:>10.3f}{:>10.3f}\n", name, mean, median_of(samples),
                 quantile_of_unsorted(samples, 0.95));
      rows->add("compile/" + name, "mean_ms", mean);
      rows->add("compile/" + name, "median_ms", median_of(samples));
      rows->add("compile/" + name, "p95_ms", quantile_of_unsorted(samples, 0.95));
    }
  }

 private:
  size_t compiles_;
  std::vector<std::pair<std::string, std::vector<double>>> passes_;
};

// LoopTree to callable, the kernel thrown away; CPU milliseconds.
double compile(const Schedule& schedule, Passes& passes) {
  std::vector<lower::PassReport> lowering;
  std::vector<codegen::PhaseTime> phases;
  codegen::BuildOptions options;
  options.lower.report = &lowering;
  options.compile.phases = &phases;
  const int64_t start = runtime::thread_cpu_ns();
  const auto object =
      must(codegen::build_artifact(*schedule.task, schedule.tree, schedule.trace, options));
  const int64_t built = runtime::thread_cpu_ns();
  const auto kernel = must(runtime::Kernel::load(object));
  const int64_t end = runtime::thread_cpu_ns();
  for (const lower::PassReport& pass : lowering) passes.add(pass.pass, pass.milliseconds);
  for (const codegen::PhaseTime& phase : phases) {
    passes.add(fmt::format("llvm {}", phase.phase), phase.milliseconds);
  }
  passes.add("load", static_cast<double>(end - built) * 1e-6);
  return static_cast<double>(end - start) * 1e-6;
}

struct Memory {
  double resident_kib;
  double in_use_kib;  // allocated by malloc and not freed
};
Memory memory_now() {
  malloc_trim(0);  // returns free memory first, whose amount varies
  long total = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  const struct mallinfo2 heap = mallinfo2();
  return {.resident_kib = static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / 1024,
          .in_use_kib = static_cast<double>(heap.uordblks + heap.hblkhd) / 1024};
}

// From the median of the first third of the rounds to the median of the last: drift, not jitter.
double drift(const std::vector<Memory>& ends, double Memory::* what) {
  const size_t third = ends.size() / 3;
  std::vector<double> first;
  std::vector<double> last;
  for (size_t k = 0; k < third; ++k) {
    first.push_back(ends[k].*what);
    last.push_back(ends[ends.size() - 1 - k].*what);
  }
  return median_of(last) - median_of(first);
}

void print_slowest(std::vector<const Schedule*> by_time, int count) {
  const auto median = [](const Schedule* s) { return median_of(s->milliseconds); };
  std::sort(by_time.begin(), by_time.end(),
            [&](const Schedule* a, const Schedule* b) { return median(a) > median(b); });
  for (int k = 0; k < count; ++k) {
    const Schedule& s = *by_time[static_cast<size_t>(k)];
    fmt::print("\n{:.1f} ms, {} instructions estimated: {}\n{}", median(&s),
               schedule::estimated_instructions(s.tree, s.task->target.vector_bytes()), s.what,
               to_text(s.trace));
  }
}

void print_by_source(const std::vector<Schedule>& schedules) {
  fmt::print("\n{:<50}{:>5}{:>10}{:>10}{:>10}\n", "ms of", "", "median", "p95", "most");
  std::string_view last;
  for (const Source& source : kSources) {  // rows of the same workload follow each other
    if (std::exchange(last, source.what) == source.what) continue;
    std::vector<double> all;
    int count = 0;
    for (const Schedule& s : schedules) {
      if (s.what != last) continue;
      ++count;
      all.insert(all.end(), s.milliseconds.begin(), s.milliseconds.end());
    }
    fmt::print("{:<50}{:>5}{:>10.2f}{:>10.2f}{:>10.2f}\n", source.what, count, median_of(all),
               quantile_of_unsorted(all, 0.95), quantile_of_unsorted(all, 1));
  }
}

}  // namespace

int run(const Flags& flags, Rows& rows) {
  Rng rng(2024);
  std::vector<Schedule> schedules;
  int64_t illegal = 0;
  for (const Source& source : kSources) {
    draw(source, (flags.full ? 5 : 1) * source.schedules, rng, &schedules, &illegal);
  }
  const size_t warm_up = flags.full ? 1 : 2;
  const size_t rounds = 10;
  fmt::print("{} schedules ({} illegal draws left out), {} + {} rounds\n\n", schedules.size(),
             illegal, warm_up, rounds);

  Passes passes((warm_up + rounds) * schedules.size());
  for (Schedule& s : schedules) s.milliseconds.reserve(warm_up + rounds);
  std::vector<Memory> ends;
  for (size_t round = 0; round < warm_up + rounds; ++round) {
    if (round == warm_up) {
      passes.clear();
      for (Schedule& s : schedules) s.milliseconds.clear();
    }
    for (Schedule& s : schedules) s.milliseconds.push_back(compile(s, passes));
    if (round >= warm_up) ends.push_back(memory_now());
  }

  std::vector<double> all;
  std::vector<const Schedule*> by_time;
  for (const Schedule& s : schedules) {
    all.insert(all.end(), s.milliseconds.begin(), s.milliseconds.end());
    by_time.push_back(&s);
  }
  passes.print(&rows);
  print_by_source(schedules);
  fmt::print("\nthe slowest:\n");
  print_slowest(by_time, 3);

  const double median = median_of(all);
  const double p95 = quantile_of_unsorted(all, 0.95);
  const double growth = drift(ends, &Memory::resident_kib);
  const double heap = drift(ends, &Memory::in_use_kib);
  rows.add("compile", "median_ms", median);
  rows.add("compile", "p95_ms", p95);
  rows.add("compile", "compiles", all.size());
  rows.add("compile", "growth_kib", growth);
  rows.add("compile", "heap_growth_kib", heap);
  fmt::print("\nresident set after each round, KiB:");
  for (const Memory& end : ends) fmt::print(" {:.0f}", end.resident_kib);
  fmt::print("\nin use by malloc, KiB:             ");
  for (const Memory& end : ends) fmt::print(" {:.0f}", end.in_use_kib);
  fmt::print("\n\n");
  print_verdict("CPU time, median", median, kMedianBarMs, "ms");
  print_verdict("CPU time, 95th percentile", p95, kP95BarMs, "ms");
  print_verdict(fmt::format("growth over {} compiles, resident", all.size()), growth, kGrowthBarKib,
                "KiB");
  print_verdict(fmt::format("growth over {} compiles, heap in use", all.size()), heap,
                kGrowthBarKib, "KiB");
  return 0;
}

}  // namespace tilewright::bench
