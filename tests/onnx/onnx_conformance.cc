// Runs ONNX's node tests through the importer and what computes its Graphs.
//
//   onnx_conformance CASES SOURCE_DIR [--write] [--evaluate] [--only TEXT]
//
// Prints how many pass and fails when one of tests/onnx/passed.txt does not, when the share of our
// operator set is below 85 %, or when anything crashes. --write writes that list and docs/onnx.md
// anew. --evaluate computes node by node instead of compiling. --only runs tests whose names have
// TEXT in them and says why each fails.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "tests/onnx/compute.h"
#include "tests/onnx/node_cases.h"
#include "tests/onnx/report.h"
#include "tests/onnx/run_case.h"

namespace tilewright::onnx {
namespace {

constexpr double kLeastPercent = 85;

struct Arguments {
  std::filesystem::path cases;
  std::filesystem::path source;
  bool write = false;
  bool evaluate = false;
  std::string only;
};

int run_all(const Arguments& arguments) {
  const auto cases = read_node_cases(arguments.cases);
  if (!cases) {
    fmt::print(stderr, "{}\n", cases.error().message);
    return 1;
  }
  const Compute compute = arguments.evaluate ? Compute(compute_by_evaluation) : compiled_compute();
  std::vector<Ran> ran;
  for (const NodeCase& node_case : cases->cases) {
    if (!node_case.name.contains(arguments.only)) continue;
    ran.push_back({.node_case = &node_case, .result = run_case(node_case, compute)});
    const CaseResult& result = ran.back().result;
    const bool told = result.outcome == Outcome::Crashed || !arguments.only.empty();
    if (told) {
      fmt::print("{}: {}\n", node_case.name,
                 result.outcome == Outcome::Passed ? "passed" : result.reason);
    }
  }
  const Share ours = share_of_our_set(ran);
  const size_t crashed = count(ran, Outcome::Crashed);
  fmt::print("{} tests: {} passed, {} failed, {} unsupported, {} crashed\n", ran.size(),
             count(ran, Outcome::Passed), count(ran, Outcome::Failed),
             count(ran, Outcome::Unsupported), crashed);
  fmt::print("f32 and integer tests of our operator set: {} of {} passed ({:.1f} %)\n", ours.passed,
             ours.all, ours.percent());
  if (!arguments.only.empty()) return crashed == 0 ? 0 : 1;

  const auto list = arguments.source / "tests" / "onnx" / "passed.txt";
  if (arguments.write) {
    const Status wrote = write_file_atomically(list, passed_list(ran));
    const Status told =
        write_file_atomically(arguments.source / "docs" / "onnx.md", document(*cases, ran));
    return wrote && told && crashed == 0 ? 0 : 1;
  }
  const auto stored = read_file(list);
  if (!stored) {
    fmt::print(stderr, "{}\n", stored.error().message);
    return 1;
  }
  const std::vector<std::string> lost = regressions(ran, *stored);
  for (const std::string& name : lost) {
    const auto at = std::ranges::find(ran, name, [](const Ran& r) { return r.node_case->name; });
    fmt::print("{} passed before: {}\n", name, at->result.reason);
  }
  return lost.empty() && crashed == 0 && ours.percent() >= kLeastPercent ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::onnx

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.size() < 2) {
    fmt::print(stderr,
               "usage: onnx_conformance CASES SOURCE_DIR [--write] [--evaluate] [--only TEXT]\n");
    return 2;
  }
  tilewright::onnx::Arguments arguments{
      .cases = words[0], .source = words[1], .write = false, .evaluate = false, .only = {}};
  for (size_t k = 2; k < words.size(); ++k) {
    if (words[k] == "--write") arguments.write = true;
    if (words[k] == "--evaluate") arguments.evaluate = true;
    if (words[k] == "--only" && k + 1 < words.size()) arguments.only = words[++k];
  }
  return tilewright::onnx::run_all(arguments);
}
