#include "te/ops/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "te/ops/conv2d.h"
#include "te/ops/elementwise.h"
#include "te/ops/matmul.h"
#include "te/ops/near_names.h"
#include "te/ops/softmax.h"

namespace tilewright::te {
namespace {

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const Operator& op : all_operators()) names.emplace_back(op.name);
  return names;
}

// `a=1,b=2` -> {{a, 1}, {b, 2}}.
Result<KeyValues> parse_key_values(std::string_view op, std::string_view text) {
  KeyValues pairs;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size()) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{}: '{}' is not of the form key=value", op, item));
    }
    pairs.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    if (item.size() == text.size()) break;
    text.remove_prefix(item.size() + 1);
    if (text.empty()) {
      return fail(ErrorKind::BadInput, fmt::format("{}: the text ends with a comma", op));
    }
  }
  return pairs;
}

}  // namespace

const std::vector<Operator>& all_operators() {
  static const std::vector<Operator> table = {
      matmul_operator(),  batch_matmul_operator(),
      conv2d_operator(),  conv2d_bias_bn_relu_operator(),
      softmax_operator(), elementwise_operator(),
  };
  return table;
}

const Operator* find_operator(std::string_view name) {
  for (const Operator& op : all_operators()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

Result<OpInstance> parse_operator(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const Operator* op = find_operator(name);
  if (op == nullptr) {
    const std::vector<std::string> names = operator_names();
    return fail(ErrorKind::BadInput,
                fmt::format("there is no operator '{}'{} (operators: {})", name,
                            did_you_mean(name, names), fmt::join(names, ", ")));
  }
  const auto pairs = parse_key_values(
      name, colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1));
  if (!pairs) return std::unexpected(pairs.error());
  return instantiate(*op, *pairs);
}

std::string describe_operators() {
  std::string text;
  for (const Operator& op : all_operators()) {
    text += fmt::format("{}: {}\n", op.name, op.doc);
    for (const Parameter& parameter : op.parameters) {
      text += fmt::format("  {:<9} {}{}\n", parameter.name, parameter.doc,
                          parameter.fallback.empty() || parameter.quiet
                              ? ""
                              : fmt::format(" (default {})", parameter.fallback));
    }
  }
  return text;
}

}  // namespace tilewright::te
