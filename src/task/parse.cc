#include "task/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

Result<Workload> parse_dag(std::string_view text, Licences licences) {
  const auto json = parse_json(text.substr(kDagPrefix.size()));
  if (!json) return std::unexpected(json.error());
  const Json* ops = find_member(*json, "ops");
  const Json* names = find_member(*json, "constants");
  if (ops == nullptr || names == nullptr || !names->is_array()) {
    return fail(ErrorKind::BadInput, "after dag: an object with ops and constants is expected");
  }
  auto dag = te::dag_from_json(*ops);
  if (!dag) return std::unexpected(dag.error());
  std::vector<std::string> constants;
  for (const Json& name : *names) {
    const auto op =
        name.is_string() ? (*dag)->find_op(Name(name.get<std::string>())) : std::nullopt;
    if (!op || (*dag)->op(*op).kind != te::OpKind::Placeholder) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{} is named as a constant but is no input", name.dump()));
    }
    constants.push_back(name.get<std::string>());
  }
  return make_workload(*dag, constants, std::string(text), licences);
}

}  // namespace

Workload dag_workload(const std::shared_ptr<const te::Dag>& dag,
                      const std::vector<std::string>& constants, Licences licences) {
  const Json json = {{"constants", constants}, {"ops", te::dag_to_json(*dag)}};
  return make_workload(dag, constants, fmt::format("{}{}", kDagPrefix, print_json(json)), licences);
}

Result<Workload> parse_workload(std::string_view text, Licences licences) {
  if (text.starts_with(kDagPrefix)) return parse_dag(text, licences);
  if (is_suite_name(text)) {
    auto workload = suite_workload(text);
    if (workload) workload->licences = licences;
    return workload;
  }
  const std::string_view name = text.substr(0, text.find(':'));
  if (name.size() == text.size() && te::find_operator(name) == nullptr) return unknown(text);
  auto instance = te::parse_operator(text);
  if (!instance) return std::unexpected(instance.error());
  licences.winograd = licences.winograd || te::find_operator(name)->winograd;
  return make_workload(instance->dag, instance->constants, instance->text, licences);
}

}  // namespace tilewright
