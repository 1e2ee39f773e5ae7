#include "feature/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/check.h"
#include "schedule/testing.h"

namespace tilewright::feature {
namespace {

using schedule::testing::Workbench;

Machine some_machine() {
  Machine machine;
  machine.cores = 2;
  machine.caches = {{.level = 1, .size_bytes = 32 << 10, .line_bytes = 64, .shared_by = 1},
                    {.level = 2, .size_bytes = 1 << 20, .line_bytes = 64, .shared_by = 1},
                    {.level = 3, .size_bytes = 8 << 20, .line_bytes = 64, .shared_by = 2}};
  return machine;
}

size_t column_named(std::string_view name) {
  const std::span<const FeatureInfo> table = feature_table();
  for (size_t k = 0; k < table.size(); ++k) {
    if (table[k].name == name) return k;
  }
  CHECK(false, "there is no feature {}", name);
}

// The rows of one program, as numbers before they were made logarithmic.
class Rows {
 public:
  Rows(std::string_view workload, std::string_view steps, int vector_bits = 512, int threads = 2)
      : bench_(workload) {
    Target target = parse_target("x86-64-v4").value();
    target.vector_bits = vector_bits;
    target.threads = threads;
    RowMaker maker({bench_.workload(), target}, some_machine());
    maker.append(bench_.tree(steps), &batch_);
  }

  size_t size() const { return batch_.begin[1]; }
  double at(size_t row, std::string_view name) const {
    const double value = batch_.values[row * feature_count() + column_named(name)];
    return std::copysign(std::exp2(std::abs(value)) - 1, value);
  }

 private:
  Workbench bench_;
  RowBatch batch_;
};

TEST(RowsTest, NamesAreUniqueAndSaySomething) {
  std::set<std::string_view> names;
  for (const FeatureInfo& info : feature_table()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_GT(info.what.size(), 10u) << info.name;
  }
  EXPECT_EQ(names.size(), feature_count());
}

}  // namespace
}  // namespace tilewright::feature
