// The order of CPUs on machines of several kinds, each as a folder of topology files.
#include "runtime/abi/cpu_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "runtime/host/affinity.h"
#include "target/machine.h"

namespace tilewright::runtime {
namespace {

using Siblings = std::map<int, std::string>;  // the list of each CPU

struct Order {
  std::vector<int> cpus;
  int cores = 0;
};

Order order(const Siblings& siblings, std::vector<int> cpus) {
  const TemporaryFolder folder = make_scratch_folder("cpus").value();
  for (const auto& [cpu, list] : siblings) {
    const std::filesystem::path topology = folder / ("cpu" + std::to_string(cpu) + "/topology");
    std::filesystem::create_directories(topology);
    std::ofstream(topology / "thread_siblings_list") << list;
  }
  const int32_t cores =
      tilewright_order_cpus(folder.path().c_str(), cpus.data(), static_cast<int32_t>(cpus.size()));
  return {.cpus = cpus, .cores = cores};
}

TEST(CpuOrder, OneCpuPerCoreFirst) {
  struct Case {
    const char* what;
    Siblings siblings;
    std::vector<int> cpus, ordered;
    int cores;
  };
  const Siblings adjacent = {{0, "0-1\n"}, {1, "0-1\n"}, {2, "2-3\n"}, {3, "2-3\n"}};
  const Siblings apart = {{0, "0,2\n"}, {1, "1,3\n"}, {2, "0,2\n"}, {3, "1,3\n"}};
  const Siblings four = {{0, "0-3\n"}, {1, "0-3\n"}, {2, "0-3\n"}, {3, "0-3\n"}, {4, "4\n"}};
  const Case cases[] = {
      {"adjacent hardware threads", adjacent, {0, 1, 2, 3}, {0, 2, 1, 3}, 2},
      {"hardware threads with distant numbers", apart, {0, 1, 2, 3}, {0, 1, 2, 3}, 2},
      {"the first hardware thread is not allowed", adjacent, {1, 2, 3}, {1, 2, 3}, 2},
      {"four hardware threads, and a core with one", four, {0, 1, 2, 3, 4}, {0, 4, 1, 2, 3}, 2},
      {"no folder", {}, {0, 1, 5}, {0, 1, 5}, 3},
      {"a CPU without a file", {{0, "0,2\n"}, {2, "0,2\n"}}, {0, 1, 2}, {0, 1, 2}, 2},
      {"files without a list", {{0, ""}, {1, "\n"}, {2, "?"}}, {0, 1, 2}, {0, 1, 2}, 3},
      {"numbers of several digits",
       {{8, "8,72\n"}, {9, "9,73\n"}, {72, "8,72\n"}, {73, "9,73\n"}},
       {8, 72, 73},
       {8, 73, 72},
       2},
  };
  for (const Case& one : cases) {
    const Order found = order(one.siblings, one.cpus);
    EXPECT_EQ(found.cpus, one.ordered) << one.what;
    EXPECT_EQ(found.cores, one.cores) << one.what;
  }
}

// A machine with as many cores as threads is never excluded, with up to 8 hardware threads each.
TEST(CpuOrder, FewerThreadsThanAnEighthOfTheCpusAreNotAllCores) {
  for (int cores = 1; cores <= 512; ++cores) {
    for (int per_core = 1; per_core <= 8; ++per_core) {
      EXPECT_TRUE(tilewright_may_be_all_cores(cores, cores * per_core)) << cores << " " << per_core;
    }
  }
  EXPECT_FALSE(tilewright_may_be_all_cores(2, 256));
  EXPECT_FALSE(tilewright_may_be_all_cores(31, 256));
  EXPECT_TRUE(tilewright_may_be_all_cores(32, 256));
}

TEST(CpuOrder, OfThisMachineIsAPermutation) {
  std::vector<int> cpus = cpus_by_core();
  EXPECT_EQ(cpus.front(), allowed_cpus().front());
  std::ranges::sort(cpus);
  EXPECT_EQ(cpus, allowed_cpus());
}

}  // namespace
}  // namespace tilewright::runtime
