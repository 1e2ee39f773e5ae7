// MatMul and Gemm.
#include "onnx/convert/contract.h"

#include <fmt/format.h>

#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

// Letters for the batch dimensions of an operand: those of the longer one from the right.
std::string batch_letters(size_t count, size_t batch) {
  std::string letters;
  for (size_t k = batch - count; k < batch; ++k) letters.push_back(static_cast<char>('a' + k));
  return letters;
}

std::vector<Tensor> convert_matmul(Conversion& node) {
  return {matmul(node, node.operand(0), node.operand(1))};
}

// alpha * A' * B' + beta * C
std::vector<Tensor> convert_gemm(Conversion& node) {
  const NodeReader& attributes = node.attributes();
  const Tensor a = node.operand(0);
  const Tensor b = node.operand(1);
  if (a->rank() != 2 || b->rank() != 2) {
    refuse(fmt::format("of {} and {}", a->type.to_string(), b->type.to_string()));
  }
  const Tensor product = matmul(node, a, b,
                                {.transpose_a = attributes.integer("transA", 0) != 0,
                                 .transpose_b = attributes.integer("transB", 0) != 0});
  const Tensor y = scaled(node, product, attributes.number("alpha", 1));
  const double beta = attributes.number("beta", 1);
  if (!node.has(2) || beta == 0) return {y};
  if (broadcast_shapes(y->shape(), node.operand(2)->shape()) != y->shape()) {
    refuse(fmt::format("C is {} for {}", node.operand(2)->type.to_string(), y->type.to_string()));
  }
  return {node.result("add", {y, scaled(node, node.operand(2), beta)})};
}

constexpr ConverterRow kRows[] = {
    {"Gemm", convert_gemm},
    {"MatMul", convert_matmul},
};

}  // namespace

Tensor scaled(Conversion& node, Tensor x, double factor) {
  return factor == 1 ? x : node.emit("mul", {x, node.number(factor, x->element())});
}

Tensor matmul(Conversion& node, Tensor a, Tensor b, const MatMulOptions& options) {
  if (a->rank() == 0 || b->rank() == 0) refuse("an operand is a scalar");
  const size_t batch_a = a->rank() < 2 ? 0 : a->rank() - 2;
  const size_t batch_b = b->rank() < 2 ? 0 : b->rank() - 2;
  const size_t batch = std::max(batch_a, batch_b);
  std::string of_a = a->rank() == 1 ? "k" : options.transpose_a ? "ki" : "ik";
  std::string of_b = b->rank() == 1 ? "k" : options.transpose_b ? "jk" : "kj";
  std::string of_result = batch_letters(batch, batch);
  if (of_result.size() > 8) not_supported("more than 8 batch dimensions");
  if (a->rank() > 1) of_result.push_back('i');
  if (b->rank() > 1) of_result.push_back('j');
  return node.result("contract",
                     {{"a", batch_letters(batch_a, batch) + of_a},
                      {"b", batch_letters(batch_b, batch) + of_b},
                      {"out", of_result}},
                     {a, b});
}

std::span<const ConverterRow> contract_converters() { return kRows; }

}  // namespace tilewright::onnx
