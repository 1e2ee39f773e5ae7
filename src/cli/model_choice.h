// WHAT of the verbs that take a whole model: an ONNX file, or an operator as a model of one kernel,
// with the flags that say how to read it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "deploy/compile_model.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace tilewright::cli {

struct ModelChoice {
  std::string what;
  std::string input_shapes;             // `x:[1,3,224,224]`
  std::vector<std::string> passes_off;  // of the graph
  std::vector<std::string> allow;       // permissions that are not given by default: `winograd`
  std::vector<std::string> constants;   // of an operator: `W=w.npy`
};

bool is_model_file(std::string_view what);  // ends in .onnx
bool is_library(std::string_view what);     // ends in .so

// The first of the flags that say how to read a model file; empty: none was given.
std::string_view model_flag_of(const ModelChoice& choice);
// `what` and those flags, as they are to be said to another verb.
std::string words_of(const ModelChoice& choice);

// The flags --input-shapes, --passes-off and --allow. `choice` outlives the parsing.
void declare_model_flags(CLI::App& app, ModelChoice* choice);

// A model file, planned for the target.
Result<deploy::ModelPlan> plan_of_model(const ModelChoice& choice, const Target& target);
// That, or an operator, whose constants are read from the files that were given; and what each
// kernel is compiled with: the best of the store `records`, or the default schedule.
struct ChosenModel {
  deploy::ModelPlan plan;
  std::vector<deploy::Choice> choices;
};
Result<ChosenModel> choose_model(const ModelChoice& choice, const Target& target,
                                 const std::string& records);

}  // namespace tilewright::cli
