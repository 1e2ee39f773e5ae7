// Text form of sketches: the text of a trace in which braces hold the choices of a step.
//
//   split C i {[4] | [6]}               two choices of factors
//   {annotate C i.1 unroll | }          on or off
//
// At most one pair of braces per line. A parse error ends the program.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/must_testing.h"
#include "schedule/sketch.h"

namespace tilewright::bench {

// `a {b | c} d` -> `a b d`, `a c d`; a blank choice gives an empty line.
inline std::vector<std::string> choices_of(const std::string& line) {
  const size_t open = line.find('{');
  const size_t close = line.find('}');
  if (open == std::string::npos || close == std::string::npos) return {line};
  std::vector<std::string> choices;
  std::istringstream inside(line.substr(open + 1, close - open - 1));
  for (std::string choice; std::getline(inside, choice, '|');) {
    choices.push_back(line.substr(0, open) + choice + line.substr(close + 1));
  }
  return choices;
}

inline schedule::Sketch sketch_from_text(std::string_view text) {
  schedule::Sketch sketch;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') == std::string::npos) continue;
    schedule::StepDomain domain;
    schedule::Step any;
    for (const std::string& choice : choices_of(line)) {
      const schedule::Trace one = must(schedule::trace_from_text(choice));
      domain.choices.emplace_back();
      if (!one.steps.empty()) any = domain.choices.back().emplace(one.steps[0]);
    }
    if (domain.choices.size() > 1) {
      const schedule::StageName stage = std::visit([](const auto& s) { return s.stage; }, any);
      sketch.holes.push_back({.step = static_cast<int16_t>(sketch.trace.steps.size()),
                              .stage = stage,
                              .domain = std::move(domain)});
    }
    sketch.trace.steps.push_back(any);
  }
  return sketch;
}

}  // namespace tilewright::bench
