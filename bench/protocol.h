#pragma once
// The worker's side of the line protocol of the benchmarks (bench/harness/__init__.py defines it):
//
//   prepare {json}  ->  ready {json}                                           or  error {json}
//   slice SECONDS   ->  times {"count":n,"min_ns":a,"p10_ns":b,"p50_ns":c}     or  error {json}
//   quit
//
// `serve` runs it on stdin and stdout in the calling thread until `quit` or the end of input. It
// owns stdout: nothing else may write there. It passes JSON as text, so each worker may use any
// JSON library. An exception from `prepare` or from the call becomes an `error` line, and the
// worker continues.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace tilewright::bench {

// The result of `prepare`: the JSON object of the `ready` line, and a function that makes one timed
// call.
struct Prepared {
  std::string ready_json = "{}";
  std::function<void()> call;
};

// Durations of the calls of one slice, ascending, never empty.
using Durations = std::vector<std::int64_t>;

// Makes one untimed call as a warm-up, then timed calls, at least one, for about `seconds`.
inline Durations run_slice(const std::function<void()>& call, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto nanoseconds = [](Clock::duration duration) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  };
  call();
  Durations durations_ns;
  const auto budget = std::chrono::duration<double>(seconds);
  const Clock::time_point begin = Clock::now();
  Clock::time_point before = begin;
  do {
    call();
    const Clock::time_point after = Clock::now();
    durations_ns.push_back(nanoseconds(after - before));
    before = after;
  } while (before - begin < budget);
  std::sort(durations_ns.begin(), durations_ns.end());
  return durations_ns;
}

// {"count":3,"min_ns":10,"p10_ns":10,"p50_ns":11}; a quantile is the element at floor(q * (n - 1)).
inline std::string times_json(const Durations& durations_ns) {
  const std::size_t last = durations_ns.size() - 1;
  return "{\"count\":" + std::to_string(durations_ns.size()) +
         ",\"min_ns\":" + std::to_string(durations_ns.front()) +
         ",\"p10_ns\":" + std::to_string(durations_ns[last / 10]) +
         ",\"p50_ns\":" + std::to_string(durations_ns[last / 2]) + "}";
}

inline std::string error_json(const std::string& message) {
  std::string out = "{\"message\":\"";
  for (const char c : message) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out + "\"}";
}

// The loop. `prepare` receives the JSON text of its line; a second `prepare` replaces the first.
inline void serve(const std::function<Prepared(const std::string&)>& prepare) {
  Prepared prepared;
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (word == "quit") return;
    try {
      if (word == "prepare") {
        prepared = Prepared{};
        prepared = prepare(rest);
        std::cout << "ready " << prepared.ready_json << "\n" << std::flush;
      } else if (word == "slice" && prepared.call) {
        std::cout << "times " << times_json(run_slice(prepared.call, std::stod(rest))) << "\n"
                  << std::flush;
      } else {
        std::cout << "error " << error_json("not understood or not prepared: " + word) << "\n"
                  << std::flush;
      }
    } catch (const std::exception& e) {
      std::cout << "error " << error_json(e.what()) << "\n" << std::flush;
    }
  }
}

}  // namespace tilewright::bench
