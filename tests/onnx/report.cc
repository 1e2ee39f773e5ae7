#include "tests/onnx/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

constexpr std::string_view kHead = R"(# ONNX

After reading this page you can tell whether a model is supported, and why not.

```
tilewright tasks model.onnx        # imports the model; names every node that is not supported
```

Models of operator sets 7 to 22 are supported. Models of operator sets up to 28 are supported if all their
operators have a row below. If nodes are not supported, one message names all of them. An unknown attribute makes
its node unsupported.

- Element types: f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32 and bool; four-bit integers as constants of
  `DequantizeLinear`.
- Not supported: u64, eight-bit floats, strings, inputs and outputs that are not tensors, and outputs
  without elements.
- Operands that determine the shape of the program must be constants at compile time: shapes, axes, pads, repeats,
  starts and ends, sizes and scales of `Resize`, depth of `OneHot`, and all operands of `Range`, `NonZero` and
  `ConstantOfShape`. Values that follow from constants and from the shapes of inputs are computed during the import.
- `If` is supported if its condition is such a constant. Functions of the model are inlined.

The node tests (`ctest -R onnx_conformance`) generate this page: `onnx_conformance CASES SOURCE_DIR --write`.

## Operators

The versions are those in which the operator was introduced or changed, up to the newest supported one.

| operator | versions |
|---|---|
)";

std::string escaped(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

std::string operator_row(const NodeCases& cases, std::string_view domain, std::string_view op) {
  const auto versions = cases.operators.find(std::string(op));
  const bool known = domain.empty() && versions != cases.operators.end();
  return fmt::format("| {}{}{} | {} |\n", domain, domain.empty() ? "" : ".", op,
                     known ? fmt::format("{}", fmt::join(versions->second, ", ")) : "");
}

std::string operator_rows(const NodeCases& cases) {
  std::string text;
  for (const ConverterRow& row : all_converters()) text += operator_row(cases, row.domain, row.op);
  return text + operator_row(cases, "", "If");
}

// `1 node of the model is not supported: 'y' (Op): reason` -> `Op: reason`
std::string plain_reason(const std::string& reason) {
  constexpr std::string_view kOne = "1 node of the model is not supported:\n  ";
  if (!reason.starts_with(kOne)) return reason;
  const size_t bracket = reason.find("' (");
  if (bracket == std::string::npos) return reason;
  std::string rest = reason.substr(bracket + 3);
  const size_t close = rest.find(')');
  if (close != std::string::npos) rest.erase(close, 1);
  return rest;
}

std::string failure_rows(const std::vector<Ran>& ran, bool ours) {
  std::string text = "| test | reason |\n|---|---|\n";
  for (const Ran& one : ran) {
    if (one.result.outcome == Outcome::Passed || is_of_our_set(*one.node_case) != ours) continue;
    text +=
        fmt::format("| {} | {} |\n", one.node_case->name, escaped(plain_reason(one.result.reason)));
  }
  return text;
}

bool is_our_type(std::string_view type) {
  constexpr std::string_view kTypes[] = {"float", "bool",  "int8",   "int16",  "int32",
                                         "int64", "uint8", "uint16", "uint32", "uint64"};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

}  // namespace

bool is_of_our_set(const NodeCase& node_case) {
  return std::ranges::all_of(node_case.types, is_our_type) &&
         std::ranges::all_of(node_case.operators, [](const std::string& op) {
           return op == "If" || find_converter("", op) != nullptr;
         });
}

Share share_of_our_set(const std::vector<Ran>& ran) {
  Share share;
  for (const Ran& one : ran) {
    if (!is_of_our_set(*one.node_case)) continue;
    ++share.all;
    if (one.result.outcome == Outcome::Passed) ++share.passed;
  }
  return share;
}

size_t count(const std::vector<Ran>& ran, Outcome outcome) {
  return static_cast<size_t>(
      std::ranges::count_if(ran, [&](const Ran& one) { return one.result.outcome == outcome; }));
}

std::string passed_list(const std::vector<Ran>& ran) {
  std::string text = "# size: names of tests, written by onnx_conformance --write\n";
  for (const Ran& one : ran) {
    if (one.result.outcome == Outcome::Passed) text += one.node_case->name + "\n";
  }
  return text;
}

Lost regressions(const std::vector<Ran>& ran, const std::string& stored) {
  std::map<std::string, bool> passed;
  for (const Ran& one : ran) {
    passed[one.node_case->name] = one.result.outcome == Outcome::Passed;
  }
  Lost lost;
  std::istringstream lines(stored);
  for (std::string name; std::getline(lines, name);) {
    if (name.empty() || name.starts_with('#')) continue;
    const auto now = passed.find(name);
    if (now == passed.end()) lost.vanished.push_back(name);
    if (now != passed.end() && !now->second) lost.failing.push_back(name);
  }
  return lost;
}

std::string first_difference(const std::string& text, const std::string& stored) {
  std::istringstream now(text), then(stored);
  for (int number = 1;; ++number) {
    std::string line, old;
    const bool more = static_cast<bool>(std::getline(now, line));
    const bool had = static_cast<bool>(std::getline(then, old));
    if (!more && !had) return text == stored ? "" : fmt::format("line {}: its end", number);
    if (more != had || line != old) {
      return fmt::format("line {}: \"{}\" instead of \"{}\"", number, line, old);
    }
  }
}

std::string document(const NodeCases& cases, const std::vector<Ran>& ran) {
  const Share ours = share_of_our_set(ran);
  const auto fixed = std::ranges::count_if(ran, [](const Ran& one) {
    return one.result.outcome == Outcome::Passed && one.result.fixed_operands;
  });
  std::string text(kHead);
  text += operator_rows(cases);
  text += fmt::format(
      "\n## Node tests\n\n"
      "Of the {} node tests of the package onnx {}, {} pass, {} are not supported and {} fail. Of "
      "the {} tests that\nuse only operators of the table above and elements of f32, integers or "
      "bool, {} pass ({:.1f} %). {} of the passing\ntests have an input that must be a constant; "
      "they get it as a constant.\n",
      ran.size(), cases.onnx_version, count(ran, Outcome::Passed), count(ran, Outcome::Unsupported),
      count(ran, Outcome::Failed) + count(ran, Outcome::Crashed), ours.all, ours.passed,
      ours.percent(), fixed);
  text += "\n### Tests of these operators and types that do not pass\n\n" + failure_rows(ran, true);
  text += "\n### Other tests that do not pass\n\n" + failure_rows(ran, false);
  return text;
}

}  // namespace tilewright::onnx
