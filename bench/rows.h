// Flags and JSON rows of the benchmarks in C++, as in those in Python (bench/harness/report.py). A
// row of --json is {"name", "metric", "value"}; the rows that describe the machine are last.
#pragma once

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "target/machine.h"

namespace tilewright::bench {

struct Flags {
  bool full = false;
  std::string json;  // file for the rows; empty: none
};

// Exits with status 2 and a line on stderr for anything but [--full] [--json FILE].
inline Flags parse_flags(int count, char** words) {
  Flags flags;
  for (int k = 1; k < count; ++k) {
    const std::string_view word = words[k];
    if (word == "--full") {
      flags.full = true;
    } else if (word == "--json" && k + 1 < count) {
      flags.json = words[++k];
    } else {
      fmt::print(stderr, "usage: {} [--full] [--json FILE]\n", words[0]);
      std::exit(2);
    }
  }
  return flags;
}

inline std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

class Rows {
 public:
  void add(std::string_view name, std::string_view metric, const Json& value) {
    rows_.push_back({{"name", name}, {"metric", metric}, {"value", value}});
  }

  void add_machine() {
    std::map<std::string, std::string> fields;  // of the first processor
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);) {
      const size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const size_t value = std::min(colon + 2, line.size());
      fields.emplace(line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1),
                     line.substr(value));
    }
    const Machine machine = detect_machine();
    utsname system{};
    uname(&system);
    const std::string cache = "/sys/devices/system/cpu/cpu0/cache/index";
    add("machine", "cpu", fields["model name"]);
    add("machine", "family", fields["cpu family"] + "/" + fields["model"]);
    add("machine", "cpus", machine.cpus.size());
    add("machine", "isa", machine.features.text());
    add("machine", "l2", first_line(cache + "2/size"));
    add("machine", "l3", first_line(cache + "3/size"));
    add("machine", "kernel", std::string(system.release));
  }

  // False, with a line on stderr, when the file cannot be written.
  bool write(const std::string& path) const {
    std::ofstream file(path);
    file << "[\n";
    for (size_t k = 0; k < rows_.size(); ++k) {
      file << print_json(rows_[k]) << (k + 1 < rows_.size() ? ",\n" : "\n");
    }
    file << "]\n";
    file.close();
    if (!file) fmt::print(stderr, "cannot write {}\n", path);
    return static_cast<bool>(file);
  }

 private:
  std::vector<Json> rows_;
};

// Prints a value and its bar. print_verdict: the bar is an upper limit; print_floor: a lower one.
inline void print_verdict(std::string_view what, double value, double bar, std::string_view unit) {
  fmt::print("{:<44}{:>10.2f} {:<4} bar {:>7.2f}  {}\n", what, value, unit, bar,
             value <= bar ? "reached" : "NOT REACHED");
}

inline void print_floor(std::string_view what, double value, double bar, std::string_view unit) {
  fmt::print("{:<44}{:>10.2f} {:<4} bar {:>7.2f}  {}\n", what, value, unit, bar,
             value >= bar ? "reached" : "NOT REACHED");
}

// Each benchmark defines this function: it prints a table, adds its rows and returns the exit
// status. The main function in bench/main.cc parses the flags and writes the rows.
int run(const Flags& flags, Rows& rows);

}  // namespace tilewright::bench
