// For tests: a folder with a small model, and the folder of the worker programs.
#pragma once

#include <string>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "onnx/model_testing.h"

namespace tilewright::app {

inline const std::filesystem::path kWorkers = TILEWRIGHT_WORKERS;

class SmallModel {
 public:
  // y = relu(relu(x * a) * b), all 32 x 32.
  SmallModel() {
    onnx::ModelWriter model;
    const std::vector<float> weights(size_t{32} * 32, 0.125F);
    model.input("x", {32, 32});
    model.floats("a", {32, 32}, weights);
    model.floats("b", {32, 32}, weights);
    model.node("MatMul", {"x", "a"}, {"p"});
    model.node("Relu", {"p"}, {"q"});
    model.node("MatMul", {"q", "b"}, {"r"});
    model.node("Relu", {"r"}, {"y"});
    model.output("y");
    const Status written = write_file_atomically(model_file(), model.bytes());
    CHECK(written.has_value(), "{}", written.error().message);
  }

  std::string operator/(std::string_view name) const { return (folder_ / name).string(); }
  std::string model_file() const { return *this / "small.onnx"; }
  std::string records() const { return *this / "records.db"; }

 private:
  TemporaryFolder folder_ = make_scratch_folder("tilewright-app-").value();
};

}  // namespace tilewright::app
