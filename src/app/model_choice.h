// ModelChoice: which model is meant: an ONNX file, or an operator as a model of one kernel, and how
// it is read. A value; from it and a target follow the plan and the schedule of each kernel.
//
//   choose_model({.what = "resnet50.onnx"}, target, "tilewright.db")
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "deploy/compile_model.h"

namespace tilewright::app {

struct ModelChoice {
  std::string what{};
  std::string input_shapes{};             // `x:[1,3,224,224]`
  std::vector<std::string> passes_off{};  // of the graph
  std::vector<std::string> allow{};       // permissions that are not given by default: `winograd`
  std::vector<std::string> constants{};   // of an operator: `W=w.npy`

  bool operator==(const ModelChoice&) const = default;
};

bool is_model_file(std::string_view what);  // ends in .onnx
bool is_library(std::string_view what);     // ends in .so

// The first option that says how to read a model file, as a flag; empty: none is set.
std::string_view model_flag_of(const ModelChoice& choice);
// `what` and those options, as a user types them.
std::string words_of(const ModelChoice& choice);

// A model file, planned for the target.
Result<deploy::ModelPlan> plan_of_model(const ModelChoice& choice, const Target& target,
                                        const deploy::BackEndTables& tables = {});

// A model file or an operator, planned, and what each kernel is compiled with: the best record of
// the store `records`, or the default schedule.
struct ChosenModel {
  deploy::ModelPlan plan;
  std::vector<deploy::Choice> choices;
};
Result<ChosenModel> choose_model(const ModelChoice& choice, const Target& target,
                                 const std::string& records,
                                 const deploy::BackEndTables& tables = {});

}  // namespace tilewright::app
