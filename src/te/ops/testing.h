// For tests of operators: whole tensors of small random integers, and whole outputs by evaluation.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "te/eval.h"
#include "te/ops/table.h"

namespace tilewright::te {

// The Dag of an operator text with its inputs filled, and its output evaluated element by element.
class Evaluated {
 public:
  explicit Evaluated(const std::string& text, int64_t low = -4, int64_t high = 4) {
    const auto instance = parse_operator(text);
    if (!instance) throw std::runtime_error(instance.error().message);
    dag = instance->dag;
    Rng rng(7);
    for (const TensorId id : dag->inputs()) {
      std::vector<double>& data = inputs[dag->tensor(id).name.text()];
      data.resize(static_cast<size_t>(elements(id)));
      for (double& value : data) value = static_cast<double>(rng.between(low, high));
    }
    evaluate();
  }

  // One element of an input, by its row-major offset.
  double in(const std::string& name, int64_t offset) const {
    return inputs.at(name)[static_cast<size_t>(offset)];
  }

  std::shared_ptr<const Dag> dag;
  std::map<std::string, std::vector<double>> inputs;
  std::vector<double> output;
  std::vector<int64_t> shape;  // of the output

 private:
  int64_t elements(TensorId id) const {
    int64_t count = 1;
    for (const Extent& extent : dag->tensor(id).shape) count *= extent.constant().value();
    return count;
  }

  void evaluate() {
    const TensorId out = dag->outputs().front();
    for (const Extent& extent : dag->tensor(out).shape) shape.push_back(extent.constant().value());
    // In f64, where nothing is denormal.
    Evaluator evaluator(
        *dag,
        [this](TensorId tensor, int64_t offset) {
          return in(dag->tensor(tensor).name.text(), offset);
        },
        true);
    std::vector<int64_t> indices(shape.size());
    for (int64_t k = 0; k < elements(out); ++k) {
      output.push_back(evaluator.element(out, indices));
      for (size_t d = shape.size(); d > 0 && ++indices[d - 1] == shape[d - 1]; --d) {
        indices[d - 1] = 0;
      }
    }
  }
};

}  // namespace tilewright::te
