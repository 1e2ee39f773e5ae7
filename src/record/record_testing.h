// For tests of records: tasks, ordinary and unusual attempts, and a temporary folder.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "base/must_testing.h"
#include "base/rng.h"
#include "base/temporary_folder.h"
#include "record/store.h"
#include "task/parse.h"

namespace tilewright::record::testing {

// A private folder for each test.
class ScratchFolder : public TemporaryFolder {
 public:
  ScratchFolder() : TemporaryFolder(make_scratch_folder("tilewright-").value()) {}
};

inline Task task_for(const std::string& what, int threads = 1) {
  return {.workload = must(parse_workload(what)),
          .target = must(parse_target("x86-64-v3;threads=" + std::to_string(threads)))};
}

inline Machine machine_named(const std::string& model) {
  Machine machine;
  machine.vendor = "Nobody";
  machine.model = model;
  machine.cpus = {0, 1};
  machine.cores = 2;
  machine.caches = {{.level = 1, .size_bytes = 32768, .line_bytes = 64, .shared_by = 1}};
  machine.memory_bytes = int64_t{1} << 34;
  return machine;
}

// A timed attempt of 1,000 ns; the sequence makes each one distinct.
inline Attempt timed(const Task& task, int64_t sequence, double latency_ns = 1000) {
  Attempt attempt;
  attempt.run = {1, 2};
  attempt.sequence = sequence;
  attempt.task = task.key();
  attempt.program = {7, static_cast<uint64_t>(sequence) + 1};
  attempt.trace = "split C i [" + std::to_string(static_cast<uint64_t>(sequence) + 1) +
                  ", 8]\nannotate C i.0 parallel\n";
  attempt.machine = machine_id(machine_named("one"));
  attempt.code_generator = 3;
  attempt.start_us = 1'700'000'000'000'000 + sequence % 1'000'000'000;
  attempt.end_us = attempt.start_us + 5000;
  attempt.verdict = {.kind = VerdictKind::Timed,
                     .latency_ns = latency_ns,
                     .samples_ns = {latency_ns, latency_ns + 0.1},
                     .text = ""};
  attempt.conditions = {.build_ns = 1e7,
                        .check_ns = 2e6,
                        .time_ns = 3e6,
                        .disturbed = 0,
                        .clock = 0.99,
                        .load = 0.25};
  return attempt;
}

inline Run run_one() {
  return {.id = {1, 2}, .start_us = 1'700'000'000'000'000, .command = "test", .version = "0.1.0"};
}

// Text with all kinds of unusual characters.
inline std::string odd_text(Rng& rng) {
  static const std::string parts[] = {"",
                                      "split C i [8, 016]\n",
                                      "fuse C [i.0, j.10]\n",
                                      "\"quoted\"",
                                      "back\\slash",
                                      "line\nline\r\n",
                                      "\t",
                                      std::string("nul\0nul", 7),
                                      "\x01",
                                      "\x02",
                                      "\x7f",
                                      "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
                                      "\xff\xfe",  // not UTF-8
                                      "18446744073709551616 999999999999999999 0 00 7",
                                      "{\"type\":\"attempt\"}",
                                      "---"};
  std::string text;
  for (uint64_t count = rng.below(4); count > 0; --count) {
    text += parts[rng.below(std::size(parts))];
  }
  return text;
}

inline double odd_number(Rng& rng) {
  static const double numbers[] = {
      0,      1,       0.1,     1e-320, 1e308, 2.5e15, 1e18, 123456789, 4.9406564584e-324,
      0x1p53, 1.0 / 3, 16777217};
  return rng.chance(0.5) ? rng.uniform() * 1e9 : numbers[rng.below(std::size(numbers))];
}

inline int64_t odd_integer(Rng& rng) {
  static const int64_t integers[] = {0, -1, INT64_MAX, INT64_MIN, 1'700'000'000'000'000};
  return rng.chance(0.5) ? rng.between(0, 1000) : integers[rng.below(std::size(integers))];
}

// A random valid attempt of the task, with the run and machine of `timed`.
inline Attempt odd_attempt(const Task& task, Rng& rng) {
  static const std::string extras[] = {"", "", "",

                                       "{\"zeta\":[1, {\"q\":null}]}",
                                       "{\"a\":123456789012345678901234567890,\"b\":\"\\u00e9\"}"};
  Attempt attempt = timed(task, odd_integer(rng));
  attempt.program = rng.chance(0.2) ? Hash128{} : Hash128{rng.next(), rng.next()};
  attempt.trace = odd_text(rng);
  attempt.protocol = {.version = static_cast<int>(rng.between(0, 3)),
                      .cache = static_cast<CachePolicy>(rng.below(4)),
                      .interleaved = rng.chance(0.5)};
  attempt.code_generator = odd_integer(rng);
  attempt.start_us = odd_integer(rng);
  attempt.end_us = odd_integer(rng);
  attempt.verdict.kind = static_cast<VerdictKind>(rng.below(kVerdictKinds));
  attempt.verdict.latency_ns = odd_number(rng);
  attempt.verdict.samples_ns.clear();
  const uint64_t sort = rng.below(3);
  for (uint64_t count = rng.below(6); count > 0; --count) {
    const double number = odd_number(rng);
    attempt.verdict.samples_ns.push_back(sort == 0   ? number
                                         : sort == 1 ? -std::trunc(number)
                                                     : static_cast<float>(std::min(number, 1e38)));
  }
  attempt.verdict.text = odd_text(rng);
  attempt.conditions = {.build_ns = odd_number(rng),
                        .check_ns = odd_number(rng),
                        .time_ns = odd_number(rng),
                        .disturbed = odd_integer(rng),
                        .clock = odd_number(rng),
                        .load = odd_number(rng)};
  attempt.extra = extras[rng.below(std::size(extras))];
  return attempt;
}

// A store with the task, and the machine and run of `timed`.
inline Store store_with(const std::filesystem::path& path, const Task& task) {
  Store store = must(Store::open(path));
  must(store.put_task(task));
  must(store.put_machine(machine_named("one")));
  must(store.put_run(run_one()));
  return store;
}

}  // namespace tilewright::record::testing
