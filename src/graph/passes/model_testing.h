// For tests: small Graphs as importers build them (channels first, decomposed norms and
// activations, transposes around attention), and their evaluation node by node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "graph/graph.h"
#include "graph/passes.h"

namespace tilewright::graph {

// Builds a Graph in the forms that exporters write.
class Exported {
 public:
  using Shape = std::vector<int64_t>;

  const Shape& shape(ValueId value) const { return graph_.value(value).type.shape; }
  ValueId input(const std::string& name, Shape shape, ir::Scalar element = ir::Scalar::F32) {
    return graph_.add_input(name, {.element = element, .shape = std::move(shape)});
  }
  ValueId constant(Shape shape, const std::vector<double>& numbers);
  ValueId integers(Shape shape, const std::vector<int64_t>& numbers) {
    return graph_.add_constant("indices", Constant::of_integers(std::move(shape), numbers));
  }
  ValueId weights(Shape shape);  // between -1 and 1
  ValueId number(double value) { return constant({}, {value}); }
  ValueId add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {});
  Graph finish(std::vector<ValueId> outputs);
  const Graph& graph() const { return graph_; }

  ValueId reshape(ValueId x, Shape shape) { return add("reshape", {x}, {{"shape", shape}}); }
  ValueId transpose(ValueId x, Shape perm) { return add("transpose", {x}, {{"perm", perm}}); }
  ValueId mean(ValueId x, Shape axes, bool keep = true);

  // Channels first, with a bias of shape [1, c, 1, 1].
  struct Window {
    int64_t kernel = 3, stride = 1, groups = 1;
    bool bias = true;
  };
  ValueId conv_first(ValueId x, int64_t channels, Window window);
  ValueId conv_transpose(ValueId x, int64_t channels, int64_t kernel, int64_t stride, int64_t pad);
  ValueId batch_norm(ValueId x);
  ValueId max_pool(ValueId x, int64_t kernel, int64_t stride);
  ValueId relu6(ValueId x) { return add("clip", {x, number(0), number(6)}); }
  ValueId classifier(ValueId x, int64_t classes);  // flatten and Gemm
  ValueId matmul(ValueId x, int64_t features);  // [b, l, in] and a constant, with a bias in front
  ValueId gelu_erf(ValueId x);
  ValueId spelled_layer_norm(ValueId x);
  ValueId spelled_rms_norm(ValueId x);
  ValueId heads_of(ValueId x, int64_t heads);  // [b, l, h * d] -> [b, h, l, d]

 private:
  Graph graph_;
  Rng rng_{7};
};

struct TestModel {
  std::string name;
  Graph graph;
};

Graph resnet_block();
Graph densenet_block();
Graph mobilenet_block();
Graph squeezenet_fire();
Graph vgg_head();     // a pool, a flattened image and a classifier
Graph video_block();  // three dimensions in space
Graph dcgan_generator();
Graph bert_layer();
Graph llama_layer();
Graph convnext_block();
Graph vit_stem();
Graph segmentation_head();  // resize, group norm, softmax over channels
std::vector<TestModel> test_models();

// Inputs drawn by a seed: floats between -1 and 1, integers and bools 0 or 1.
std::vector<Constant> random_inputs(const Graph& graph, uint64_t seed);
std::vector<Constant> evaluate_graph(const Graph& graph, const std::vector<Constant>& inputs);
// The largest difference of outputs, relative to the largest output.
double largest_error(const std::vector<Constant>& a, const std::vector<Constant>& b);

std::map<std::string, int> count_ops(const Graph& graph);
Graph after(const Graph& graph, Result<Graph> (*pass)(const Graph&, const PassOptions&),
            const PassOptions& options = {});

}  // namespace tilewright::graph
