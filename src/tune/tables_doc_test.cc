// docs/search.md is generated from the tables. TILEWRIGHT_GOLDEN=update rewrites it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "tune/models.h"

namespace tilewright::tune {
namespace {

constexpr std::string_view kHead = R"(# Explorers, cost models and encodings

After reading this page you can choose the explorer and the cost model of `tilewright tune`, and set their
options.

```
tilewright tune C2D2 --search evolution:population=512,generations=8 --cost xgboost:depth=4
```

The form is `--search NAME[:OPTION=VALUE,...]` and `--cost NAME[:OPTION=VALUE,...]`. An omitted option has its
default value. This page is generated from the tables in `src/search/explorers.cc`, `src/cost/models.cc` and
`src/feature/encodings.cc`: run the test program `tilewright_tune_test` with `TILEWRIGHT_GOLDEN=update` to rewrite it.
)";

std::string made_text() {
  const SearchTables tables;
  return std::string(kHead) + "\n## Explorers\n\n" + table_markdown(tables.explorers.entries()) +
         "\n## Cost models\n\n" + table_markdown(tables.models.entries()) +
         "\n## Encodings\n\nAn encoding is the input of a cost model. `xgboost:encoding=NAME` "
         "selects one. Its own\noptions are separated by slashes: "
         "`xgboost:depth=4,encoding=NAME:OPTION=VALUE/OPTION=VALUE`.\n\n" +
         table_markdown(tables.encodings.entries());
}

TEST(TablesDoc, DocumentMatchesTheTables) {
  const auto path = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "docs" / "search.md";
  const char* update = std::getenv("TILEWRIGHT_GOLDEN");  // NOLINT(concurrency-mt-unsafe)
  if (update != nullptr && std::string_view(update) == "update") {
    ASSERT_TRUE(write_file_atomically(path, made_text()).has_value());
  }
  const Result<std::string> text = read_file(path);
  ASSERT_TRUE(text.has_value());
  EXPECT_TRUE(*text == made_text())
      << "docs/search.md is out of date: run TILEWRIGHT_GOLDEN=update "
         "build/release/src/tune/tilewright_tune_test";
}

}  // namespace
}  // namespace tilewright::tune
