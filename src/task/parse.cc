#include "task/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/json.h"
#include "task/suite.h"
#include "te/dag_json.h"
#include "te/ops/near_names.h"
#include "te/ops/table.h"

namespace tilewright {
namespace {

std::unexpected<Error> unknown(std::string_view text) {
  std::vector<std::string> operators, names;
  for (const te::Operator& op : te::all_operators()) operators.emplace_back(op.name);
  names = operators;
  for (const SuiteRow& row : suite_rows()) names.push_back(row.name);
  return fail(ErrorKind::BadInput,
              fmt::format("'{}' is neither an operator nor a name of the suite{} (operators: {}, "
                          "written such as matmul:m=512,n=512,k=512; suite names: such as C2D2, "
                          "GMM3 or C2D2.b16)",
                          text, te::did_you_mean(text, names), fmt::join(operators, ", ")));
}

constexpr std::string_view kDagPrefix = "dag:";

// `{"Y": [[1, 8, 8, 96], 64]}`: extents and alignment of operands that are parts of larger arrays.
Status parse_parts(const Json& json, Workload& workload) {
  if (!json.is_object()) {
    return fail(ErrorKind::BadInput,
                R"(parts should be an object, such as {"Y": [[1, 8, 8, 96], 64]})");
  }
  for (const auto& [name, value] : json.items()) {
    const bool formed = value.is_array() && value.size() == 2 && value[0].is_array() &&
                        value[1].is_number_integer() &&
                        std::ranges::all_of(value[0], [](const Json& extent) {
                          return extent.is_number_integer();
                        });
    if (!formed) {
      return fail(ErrorKind::BadInput,
                  fmt::format("parts: {} should have a list of extents and an alignment", name));
    }
    const OperandPart part{.tensor = name,
                           .extents = value[0].get<std::vector<int64_t>>(),
                           .alignment = value[1].get<int>()};
    TRY(set_part(workload, part));
  }
  return {};
}

// Permissions that are off by default: a text that is given them grants them.
constexpr std::pair<const char*, bool FloatPermissions::*> kInText[] = {
    {"winograd", &FloatPermissions::winograd}, {"denormals", &FloatPermissions::denormals}};

Result<Workload> parse_dag(std::string_view text, FloatPermissions permissions) {
  const auto json = TRY(parse_json(text.substr(kDagPrefix.size())));
  const Json* ops = find_member(json, "ops");
  const Json* names = find_member(json, "constants");
  if (ops == nullptr || names == nullptr || !names->is_array()) {
    return fail(ErrorKind::BadInput, "after dag: an object with ops and constants is expected");
  }
  auto dag = TRY(te::dag_from_json(*ops));
  std::vector<std::string> constants;
  for (const Json& name : *names) {
    const auto op = name.is_string() ? dag->find_op(Name(name.get<std::string>())) : std::nullopt;
    if (!op || dag->op(*op).kind != te::OpKind::Placeholder) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{} is named as a constant but is not an input", name.dump()));
    }
    constants.push_back(name.get<std::string>());
  }
  for (const auto& [name, permission] : kInText) {
    const Json* const given = find_member(json, name);
    if (given == nullptr) continue;
    if (!given->is_boolean()) {
      return fail(ErrorKind::BadInput, fmt::format("{}: neither true nor false", name));
    }
    permissions.*permission = permissions.*permission || given->get<bool>();
  }
  Workload workload = make_workload(dag, constants, std::string(text), permissions);
  if (const Json* parts = find_member(json, "parts"); parts != nullptr) {
    TRY(parse_parts(*parts, workload));
  }
  return workload;
}

}  // namespace

Workload dag_workload(const std::shared_ptr<const te::Dag>& dag,
                      const std::vector<std::string>& constants, FloatPermissions permissions,
                      const std::vector<OperandPart>& parts) {
  Json json = {{"constants", constants}, {"ops", te::dag_to_json(*dag)}};
  for (const auto& [name, permission] : kInText) {
    if (permissions.*permission) json[name] = true;
  }
  for (const OperandPart& part : parts) {
    json["parts"][part.tensor] = Json::array({part.extents, part.alignment});
  }
  Workload workload =
      make_workload(dag, constants, fmt::format("{}{}", kDagPrefix, print_json(json)), permissions);
  for (const OperandPart& part : parts) {
    const Status set = set_part(workload, part);
    CHECK(set.has_value(), "{}", set.error().message);
  }
  return workload;
}

Result<Workload> parse_workload(std::string_view text, FloatPermissions permissions) {
  if (text.starts_with(kDagPrefix)) return parse_dag(text, permissions);
  if (is_suite_name(text)) {
    auto workload = suite_workload(text);
    if (workload) workload->permissions = permissions;
    return workload;
  }
  const std::string_view name = text.substr(0, text.find(':'));
  if (name.size() == text.size() && te::find_operator(name) == nullptr) return unknown(text);
  auto instance = TRY(te::parse_operator(text));
  permissions.winograd = permissions.winograd || te::find_operator(name)->winograd;
  return make_workload(instance.dag, instance.constants, instance.text, permissions);
}

}  // namespace tilewright
