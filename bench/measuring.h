// Shared by the benchmarks of measuring: the folder of the worker programs, temporary stores, and a
// Session over both.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/must_testing.h"
#include "base/program_folder.h"
#include "base/temporary_folder.h"
#include "bench/sketch_text.h"
#include "measure/session.h"
#include "target/machine.h"
#include "task/parse.h"

namespace tilewright::bench {

// build/release for build/release/bench/bench_x: the folder of the worker programs.
inline std::filesystem::path worker_folder() { return must(program_folder()).parent_path(); }

inline int bench_threads() {
  return std::min<int>(2, static_cast<int>(detect_machine().cpus.size()));
}

// A batch of one is a plain product, as in bench/harness/suite.py. The traces of GMM are written
// for it.
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

// A temporary store on the disk of the build tree, so that durable writes take their usual time.
class ScratchStore {
 public:
  explicit ScratchStore(const std::string& name)
      : folder_(must(TemporaryFolder::make(worker_folder(), fmt::format("bench-{}-", name)))),
        store_(must(record::Store::open(folder_ / "records.db"))) {}

  record::Store& store() { return store_; }

 private:
  TemporaryFolder folder_;
  record::Store store_;
};

inline measure::SessionOptions session_options(const std::string& command) {
  measure::SessionOptions options;
  options.command = command;
  options.measure.workers = worker_folder();
  return options;
}

// The answers in the order of the candidates. A candidate without a verdict ends the program.
inline std::vector<measure::Answer> measure_all(measure::Session& session,
                                                const std::vector<schedule::Trace>& candidates) {
  std::vector<measure::Answer> answers(candidates.size());
  size_t answered = 0;
  const Status status = session.measure(candidates, [&](const measure::Answer& answer) {
    answers[answer.candidate] = answer;
    ++answered;
  });
  must(status);
  CHECK(answered == candidates.size(), "{} of {} candidates have a verdict", answered,
        candidates.size());
  return answers;
}

inline double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace tilewright::bench
