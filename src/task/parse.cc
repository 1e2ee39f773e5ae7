#include "task/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "task/suite.h"
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

}  // namespace

Result<Workload> parse_workload(std::string_view text, Licences licences) {
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
