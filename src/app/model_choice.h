// ModelChoice: selects a model, which is an ONNX file or an operator as a model of one kernel, and
// how to read it. A value. Together with a target it determines the plan and the schedule of each
// kernel.
//
//   choose_model({.what = "resnet50.onnx"}, target, "tilewright.db")
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/compile_model.h"

namespace tilewright::app {

struct ModelChoice {
  std::string what{};
  std::string input_shapes{};             // `x:[1,3,224,224]`
  std::vector<std::string> passes_off{};  // names of graph passes
  std::vector<std::string> allow{};       // app/allowed.h; of an operator too
  std::vector<std::string> constants{};   // values of an operator's constants: `W=w.npy`

  bool operator==(const ModelChoice&) const = default;
};

bool is_model_file(std::string_view what);  // ends in .onnx
bool is_library(std::string_view what);     // ends in .so
// An error that says so if `what` is a library.
Status check_not_compiled(std::string_view what);

// The workload of an operator or of a name of the suite. Errors tell files and folders of that name
// from misspelled operators.
Result<Workload> operator_named(const std::string& what, const FloatPermissions& permissions = {});

// An option that only model files have.
struct FileOption {
  std::string_view field;
  std::string_view what;  // in words, as a plural
};
// The first one that is set.
std::optional<FileOption> file_option_of(const ModelChoice& choice);

// Plans a model file for the target. Here and below, a requested stop is an error.
Result<deploy::ModelPlan> plan_of_model(const ModelChoice& choice, const Target& target,
                                        const deploy::BackEndTables& tables = {},
                                        const StopToken& stop = {});

// A planned model file or operator, with the schedule of each kernel: the best record of the store
// `records`, or the default schedule.
struct ChosenModel {
  deploy::ModelPlan plan;
  std::vector<deploy::Choice> choices;
};
Result<ChosenModel> choose_model(const ModelChoice& choice, const Target& target,
                                 const std::string& records,
                                 const deploy::BackEndTables& tables = {},
                                 const StopToken& stop = {});

}  // namespace tilewright::app
