// What the node tests have shown: counts, the list of those that pass, and docs/onnx.md.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/onnx/node_cases.h"
#include "tests/onnx/run_case.h"

namespace tilewright::onnx {

struct Ran {
  const NodeCase* node_case = nullptr;
  CaseResult result;
};

struct Share {
  size_t passed = 0;
  size_t all = 0;
  double percent() const {
    return all == 0 ? 0 : 100.0 * static_cast<double>(passed) / static_cast<double>(all);
  }
};

// Tests of f32 and integers that use nothing but operators of our table.
bool is_of_our_set(const NodeCase& node_case);
Share share_of_our_set(const std::vector<Ran>& ran);
size_t count(const std::vector<Ran>& ran, Outcome outcome);

std::string passed_list(const std::vector<Ran>& ran);  // names, one per line, under a comment
// Names of the stored list that were run and do not pass any more, and those that were not run: the
// package does not have them any more.
struct Lost {
  std::vector<std::string> failing;
  std::vector<std::string> vanished;
};
Lost regressions(const std::vector<Ran>& ran, const std::string& stored);
// Where two texts differ first: `line 7: "new" instead of "old"`; empty where they do not.
std::string first_difference(const std::string& text, const std::string& stored);

std::string document(const NodeCases& cases, const std::vector<Ran>& ran);

}  // namespace tilewright::onnx
