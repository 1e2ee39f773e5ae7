// Runs ONNX's node tests: imports each model and computes its Graph.
//
//   onnx_conformance CASES SOURCE_DIR [--write] [--evaluate] [--only TEXT] [--mutations COUNT]
//   [--strict]
//
// Prints the number of passing tests. Fails if a test of tests/onnx/passed.txt does not pass or is
// no longer in the package, if docs/onnx.md differs from the output of --write, if the passing
// share of the supported operator set is below 95 %, or if a test crashes. --write rewrites that
// list and docs/onnx.md. --evaluate computes node by node instead of compiling, and does not check
// that page. --only runs tests whose names contain TEXT and prints why each fails. Each model is
// also imported COUNT times (by default 3) with mutations, which must give a Graph or an error.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "tests/onnx/compute.h"
#include "tests/onnx/mutate.h"
#include "tests/onnx/node_cases.h"
#include "tests/onnx/report.h"
#include "tests/onnx/run_case.h"

namespace tilewright::onnx {
namespace {

constexpr double kMinPercent = 95;

struct Arguments {
  std::filesystem::path cases;
  std::filesystem::path source;
  bool write = false;
  bool evaluate = false;
  std::string only;
  size_t mutations = 3;
  bool strict = false;
};

std::filesystem::path list_of(const Arguments& arguments) {
  return arguments.source / "tests" / "onnx" / "passed.txt";
}
std::filesystem::path page_of(const Arguments& arguments) {
  return arguments.source / "docs" / "onnx.md";
}

bool write_pages(const Arguments& arguments, const NodeCases& cases, const std::vector<Ran>& ran) {
  const Status list = write_file_atomically(list_of(arguments), passed_list(ran));
  const Status page = write_file_atomically(page_of(arguments), document(cases, ran));
  return list && page;
}

// Whether all that passed before still do; prints those that do not.
bool tell_lost(const Arguments& arguments, const NodeCases& cases, const std::vector<Ran>& ran) {
  const auto stored = read_file(list_of(arguments));
  if (!stored) {
    fmt::print(stderr, "{}\n", stored.error().message);
    return false;
  }
  const Lost lost = regressions(ran, *stored);
  for (const std::string& name : lost.failing) {
    const auto at = std::ranges::find(ran, name, [](const Ran& r) { return r.node_case->name; });
    fmt::print("{} passed before: {}\n", name, at->result.reason);
  }
  for (const std::string& name : lost.vanished) {
    fmt::print("{} passed before and is not in the package onnx {}; --write forgets it\n", name,
               cases.onnx_version);
  }
  return lost.failing.empty() && lost.vanished.empty();
}

// True if docs/onnx.md is up to date; otherwise prints the first difference.
bool tell_stale(const Arguments& arguments, const NodeCases& cases, const std::vector<Ran>& ran) {
  const auto stored = read_file(page_of(arguments));
  const std::string difference = first_difference(document(cases, ran), stored.value_or(""));
  if (difference.empty()) return true;
  fmt::print("docs/onnx.md is not what this run gives (--write writes it): {}\n", difference);
  return false;
}

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
    const bool is_printed = result.outcome == Outcome::Crashed || !arguments.only.empty() ||
                            (arguments.strict && result.outcome != Outcome::Passed);
    if (is_printed) {
      fmt::print("{}: {}\n", node_case.name,
                 result.outcome == Outcome::Passed ? "passed" : result.reason);
    }
  }
  const Share ours = share_of_our_set(ran);
  const size_t crashed = count(ran, Outcome::Crashed);
  fmt::print("{} tests: {} passed, {} failed, {} unsupported, {} crashed\n", ran.size(),
             count(ran, Outcome::Passed), count(ran, Outcome::Failed),
             count(ran, Outcome::Unsupported), crashed);
  fmt::print(
      "f32 and integer tests of our operator set: {} of {} passed ({:.1f} %; {:.0f} % are "
      "required)\n",
      ours.passed, ours.all, ours.percent(), kMinPercent);
  if (!arguments.only.empty()) return crashed == 0 ? 0 : 1;
  const std::vector<std::string> problems = import_mutations(*cases, arguments.mutations);
  for (const std::string& problem : problems) fmt::print("{}\n", problem);
  fmt::print("{} changed models: {} did not end in a graph or an error\n",
             cases->cases.size() * arguments.mutations, problems.size());
  const bool sound = crashed == 0 && problems.empty();
  if (arguments.strict) return sound && count(ran, Outcome::Passed) == ran.size() ? 0 : 1;

  if (arguments.write) return write_pages(arguments, *cases, ran) && sound ? 0 : 1;
  const bool kept = tell_lost(arguments, *cases, ran);
  const bool current = arguments.evaluate || tell_stale(arguments, *cases, ran);
  return kept && current && sound && ours.percent() >= kMinPercent ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::onnx

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.size() < 2) {
    fmt::print(stderr,
               "usage: onnx_conformance CASES SOURCE_DIR [--write] [--evaluate] [--only TEXT] "
               "[--mutations COUNT] [--strict]\n");
    return 2;
  }
  tilewright::onnx::Arguments arguments{
      .cases = words[0], .source = words[1], .write = false, .evaluate = false, .only = {}};
  for (size_t k = 2; k < words.size(); ++k) {
    if (words[k] == "--write") arguments.write = true;
    if (words[k] == "--evaluate") arguments.evaluate = true;
    if (words[k] == "--strict") arguments.strict = true;
    if (words[k] == "--only" && k + 1 < words.size()) arguments.only = words[++k];
    if (words[k] == "--mutations" && k + 1 < words.size()) {
      arguments.mutations = std::strtoul(words[++k].data(), nullptr, 10);
    }
  }
  return tilewright::onnx::run_all(arguments);
}
