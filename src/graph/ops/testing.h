// For tests of operators: evaluates an operator on constants.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/rng.h"
#include "graph/evaluate.h"
#include "graph/op_table.h"
#include "ir/element.h"

namespace tilewright::graph {

using Shape = std::vector<int64_t>;
using Numbers = std::vector<double>;

inline Constant constant(ir::Scalar element, Shape shape, const Numbers& values) {
  TensorType type{.element = element, .shape = std::move(shape)};
  std::vector<std::byte> bytes(static_cast<size_t>(type.bytes()));
  if (static_cast<int64_t>(values.size()) != type.elements()) throw std::runtime_error("count");
  for (size_t k = 0; k < values.size(); ++k) {
    ir::write_element(bytes.data(), element, static_cast<int64_t>(k),
                      ir::convert(values[k], element));
  }
  return Constant::of_bytes(std::move(type), std::move(bytes));
}
inline Constant f32(Shape shape, const Numbers& values) {
  return constant(ir::Scalar::F32, std::move(shape), values);
}
inline Constant f32(const Numbers& values) {
  return f32({static_cast<int64_t>(values.size())}, values);
}
inline Constant i64(Shape shape, const Numbers& values) {
  return constant(ir::Scalar::I64, std::move(shape), values);
}
inline Constant boolean(Shape shape, const Numbers& values) {
  return constant(ir::Scalar::Bool, std::move(shape), values);
}

// Multiples of 1/4 between -4 and 4.
inline Constant random_numbers(Shape shape, uint64_t seed, ir::Scalar element = ir::Scalar::F32) {
  const TensorType type{.element = element, .shape = shape};
  Rng rng(seed);
  Numbers values(static_cast<size_t>(type.elements()));
  for (double& value : values) value = static_cast<double>(rng.between(-16, 16)) / 4;
  return constant(element, std::move(shape), values);
}

inline Numbers numbers(const Constant& constant) {
  Numbers all;
  for (int64_t k = 0; k < constant.type().elements(); ++k) all.push_back(constant.number(k));
  return all;
}

inline Result<std::shared_ptr<const te::Dag>> define(
    const std::string& op, const Attributes& attributes,
    const std::vector<std::optional<TensorType>>& types) {
  const OpDef* def = find_op(op);
  if (def == nullptr) throw std::runtime_error("no operator " + op);
  return def->define(attributes, types);
}

// The result of an operator; an empty operand is left out.
inline Constant run(const std::string& op, const Attributes& attributes,
                    const std::vector<Constant>& operands) {
  std::vector<std::optional<TensorType>> types;
  std::vector<Constant> given;
  for (const Constant& operand : operands) {
    types.push_back(operand.empty() ? std::nullopt : std::optional(operand.type()));
    if (!operand.empty()) given.push_back(operand);
  }
  const auto dag = define(op, attributes, types);
  if (!dag) throw std::runtime_error(dag.error().message);
  const auto results = evaluate(**dag, given);
  if (!results) throw std::runtime_error(results.error().message);
  return results->front();
}

inline TensorType type_of(Shape shape, ir::Scalar element = ir::Scalar::F32) {
  return {.element = element, .shape = std::move(shape)};
}

// The error message of an operator; empty: none.
inline std::string error_of(const std::string& op, const Attributes& attributes,
                            const std::vector<std::optional<TensorType>>& types) {
  const auto dag = define(op, attributes, types);
  return dag ? std::string() : dag.error().message;
}

inline void expect_near(const Numbers& actual, const Numbers& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t k = 0; k < actual.size(); ++k) {
    EXPECT_NEAR(actual[k], expected[k], tolerance * std::max(1.0, std::abs(expected[k])))
        << "at " << k;
  }
}

}  // namespace tilewright::graph
