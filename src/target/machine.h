// Machine: the host that measures: its processor, the logical processors that this process may use,
// its caches and its memory. It describes a measurement and is never part of a task's key. A value;
// safe to share between threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "target/feature.h"

namespace tilewright {

struct Cache {
  int level = 0;           // 1, 2, 3; instruction caches are excluded
  int64_t size_bytes = 0;  // per instance
  int64_t line_bytes = 0;
  int shared_by = 1;  // logical processors per instance

  bool operator==(const Cache&) const = default;
};

struct Machine {
  std::string vendor;         // `GenuineIntel`
  std::string model;          // brand string
  FeatureSet features;        // usable, not merely present
  std::vector<int> cpus;      // logical processors in this process's affinity mask, ascending
  int cores = 0;              // physical cores of those
  std::vector<Cache> caches;  // of the first of those CPUs, by level
  int64_t memory_bytes = 0;   // physical, rounded to 256 MiB

  int64_t cache_bytes(int level) const;  // 0 if there is no such level

  bool operator==(const Machine&) const = default;
};

// The logical CPUs that the calling thread may run on, ascending; never empty.
std::vector<int> allowed_cpus();

// Queries this machine. The affinity mask may have changed since the last call.
Machine detect_machine();

// The caches of one logical processor, from a folder such as /sys/devices/system/cpu/cpu0. Empty if
// the folder has no information.
std::vector<Cache> read_caches(const std::filesystem::path& cpu);

// Parses the kernel's format of CPU sets: `0-3,8` -> 0 1 2 3 8. Malformed parts are dropped.
std::vector<int> parse_cpu_list(std::string_view text);

Json machine_to_json(const Machine& machine);
Result<Machine> machine_from_json(const Json& json);

}  // namespace tilewright
