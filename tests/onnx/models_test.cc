// Whole models: exports of torchvision and transformers. TILEWRIGHT_MODELS is a folder with them,
// their weights filled in; without it these are skipped.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "onnx/import.h"

namespace tilewright::onnx {
namespace {

using Shape = std::vector<int64_t>;

const std::map<std::string, Shape>& known_outputs() {
  static const std::map<std::string, Shape> outputs = {
      {"alexnet", {1, 1000}},           {"bert_base_128", {1, 128, 768}},
      {"bert_tiny_128", {1, 128, 128}}, {"dcgan", {1, 3, 64, 64}},
      {"densenet121", {1, 1000}},       {"mnasnet1_0", {1, 1000}},
      {"mobilenet_v2", {1, 1000}},      {"r3d_18", {1, 400}},
      {"resnet18", {1, 1000}},          {"resnet50", {1, 1000}},
      {"squeezenet1_1", {1, 1000}},     {"vgg16", {1, 1000}},
  };
  return outputs;
}

TEST(ModelsTest, AllImport) {
  const char* folder = std::getenv("TILEWRIGHT_MODELS");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr || !std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "no folder of models given (TILEWRIGHT_MODELS)";
  }
  size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx") continue;
    const auto graph = import_file(entry.path(), {});
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    EXPECT_FALSE(graph->nodes().empty());
    ++seen;
    const auto known = known_outputs().find(entry.path().stem().string());
    if (known == known_outputs().end()) continue;
    ASSERT_EQ(graph->outputs().size(), 1U);
    EXPECT_EQ(graph->value(graph->outputs()[0]).type.shape, known->second) << entry.path();
  }
  EXPECT_GT(seen, 0U) << "no .onnx file in " << folder;
}

}  // namespace
}  // namespace tilewright::onnx
