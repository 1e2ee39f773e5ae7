// What the benches of measuring share: where the worker programs lie, stores that are thrown away,
// and a Session over both.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "bench/sketch_text.h"
#include "measure/session.h"
#include "target/machine.h"
#include "task/parse.h"

namespace tilewright::bench {

inline void must_hold(const Status& status) {
  if (status) return;
  fmt::print(stderr, "{}\n", status.error().message);
  std::exit(1);
}

// build/release for build/release/bench/bench_x: the workers lie there.
inline std::filesystem::path program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

inline int bench_threads() {
  return std::min<int>(2, static_cast<int>(detect_machine().cpus.size()));
}

// A batch of one is a plain product, as in bench/harness/suite.py: what the traces of GMM are for.
inline std::string workload_text(const std::string& what) {
  if (what == "GMM2") return "matmul:m=512,n=512,k=512,constant=none";
  if (what == "GMM3") return "matmul:m=1024,n=1024,k=1024,constant=none";
  return what;
}

inline Task task_of(const std::string& what) {
  return {must(parse_workload(workload_text(what))), host_target(bench_threads())};
}

inline schedule::Trace hand_trace(const std::string& name) {
  const std::string path = fmt::format("{}/bench/traces/{}.trace", TILEWRIGHT_SOURCE_DIR, name);
  return must(schedule::trace_from_text(must(read_file(path))));
}

// A store of its own on the disk of the build tree, so that what is durable costs what it costs.
class ScratchStore {
 public:
  explicit ScratchStore(const std::string& name)
      : path_(program_folder() / fmt::format("bench-{}-{}.db", name, getpid())),
        store_(must(record::Store::open(path_))) {}
  ~ScratchStore() {
    for (const char* end : {"", "-wal", "-shm"}) {
      std::error_code ignored;
      std::filesystem::remove(path_.string() + end, ignored);
    }
  }
  ScratchStore(const ScratchStore&) = delete;
  ScratchStore& operator=(const ScratchStore&) = delete;

  record::Store& store() { return store_; }

 private:
  std::filesystem::path path_;
  record::Store store_;
};

inline measure::SessionOptions session_options(const std::string& command) {
  measure::SessionOptions options;
  options.command = command;
  options.measure.workers = program_folder();
  return options;
}

// The answers in the order of the candidates; what had no verdict ends the program.
inline std::vector<measure::Answer> measure_all(measure::Session& session,
                                                const std::vector<schedule::Trace>& candidates) {
  std::vector<measure::Answer> answers(candidates.size());
  size_t answered = 0;
  const Status status = session.measure(candidates, [&](const measure::Answer& answer) {
    answers[answer.candidate] = answer;
    ++answered;
  });
  must_hold(status);
  CHECK(answered == candidates.size(), "{} of {} candidates have a verdict", answered,
        candidates.size());
  return answers;
}

inline double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

inline double median(std::vector<double> values) {
  CHECK(!values.empty(), "no values");
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace tilewright::bench
