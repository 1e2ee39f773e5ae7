#include "te/ops/matmul.h"

#include "te/ops/dimensions.h"
#include "te/ops/einsum.h"

namespace tilewright::te {
namespace {

std::vector<Parameter> size_parameters() {
  return {{.name = "m", .doc = "rows of A and C"},
          {.name = "n", .doc = "columns of B and C"},
          {.name = "k", .doc = "columns of A, rows of B"},
          dtype_parameter(),
          second_dtype_parameter("dtype_b", "type of the elements of B; by default dtype"),
          flag_parameter("transpose_a", "1: A is stored as [k,m]"),
          flag_parameter("transpose_b", "1: B is stored as [n,k]")};
}

Result<MatmulShape> shape_of(std::string_view op, const Arguments& arguments) {
  const ir::Scalar element = arguments.scalar("dtype");
  const ir::Scalar element_b = arguments.scalar("dtype_b");
  TRY(require_factors(op, element, element_b));
  return MatmulShape{.m = arguments.integer("m"),
                     .n = arguments.integer("n"),
                     .k = arguments.integer("k"),
                     .element = element,
                     .element_b = element_b,
                     .transpose_a = arguments.flag("transpose_a"),
                     .transpose_b = arguments.flag("transpose_b")};
}

// The product as stage `C`, for each index of `batch` if there is one.
std::shared_ptr<const Dag> product(const MatmulShape& shape, std::optional<int64_t> batch) {
  LetterExtents extents = {{'i', shape.m}, {'j', shape.n}, {'k', shape.k}};
  if (batch) extents['b'] = *batch;
  const std::string outer = batch ? "b" : "";
  const std::string a = outer + (shape.transpose_a ? "ki" : "ik");
  const std::string b = outer + (shape.transpose_b ? "jk" : "kj");
  DagBuilder builder;
  const auto add_operand = [&](std::string_view name, const std::string& letters,
                               ir::Scalar element) {
    return builder.placeholder(name, extents_of(letter_shape(letters, extents)), element);
  };
  const TensorId left = add_operand("A", a, shape.element);
  const TensorId right = add_operand("B", b, shape.element_b.value_or(shape.element));
  add_products(builder, "C", outer + "ij", "k", {left, a}, {right, b}, extents,
               result_of(shape.element));
  return std::move(builder).build();
}

}  // namespace

std::shared_ptr<const Dag> matmul(const MatmulShape& shape) { return product(shape, {}); }

std::shared_ptr<const Dag> batch_matmul(int64_t batch, const MatmulShape& shape) {
  return product(shape, batch);
}

Operator matmul_operator() {
  return {.name = "matmul",
          .doc = "A[m,k] B[k,n] -> C[m,n]; transpose_a: A[k,m]; transpose_b: B[n,k]",
          .parameters = size_parameters(),
          .operands = {{.name = "B", .alias = "weight"}},
          .batch = "",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = TRY(shape_of("matmul", arguments));
            return matmul(shape);
          }};
}

Operator batch_matmul_operator() {
  std::vector<Parameter> parameters = size_parameters();
  parameters.insert(parameters.begin(), {.name = "b", .doc = "batch", .fallback = "1"});
  return {.name = "batch_matmul",
          .doc = "A[b,m,k] B[b,k,n] -> C[b,m,n]; transpose_a: A[b,k,m]; transpose_b: B[b,n,k]",
          .parameters = std::move(parameters),
          .operands = {{.name = "B", .alias = "weight"}},
          .batch = "b",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto shape = TRY(shape_of("batch_matmul", arguments));
            return batch_matmul(arguments.integer("b"), shape);
          }};
}

}  // namespace tilewright::te
