// Uses a compiled model that is linked into the program, from two threads at once.
//
//   tilewright compile model.onnx --name model -o model.o       (or -o model.c: compile that)
//   c++ -std=c++17 -O2 examples/cpp/main.cc model.o -o run_model -pthread -ldl
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "model.h"

namespace {

// One instance: for one thread at a time.
class Model {
 public:
  explicit Model(const TilewrightModelApi& api, int threads) : api_(api) {
    TilewrightModelOptions options{};
    options.threads = threads;
    if (api.create(&api, &options, &model_) != TILEWRIGHT_MODEL_OK) {
      throw std::runtime_error(api.error(nullptr));
    }
  }
  ~Model() { api_.destroy(model_); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // With DLPack, the tensor format of many libraries. Shapes and types are checked.
  std::vector<float> run(std::vector<float>& input) {
    const TilewrightTensorInfo& from = api_.inputs[0];
    const TilewrightTensorInfo& to = api_.outputs[0];
    std::vector<float> output(static_cast<size_t>(to.bytes) / sizeof(float));
    TilewrightDLTensor x = view(from, input.data());
    TilewrightDLTensor y = view(to, output.data());
    const TilewrightDLTensor* inputs[] = {&x};
    TilewrightDLTensor* outputs[] = {&y};
    if (api_.run_dlpack(model_, inputs, outputs) != TILEWRIGHT_MODEL_OK) {
      throw std::runtime_error(api_.error(model_));
    }
    return output;
  }

 private:
  static TilewrightDLTensor view(const TilewrightTensorInfo& info, float* data) {
    TilewrightDLTensor tensor{};
    tensor.data = data;
    tensor.device_type = 1;  // the cpu
    tensor.ndim = info.rank;
    tensor.dtype = info.type;
    tensor.shape = const_cast<int64_t*>(info.shape);
    return tensor;
  }

  const TilewrightModelApi& api_;
  TilewrightModel* model_ = nullptr;
};

}  // namespace

int main() {
  try {
    const TilewrightModelApi& api = model_model;
    std::vector<float> sums(2);
    std::vector<std::thread> threads;
    for (size_t k = 0; k < sums.size(); ++k) {
      threads.emplace_back([&api, &sums, k] {
        Model model(api, 1);
        std::vector<float> input(static_cast<size_t>(api.inputs[0].bytes) / sizeof(float), 1.0F);
        const std::vector<float> output = model.run(input);
        sums[k] = std::accumulate(output.begin(), output.end(), 0.0F);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::printf("%s: %d steps, sums %.6g and %.6g\n", api.name, api.step_count,
                static_cast<double>(sums[0]), static_cast<double>(sums[1]));
    return sums[0] == sums[1] ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
