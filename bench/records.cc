// ./dev bench records: a store of a million attempts: export, import, disk space per record, and
// the queries of a tuner. --full: four million.
//
// The attempts are synthetic but realistic: traces of two sketches like those of the rules (a deep
// convolution, a tiled matmul) with random factors, 8 tasks of the suite, ten samples per timed
// attempt; a tenth of the attempts are failures with a text. Files are in the folder for temporary
// files.
#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "base/must_testing.h"
#include "base/quantile.h"
#include "base/temporary_folder.h"
#include "bench/rows.h"
#include "bench/sketch_text.h"
#include "record/ndjson.h"
#include "record/store.h"
#include "space/tile_domain.h"
#include "task/parse.h"

namespace tilewright::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kImportBarS = 10;  // of a million
constexpr double kBestBarMs = 10;

constexpr const char* kConvolution = R"(
cache_write Y
split Y n [1, 1]
split Y y [1, 7]
split Y x [1, 14]
split Y c [1, 32]
reorder Y [n.0, y.0, x.0, c.0, n.1, y.1, x.1, c.1, n.2, y.2, x.2, c.2]
fuse Y [n.0, y.0, x.0, c.0]
annotate Y (n.0,y.0,x.0,c.0) parallel
annotate Y c.2 vectorize
compute_at Y.write Y c.1
split Y.write y [1]
split Y.write x [1]
split Y.write c [16]
split Y.write ry [1]
split Y.write rx [1]
split Y.write rc [1]
reorder Y.write [n, y.0, x.0, c.0, ry.0, rx.0, rc.0, ry.1, rx.1, rc.1, y.1, x.1, c.1]
{annotate Y.write x.1 unroll | }
{annotate Y.write rc.1 unroll | }
annotate Y.write c.1 vectorize
pack W Y.write
compute_at P Y (n.0,y.0,x.0,c.0)
{annotate P c vectorize | }
)";
constexpr const char* kMatmul = R"(
cache_write C
split C i [1, 4]
split C j [1, 16]
reorder C [i.0, j.0, i.1, j.1, i.2, j.2]
fuse C [i.0, j.0]
annotate C (i.0,j.0) parallel
annotate C j.2 vectorize
compute_at C.write C j.1
split C.write k [4]
reorder C.write [k.0, i, k.1, j]
{annotate C.write i unroll | }
annotate C.write j vectorize
{pack B C.write | }
)";

struct Bench {
  std::vector<Task> tasks;
  std::vector<Hash128> keys;               // one per task
  std::vector<schedule::Sketch> sketches;  // one per task
  Machine machine = detect_machine();
  Hash128 machine_key = record::machine_id(machine);
  record::Run run{.id = {1, 1}, .start_us = 0, .command = "bench records", .version = "0"};
  Rng rng{7};
  int64_t sequence = 0;
};

// Every split gets a hole: all exact tilings of some extents, most of which are not of this axis;
// for the size of texts and numbers that makes no difference.
schedule::Sketch with_tiles(schedule::Sketch sketch) {
  for (size_t k = 0; k < sketch.trace.steps.size(); ++k) {
    const auto* split = std::get_if<schedule::Split>(&sketch.trace.steps[k]);
    if (split == nullptr) continue;
    const int levels = static_cast<int>(split->factors.size());
    sketch.holes.push_back(
        {.step = static_cast<int16_t>(k),
         .stage = split->stage,
         .domain = space::tile_domain({.extent = k % 2 == 0 ? 256 : 720, .factors = levels})});
  }
  return sketch;
}

record::Attempt draw(Bench& bench) {
  Rng& rng = bench.rng;
  const size_t which = rng.below(bench.tasks.size());
  schedule::Trace trace;
  schedule::instantiate(bench.sketches[which], schedule::sample(bench.sketches[which], rng),
                        &trace);

  record::Attempt attempt;
  attempt.run = bench.run.id;
  attempt.sequence = bench.sequence++;
  attempt.task = bench.keys[which];
  attempt.program = {rng.next(), rng.next()};
  attempt.trace = schedule::to_text(trace);
  attempt.machine = bench.machine_key;
  attempt.code_generator = 1;
  attempt.start_us = 1'790'000'000'000'000 + attempt.sequence * 31'000;
  attempt.end_us = attempt.start_us + rng.between(10'000, 90'000);
  const double latency = 2e5 * (1 + 20 * rng.uniform() * rng.uniform());
  const uint64_t sort = rng.below(10);
  attempt.verdict.kind = sort < 7   ? record::VerdictKind::Timed
                         : sort < 9 ? record::VerdictKind::Censored
                                    : record::VerdictKind::Crash;
  if (sort < 9) {
    attempt.verdict.latency_ns = latency;
    for (int k = 0; k < (sort < 7 ? 10 : 3); ++k) {
      attempt.verdict.samples_ns.push_back(latency * (1 + 0.05 * rng.uniform()));
    }
  } else {
    attempt.verdict.text = fmt::format(
        "signal 11 (Segmentation fault) in check: wrote {} bytes "
        "behind the end of output Y",
        rng.below(4096));
  }
  attempt.conditions = {.build_ns = 1e7 * (1 + rng.uniform()),
                        .check_ns = 3e6 * (1 + rng.uniform()),
                        .time_ns = 1e7 * (1 + rng.uniform()),
                        .disturbed = rng.between(0, 3),
                        .clock = 1 - 0.05 * rng.uniform(),
                        .load = std::trunc(rng.uniform() * 200) / 100};
  return attempt;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

record::Store open_store(const fs::path& path, const Bench& bench) {
  record::Store store = must(record::Store::open(path));
  for (const Task& task : bench.tasks) must(store.put_task(task));
  must(store.put_machine(bench.machine));
  must(store.put_run(bench.run));
  return store;
}

void report(Rows& rows, std::string_view name, std::string_view metric, double value) {
  fmt::print("{:<24}{:<20}{:>16.3f}\n", name, metric, value);
  rows.add(fmt::format("records/{}", name), metric, value);
}

// Durable appends, as by a tuner after each verdict or group of verdicts.
void time_appends(const fs::path& folder, Bench& bench, Rows& rows) {
  record::Store store = open_store(folder / "appends.db", bench);
  for (const size_t group : {size_t{1}, size_t{16}}) {
    std::vector<record::Attempt> attempts;
    attempts.reserve(1600);
    for (int k = 0; k < 1600; ++k) attempts.push_back(draw(bench));
    const Clock::time_point start = Clock::now();
    size_t done = 0;
    while (done < attempts.size() && seconds_since(start) < 5) {
      must(store.append(std::span(attempts).subspan(done, group)));
      done += group;
    }
    report(rows, fmt::format("append/{}", group), "records_per_s",
           static_cast<double>(done) / seconds_since(start));
  }
}

template <class Ask>
std::vector<double> milliseconds_of(int count, const Ask& ask) {
  std::vector<double> milliseconds;
  for (int k = 0; k < count; ++k) {
    const Clock::time_point start = Clock::now();
    ask(k);
    milliseconds.push_back(1e3 * seconds_since(start));
  }
  return milliseconds;
}

}  // namespace

