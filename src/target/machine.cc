#include "target/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "target/host_features.h"

namespace tilewright {
namespace {

constexpr int64_t kMemoryStep = int64_t{1} << 28;

namespace fs = std::filesystem;

// The first line of a small file in /proc or /sys; empty if there is none.
std::string first_line(const fs::path& path) {
  const Result<std::string> text = read_file(path);
  return text ? text->substr(0, text->find('\n')) : "";
}

// `32K`, `2048K`, `32M`, `64`.
int64_t parse_size(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  const std::string_view unit(end, text.data() + text.size());
  if (unit == "K") return value << 10;
  if (unit == "M") return value << 20;
  return value;
}

// If the kernel hides the cache folders (some containers), the C library may still know the sizes.
std::vector<Cache> caches_of_sysconf() {
  struct Query {
    int level;
    int size;
    int line;
  };
  constexpr Query kQueries[] = {{1, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_LINESIZE},
                                {2, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_LINESIZE},
                                {3, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_LINESIZE}};
  std::vector<Cache> caches;
  for (const Query& query : kQueries) {
    const long size = ::sysconf(query.size);
    if (size <= 0) continue;
    caches.push_back(
        {.level = query.level, .size_bytes = size, .line_bytes = ::sysconf(query.line)});
  }
  return caches;
}

fs::path folder_of_cpu(int cpu) { return fmt::format("/sys/devices/system/cpu/cpu{}", cpu); }

// Hardware threads of one core have the same list of siblings.
int count_cores(const std::vector<int>& cpus) {
  std::set<std::string> cores;
  for (int cpu : cpus) {
    const std::string siblings = first_line(folder_of_cpu(cpu) / "topology/thread_siblings_list");
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
  }
  return static_cast<int>(cores.size());
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) {  // more processors than cpu_set_t can hold
    const long count = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
    for (int cpu = 0; cpu < count; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

int64_t Machine::cache_bytes(int level) const {
  for (const Cache& cache : caches) {
    if (cache.level == level) return cache.size_bytes;
  }
  return 0;
}

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    int first = 0;
    const char* const end = part.data() + part.size();
    const auto [dash, first_error] = std::from_chars(part.data(), end, first);
    if (first_error != std::errc()) continue;
    int last = first;
    if (dash != end) {
      const auto [rest, last_error] = std::from_chars(dash + 1, end, last);
      if (*dash != '-' || last_error != std::errc() || rest != end) continue;
    }
    if (first < 0 || last - first >= CPU_SETSIZE) continue;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<Cache> read_caches(const fs::path& cpu) {
  std::vector<Cache> caches;
  for (int index = 0;; ++index) {
    const fs::path folder = cpu / "cache" / fmt::format("index{}", index);
    const std::string type = first_line(folder / "type");
    if (type.empty()) break;
    if (type == "Instruction") continue;
    const std::vector<int> sharers = parse_cpu_list(first_line(folder / "shared_cpu_list"));
    caches.push_back({.level = static_cast<int>(parse_size(first_line(folder / "level"))),
                      .size_bytes = parse_size(first_line(folder / "size")),
                      .line_bytes = parse_size(first_line(folder / "coherency_line_size")),
                      .shared_by = std::max(1, static_cast<int>(sharers.size()))});
  }
  std::ranges::sort(caches, {}, &Cache::level);
  return caches;
}

Machine detect_machine() {
  Machine machine;
  machine.vendor = cpu_vendor();
  machine.model = cpu_model();
  machine.features = host_features();
  machine.cpus = allowed_cpus();
  machine.cores = count_cores(machine.cpus);
  machine.caches = read_caches(folder_of_cpu(machine.cpus.front()));
  if (machine.caches.empty()) machine.caches = caches_of_sysconf();
  // The memory reserved by the kernel differs from boot to boot; the machine is the same.
  const int64_t memory = ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE);
  machine.memory_bytes =
      std::max(kMemoryStep, (memory + kMemoryStep / 2) / kMemoryStep * kMemoryStep);
  return machine;
}

Json machine_to_json(const Machine& machine) {
  Json caches = Json::array();
  for (const Cache& cache : machine.caches) {
    caches.push_back({{"level", cache.level},
                      {"size_bytes", cache.size_bytes},
                      {"line_bytes", cache.line_bytes},
                      {"shared_by", cache.shared_by}});
  }
  return {{"vendor", machine.vendor},
          {"model", machine.model},
          {"features", machine.features.text()},
          {"cpus", machine.cpus},
          {"cores", machine.cores},
          {"caches", std::move(caches)},
          {"memory_bytes", machine.memory_bytes}};
}

Result<Machine> machine_from_json(const Json& json) {
  Machine machine;
  try {
    json.at("vendor").get_to(machine.vendor);
    json.at("model").get_to(machine.model);
    json.at("cpus").get_to(machine.cpus);
    json.at("cores").get_to(machine.cores);
    json.at("memory_bytes").get_to(machine.memory_bytes);
    for (const Json& cache : json.at("caches")) {
      machine.caches.push_back({.level = cache.at("level").get<int>(),
                                .size_bytes = cache.at("size_bytes").get<int64_t>(),
                                .line_bytes = cache.at("line_bytes").get<int64_t>(),
                                .shared_by = cache.at("shared_by").get<int>()});
    }
    machine.features = TRY(parse_features(json.at("features").get<std::string>()));
  } catch (const Json::exception& error) {
    return fail(ErrorKind::BadInput, fmt::format("machine: {}", error.what()));
  }
  return machine;
}

}  // namespace tilewright
