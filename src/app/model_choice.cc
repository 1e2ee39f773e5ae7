#include "app/model_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "app/allowed.h"
#include "app/npy.h"
#include "app/records.h"
#include "deploy/plan_workload.h"
#include "onnx/import.h"
#include "task/parse.h"
#include "te/shape_of.h"

namespace tilewright::app {
namespace {

// The number of files must be that of the constants, by name.
Result<deploy::ModelPlan> plan_of_operator(const ModelChoice& choice) {
  const FloatPermissions permissions = TRY(operator_permissions(choice.allow));
  const Workload workload = TRY(operator_named(choice.what, permissions));
  if (const std::optional<FileOption> option = file_option_of(choice)) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} are for model files; {} is an operator, which has its shapes in "
                            "its text and no passes",
                            option->what, choice.what),
                {{std::string(option->field), ""}});
  }
  std::vector<graph::Constant> constants;
  for (const Operand& operand : workload.operands) {
    if (operand.role != Role::Constant) continue;
    const te::Tensor& tensor = workload.dag->tensor(operand.tensor);
    const std::string name(tensor.name.text());
    const auto given = std::ranges::find_if(
        choice.constants, [&](const std::string& word) { return word.starts_with(name + "="); });
    if (given == choice.constants.end()) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{} has the constant {}: give its values, or say constant=none in "
                              "the operator's text to pass it at run time",
                              choice.what, name),
                  {{"constants", name + "=FILE.npy"}});
    }
    const graph::TensorType type{.element = tensor.element, .shape = te::shape_of(tensor)};
    graph::Constant constant = TRY(read_npy(given->substr(name.size() + 1), type.element));
    if (constant.type() != type) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{}: the constant {} is {}, but the file has {}", choice.what, name,
                              type.to_string(), constant.type().to_string()));
    }
    constants.push_back(std::move(constant));
  }
  if (choice.constants.size() > constants.size()) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} constants are given, but {} has {}", choice.constants.size(),
                            choice.what, constants.size()),
                {{"constants", ""}});
  }
  return deploy::plan_workload(workload, constants);
}

}  // namespace

bool is_model_file(std::string_view what) { return what.ends_with(".onnx"); }
bool is_library(std::string_view what) { return what.ends_with(".so"); }

Status check_not_compiled(std::string_view what) {
  if (!is_library(what)) return {};
  return fail(
      ErrorKind::BadInput,
      fmt::format("{} is already compiled; name its model file, such as resnet50.onnx", what));
}

Result<Workload> operator_named(const std::string& what, const FloatPermissions& permissions) {
  Result<Workload> workload = parse_workload(what, permissions);
  if (workload) return workload;
  std::error_code error;
  if (std::filesystem::is_directory(what, error)) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} is a folder, neither a model file nor an operator", what));
  }
  if (std::filesystem::is_regular_file(what, error)) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} is a file, but names of models end in .onnx", what));
  }
  return workload;
}

std::optional<FileOption> file_option_of(const ModelChoice& choice) {
  if (!choice.passes_off.empty()) return FileOption{"passes_off", "passes to turn off"};
  if (!choice.input_shapes.empty()) return FileOption{"input_shapes", "shapes of inputs"};
  return std::nullopt;
}

Result<deploy::ModelPlan> plan_of_model(const ModelChoice& choice, const Target& target,
                                        const deploy::BackEndTables& tables,
                                        const StopToken& stop) {
  if (!choice.constants.empty()) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} has its constants in it: only an operator's are given by files",
                            choice.what),
                {{"constants", ""}});
  }
  const FloatPermissions permissions = TRY(model_permissions(choice.allow));
  onnx::ImportOptions import{.stop = stop};
  if (!choice.input_shapes.empty()) {
    import.input_shapes = TRY(onnx::parse_input_shapes(choice.input_shapes));
  }
  const graph::Graph graph = TRY(onnx::import_file(choice.what, import));
  deploy::PlanOptions options;
  options.passes.off = choice.passes_off;
  options.passes.permissions = permissions;
  options.passes.stop = stop;
  options.tables = tables;
  return deploy::plan_model(graph, target, options);
}

Result<ChosenModel> choose_model(const ModelChoice& choice, const Target& target,
                                 const std::string& records, const deploy::BackEndTables& tables,
                                 const StopToken& stop) {
  TRY(check_not_compiled(choice.what));
  deploy::ModelPlan plan =
      TRY(is_model_file(choice.what) ? plan_of_model(choice, target, tables, stop)
                                     : plan_of_operator(choice));
  TRY(check_not_stopped(stop));
  std::optional<record::Store> store = TRY(open_records(records));
  auto choices = TRY(deploy::choose_schedules(plan, target, store ? &*store : nullptr,
                                              codegen::recorded_name(target, tables.back_ends)));
  return ChosenModel{.plan = std::move(plan), .choices = std::move(choices)};
}

}  // namespace tilewright::app
