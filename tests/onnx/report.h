// The results of the node tests: counts, the list of passing tests, and docs/onnx.md.
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

// Tests of f32 and integers that use only operators of the table.
bool is_of_our_set(const NodeCase& node_case);
Share share_of_our_set(const std::vector<Ran>& ran);
size_t count(const std::vector<Ran>& ran, Outcome outcome);

std::string passed_list(const std::vector<Ran>& ran);  // names, one per line, under a comment
// Names of the stored list that were run and no longer pass, and names that were not run because
// the package no longer has them.
struct Lost {
  std::vector<std::string> failing;
  std::vector<std::string> vanished;
};
Lost regressions(const std::vector<Ran>& ran, const std::string& stored);
// The first difference of two texts: `line 7: "new" instead of "old"`; empty if they are equal.
std::string first_difference(const std::string& text, const std::string& stored);

std::string document(const NodeCases& cases, const std::vector<Ran>& ran);

}  // namespace tilewright::onnx