int run(const Flags& flags, Rows& rows) {
  const int64_t count = flags.full ? 4'000'000 : 1'000'000;
  Bench bench;
  for (const char* name : {"C2D0", "C2D1", "C2D2", "C2D3", "GMM0", "GMM1", "GMM2", "GMM3"}) {
    bench.tasks.push_back({.workload = must(parse_workload(name)), .target = host_target(2)});
    bench.keys.push_back(bench.tasks.back().key());
    bench.sketches.push_back(with_tiles(sketch_from_text(name[0] == 'C' ? kConvolution : kMatmul)));
  }
  const TemporaryFolder scratch = must(make_scratch_folder("tilewright-bench-"));
  const fs::path& folder = scratch.path();

  fmt::print("{} attempts of {} tasks\n\n", count, bench.tasks.size());
  time_appends(folder, bench, rows);
  {
    record::Store store = open_store(folder / "made.db", bench);
    std::vector<record::Attempt> group;
    for (int64_t k = 0; k < count; ++k) {
      group.push_back(draw(bench));
      if (group.size() < 50'000 && k + 1 < count) continue;
      must(store.append(group));
      group.clear();
    }
    std::ofstream out(folder / "lines.ndjson");
    const Clock::time_point start = Clock::now();
    must(record::export_ndjson(store, out));
    report(rows, "export", "seconds", seconds_since(start));
  }
  const auto lines_bytes = static_cast<double>(fs::file_size(folder / "lines.ndjson"));
  report(rows, "export", "megabytes", lines_bytes / 1e6);
  fs::remove(folder / "made.db");

  Clock::time_point start = Clock::now();
  record::ImportReport imported;
  {
    record::Store store = must(record::Store::open(folder / "imported.db"));
    imported = must(record::import_ndjson(store, folder / "lines.ndjson"));
  }
  const double import_s = seconds_since(start);
  CHECK(imported.attempts == count && imported.malformed == 0, "{} of {} attempts were imported",
        imported.attempts, count);
  const auto million = 1e6 / static_cast<double>(count);
  const auto store_bytes = static_cast<double>(fs::file_size(folder / "imported.db"));
  report(rows, "import", "seconds", import_s);
  report(rows, "import", "lines_per_s", static_cast<double>(imported.lines) / import_s);
  report(rows, "store", "bytes_per_record", store_bytes / static_cast<double>(count));
  report(rows, "lines", "bytes_per_record", lines_bytes / static_cast<double>(count));

  record::Store store = must(record::Store::open(folder / "imported.db"));
  start = Clock::now();
  must(record::import_ndjson(store, folder / "lines.ndjson"));
  report(rows, "import again", "seconds", seconds_since(start));
  const record::Protocol protocol;
  const auto best = milliseconds_of(400, [&](int k) {
    const auto found =
        must(store.best(bench.keys[static_cast<size_t>(k) % bench.keys.size()], protocol, 10));
    CHECK(found.size() == 10, "ten are found");
  });
  report(rows, "best 10 of a task", "median_ms", median_of(best));
  report(rows, "best 10 of a task", "p95_ms", quantile_of_unsorted(best, 0.95));
  size_t resumed = 0;
  const auto resume = milliseconds_of(5, [&](int k) {
    resumed = must(store.measured({.task = bench.keys[static_cast<size_t>(k)],
                                   .machine = record::machine_id(bench.machine),
                                   .protocol = protocol,
                                   .code_generator = 1}))
                  .size();
  });
  report(rows, "resume", "median_ms", median_of(resume));
  report(rows, "resume", "records_per_ms", static_cast<double>(resumed) / median_of(resume));
  const auto list = milliseconds_of(3, [&](int) { must(store.summaries()); });
  report(rows, "list of tasks", "median_ms", median_of(list));

  fmt::print("\n");
  print_verdict("import of a million", import_s * million, kImportBarS, "s");
  print_verdict("best of a task, p95", quantile_of_unsorted(best, 0.95), kBestBarMs, "ms");
  return 0;
}

}  // namespace tilewright::bench
