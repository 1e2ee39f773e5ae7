// docs/features.md is made from feature_table. TILEWRIGHT_GOLDEN=update writes it anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "feature/rows.h"

namespace tilewright::feature {
namespace {

constexpr std::string_view kHead = R"(# Features

What a cost model sees of a program: one row of {} numbers for each innermost statement, made from
the LoopTree alone by `src/feature/rows.h`. A reduction has two statements: where sums begin (init)
and where they are added to (update). Rows are in the order of the program; of a program with more
than eight statements the eight with most instructions have rows.

All numbers x are given as sign(x) * log2(|x| + 1). Version {}. This file is made from the table in
`src/feature/rows_table.cc`; the test program `tilewright_feature_test` rewrites it with
`TILEWRIGHT_GOLDEN=update`.

- Loops of one iteration do not count. Of a split that does not divide, a loop counts with the mean
  of its iterations, so that products are exact.
- Elements touched are those of the bounding box of the indices with its stride, exact where regions
  are.
- Arithmetic is that of the expressions, inlined ones included, without indices; in a branch that is
  taken where an index lies inside its tensor, for that share of the iterations.
- Buffers of a statement are in the order of lines accessed, then bytes; five of them are kept.
- Traffic is what the statement would move alone, as in `src/feature/traffic.h`.

| number | name | what it is |
|---|---|---|
)";

std::string made_text() {
  std::string text = fmt::format(fmt::runtime(kHead), feature_count(), kFeatureVersion);
  size_t number = 0;
  for (const FeatureInfo& info : feature_table()) {
    std::string what(info.what);
    for (size_t at = what.find('|'); at != std::string::npos; at = what.find('|', at + 2)) {
      what.insert(at, "\\");
    }
    text += fmt::format("| {} | `{}` | {} |\n", number++, info.name, what);
  }
  return text;
}

TEST(RowsDocTest, DocumentIsTheTable) {
  const auto path = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "docs" / "features.md";
  const char* update = std::getenv("TILEWRIGHT_GOLDEN");  // NOLINT(concurrency-mt-unsafe)
  if (update != nullptr && std::string_view(update) == "update") {
    ASSERT_TRUE(write_file_atomically(path, made_text()).has_value());
  }
  const Result<std::string> text = read_file(path);
  ASSERT_TRUE(text.has_value());
  EXPECT_TRUE(*text == made_text())
      << "docs/features.md is not feature_table(): raise kFeatureVersion if a number means "
         "something else, then run TILEWRIGHT_GOLDEN=update "
         "build/release/src/feature/tilewright_feature_test";
}

}  // namespace
}  // namespace tilewright::feature
