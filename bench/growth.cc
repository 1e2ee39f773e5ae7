// ./dev bench growth: measures whether the memory of the processes grows. The same candidates,
// drawn at random for operators of several kinds, are measured repeatedly. The resident sets of the
// tuner, the builders and the run worker are read after each round, after the same work each time.
// Workers are not recycled, so that a leak is visible; one operator is also measured with the
// default options. That one has 5,000 trials with --full, else 1,000; the others have a fifth.
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "bench/measuring.h"
#include "bench/rows.h"
#include "space/random_trace.h"

namespace tilewright::bench {
namespace {

constexpr double kBarKib = 1024;
constexpr int kRounds = 10;
const std::string kLongest = "conv2d:n=1,h=14,w=14,ci=32,co=32,kernel=3,pad=1";
const std::vector<std::string> kOthers = {"matmul:m=128,n=128,k=128", "softmax:m=64,n=256",
                                          "matmul:m=100,n=70,k=33,constant=B"};

double resident_kib(int pid) {
  long total = 0;
  long resident = 0;
  std::ifstream(fmt::format("/proc/{}/statm", pid)) >> total >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / 1024;
}

// One reading: the tuner, the largest builder, the run worker.
struct Memory {
  double tuner, builder, runner;
};

Memory memory_now(const measure::Measurer& measurer) {
  const std::vector<int> pids = measurer.worker_pids();
  CHECK(pids.size() >= 2, "there are builders and a run worker");
  Memory out{.tuner = resident_kib(getpid()), .builder = 0, .runner = resident_kib(pids.back())};
  for (size_t k = 0; k + 1 < pids.size(); ++k) {
    out.builder = std::max(out.builder, resident_kib(pids[k]));
  }
  return out;
}

// The highest reading of the second half above the highest of the first: a heap reaches its size at
// some time, a leak continues to grow.
double growth_kib(const std::vector<Memory>& readings, double Memory::* what) {
  const auto middle = readings.begin() + static_cast<std::ptrdiff_t>(readings.size() / 2);
  const auto less = [what](const Memory& a, const Memory& b) { return a.*what < b.*what; };
  const Memory& first = *std::max_element(readings.begin(), middle, less);
  const Memory& second = *std::max_element(middle, readings.end(), less);
  return second.*what - first.*what;
}

void run_one(const std::string& what, size_t trials, bool recycle, Rows* rows, double* worst) {
  const Task task = task_of(what);
  Rng rng(7);
  const auto candidates = space::random_traces(task, trials / kRounds, rng);
  measure::SessionOptions options = session_options("bench growth");
  options.recall = record::Recall::None;
  if (!recycle) {
    options.measure.recycle_after = 1'000'000'000;
    options.measure.recycle_growth = int64_t{1} << 50;
  }
  ScratchStore scratch("growth");
  measure::Session session = must(measure::Session::start(task, scratch.store(), options));
  std::vector<Memory> readings;
  const double start = seconds_now();
  for (int round = 0; round < kRounds; ++round) {
    measure_all(session, candidates);
    readings.push_back(memory_now(session.measurer()));
  }
  const double took = seconds_now() - start;
  const measure::Shares shares = session.measurer().shares();
  fmt::print("\n{}, {} trials{}, {:.1f} per second; {} builders and {} run workers were started\n",
             what, kRounds * candidates.size(), recycle ? ", workers recycled" : "",
             static_cast<double>(kRounds * candidates.size()) / took, shares.builders_started,
             shares.runners_started);
  const std::pair<const char*, double Memory::*> processes[] = {
      {"tuner", &Memory::tuner}, {"builder", &Memory::builder}, {"runner", &Memory::runner}};
  for (const auto& [name, what_kib] : processes) {
    fmt::print("{:<9}KiB:", name);
    for (const Memory& reading : readings) fmt::print(" {:.0f}", reading.*what_kib);
    const double kib = growth_kib(readings, what_kib);
    fmt::print("   {:+.0f}\n", kib);
    rows->add(fmt::format("{}/{}{}", what, name, recycle ? "/recycled" : ""), "growth_kib", kib);
    if (!recycle) *worst = std::max(*worst, kib);
  }
  std::fflush(stdout);
}

}  // namespace

int run(const Flags& flags, Rows& rows) {
  const size_t trials = flags.full ? 5000 : 1000;
  double worst = 0;
  run_one(kLongest, trials, false, &rows, &worst);
  run_one(kLongest, trials, true, &rows, &worst);
  for (const std::string& what : kOthers) run_one(what, trials / 5, false, &rows, &worst);
  rows.add("growth", "worst_kib", worst);
  fmt::print("\n");
  print_verdict("growth of any process, without recycling", worst, kBarKib, "KiB");
  return 0;
}

}  // namespace tilewright::bench
