// docs/features.md is generated from feature_table. TILEWRIGHT_GOLDEN=update rewrites it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "feature/rows.h"
#include "feature/rows_table.h"

namespace tilewright::feature {
namespace {

constexpr std::string_view kHead = R"(# Features

After reading this page you know the features that a cost model reads, and can look up any column.

```
tilewright model show FILE     # a stored cost model: the features it uses, most important first
```

A program has one row of {} numbers for each innermost statement, computed from the LoopTree alone by
`src/feature/rows.h`. A reduction has two statements: its initialization (init) and its update. The rows
are in program order. A program with more than eight statements has rows for the eight with the most
instructions.

Every number x is stored as sign(x) * log2(|x| + 1). The version of the features is {}. This page is
generated from the table in `src/feature/rows_table.cc`: run the test program `tilewright_feature_test`
with `TILEWRIGHT_GOLDEN=update` to rewrite it.

- Loops of one iteration do not count. If a split does not divide, each of its loops counts with the mean
  of its iterations, so that products are exact.
- Touched elements are those of the strided bounding box of the indices. They are exact where regions are.
- Arithmetic is that of the expressions, including inlined ones, without index arithmetic. A branch that
  is taken only where an index lies inside its tensor counts for that share of the iterations.
- The buffers of a statement are ordered by accessed cache lines, then by bytes. The first five are kept.
- If several loops around a statement are vectorized or unrolled, the position (`vectorize_inner_spatial`, ...)
  is that of the innermost of them; of parallel loops, that of the outermost.
- In an update that is tensorized, the lanes of the intrinsic count as a vectorized loop, its rows and
  factors as unrolled ones. One instruction takes all factors of a lane.
- Traffic is that of the statement alone, as in `src/feature/traffic.h`.

| number | name | meaning |
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

TEST(RowsDocTest, DocumentMatchesTheTable) {
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
