// Machine: the host that measures. Its processor, the logical processors this process may use, the
// caches and the memory. These are features of a measurement and never part of a task's key. A
// value; share freely between threads.
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
  int level = 0;           // 1, 2, 3; instruction caches are left out
  int64_t size_bytes = 0;  // of one instance
  int64_t line_bytes = 0;
  int shared_by = 1;  // logical processors per instance

  bool operator==(const Cache&) const = default;
};

struct Machine {
  std::string vendor;         // `GenuineIntel`
  std::string model;          // the brand string
  FeatureSet features;        // really usable
  std::vector<int> cpus;      // logical processors in this process's affinity mask, ascending
  int cores = 0;              // physical cores among those
  std::vector<Cache> caches;  // of the first of those, by level
  int64_t memory_bytes = 0;   // physical, to the nearest 256 MiB

  int64_t cache_bytes(int level) const;  // 0 when there is no such level

  bool operator==(const Machine&) const = default;
};

// Looks at this machine anew: the affinity mask may have changed since the last call.
Machine detect_machine();

// What Linux says about one logical processor's caches; `cpu` is a folder such as
// /sys/devices/system/cpu/cpu0. Empty when the folder says nothing.
std::vector<Cache> read_caches(const std::filesystem::path& cpu);

// `0-3,8` -> 0 1 2 3 8, the kernel's way to write sets of processors; malformed parts are dropped.
std::vector<int> parse_cpu_list(std::string_view text);

Json machine_to_json(const Machine& machine);
Result<Machine> machine_from_json(const Json& json);

}  // namespace tilewright
