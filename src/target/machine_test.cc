#include "target/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "base/temporary_folder.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

TEST(Machine, DetectsAPlausibleHost) {
  const Machine machine = detect_machine();
  EXPECT_FALSE(machine.cpus.empty());
  EXPECT_GE(machine.cores, 1);
  EXPECT_LE(machine.cores, static_cast<int>(machine.cpus.size()));
  EXPECT_GT(machine.memory_bytes, 0);
  EXPECT_EQ(machine.memory_bytes % (int64_t{1} << 28), 0);
  for (const Cache& cache : machine.caches) {
    EXPECT_GE(cache.level, 1);
    EXPECT_GE(cache.size_bytes, 4096);
  }
  EXPECT_EQ(machine, detect_machine());
}

TEST(Machine, RoundTripsThroughJson) {
  const Machine machine = {.vendor = "GenuineIntel",
                           .model = "A \"quoted\" model",
                           .features = FeatureSet().with(Feature::Avx512bw),
                           .cpus = {0, 2, 5},
                           .cores = 2,
                           .caches = {{.level = 1, .size_bytes = 49152, .line_bytes = 64},
                                      {.level = 3, .size_bytes = 1 << 25, .shared_by = 8}},
                           .memory_bytes = int64_t{1} << 35};
  const Result<Json> json = parse_json(print_json(machine_to_json(machine)));
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(machine_from_json(*json), machine);
  EXPECT_EQ(machine.cache_bytes(1), 49152);
  EXPECT_EQ(machine.cache_bytes(2), 0);
}

TEST(Machine, BadJsonIsAnError) {
  EXPECT_FALSE(machine_from_json(Json::array()).has_value());
  EXPECT_FALSE(machine_from_json(Json{{"vendor", 3}}).has_value());
  Json json = machine_to_json(Machine{});
  json["features"] = "avx9";
  EXPECT_FALSE(machine_from_json(json).has_value());
}

TEST(Machine, ParsesCpuListsOfTheKernel) {
  EXPECT_EQ(parse_cpu_list("0-3,8"), (std::vector{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("5"), (std::vector{5}));
  EXPECT_TRUE(parse_cpu_list("").empty());
  EXPECT_EQ(parse_cpu_list("x,7,2-y,1-999999999"), (std::vector{7}));
}

TEST(Machine, ParsesCacheSizesOfTheKernel) {
  const TemporaryFolder scratch = make_scratch_folder("tilewright-machine-").value();
  const fs::path cpu = scratch / "cpu0";
  const auto write = [&cpu](int index, const char* file, const char* text) {
    const fs::path folder = cpu / "cache" / ("index" + std::to_string(index));
    fs::create_directories(folder);
    std::ofstream(folder / file) << text << "\n";
  };
  struct Index {
    const char* level;
    const char* type;
    const char* size;
    const char* sharers;
  };
  const Index indices[] = {{"1", "Data", "48K", "0,32"},
                           {"1", "Instruction", "32K", "0,32"},
                           {"2", "Unified", "2048K", "0,32"},
                           {"3", "Unified", "36M", "0-63"}};
  for (int k = 0; k < 4; ++k) {
    write(k, "level", indices[k].level);
    write(k, "type", indices[k].type);
    write(k, "size", indices[k].size);
    write(k, "shared_cpu_list", indices[k].sharers);
    write(k, "coherency_line_size", "64");
  }
  const std::vector<Cache> expected = {
      {.level = 1, .size_bytes = 48 << 10, .line_bytes = 64, .shared_by = 2},
      {.level = 2, .size_bytes = 2 << 20, .line_bytes = 64, .shared_by = 2},
      {.level = 3, .size_bytes = 36 << 20, .line_bytes = 64, .shared_by = 64}};
  EXPECT_EQ(read_caches(cpu), expected);
  fs::remove_all(cpu);
  EXPECT_TRUE(read_caches(cpu).empty());
}

}  // namespace
}  // namespace tilewright
