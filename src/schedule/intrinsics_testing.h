// For tests: tensor intrinsics that compute several rows at once, which the built-in table does not
// have, and a product in the layout of the second.
#pragma once

#include <array>
#include <memory>

#include "schedule/intrinsics.h"
#include "te/dag_builder.h"

namespace tilewright::schedule::testing {

// acc[r, l] = sum over g, f of i32(a[r, g * 4 + f]) * i32(b[g, l, f]), where a row of a has `width`
// elements.
inline std::shared_ptr<const te::Dag> amx_dag(int64_t rows, int64_t lanes, int64_t groups,
                                              int64_t width) {
  using enum ir::Scalar;
  te::DagBuilder builder;
  const te::TensorId a = builder.placeholder("a", {rows, width}, U8);
  const te::TensorId b = builder.placeholder("b", {groups, lanes, 4}, I8);
  const te::Axis r = builder.axis("r", rows), l = builder.axis("l", lanes);
  const te::Axis g = builder.axis("g", groups), f = builder.axis("f", 4);
  builder.reduce("acc", {r, l}, {g, f}, ir::BinaryOp::Add,
                 ir::cast(I32, builder.read(a, {r.var, g.var * 4 + f.var})) *
                     ir::cast(I32, builder.read(b, {g.var, l.var, f.var})),
                 I32);
  return std::move(builder).build();
}

// Two rows, 16 lanes, 4 factors.
inline TensorIntrinsic toy_tile() {
  using enum ir::Scalar;
  return {Name("toy_tile"),
          Capability::DotU8I8Lanes16,
          dot_products(2, 16, 4, U8, I8, I32),
          {{0, Name("r")}, {TensorIntrinsic::kResult, Name("r")}}};
}

// TDPBUSD: 16 rows of a with 64 bytes each, 16 rows of b with 16 groups of 4 bytes each.
inline TensorIntrinsic amx_tile() {
  return {Name("amx_tile"),
          Capability::DotU8I8Lanes16,
          amx_dag(16, 16, 16, 4 * 16),
          {{0, Name("r")}, {1, Name("g")}, {TensorIntrinsic::kResult, Name("r")}}};
}

inline IntrinsicTable tile_intrinsics() {
  static const std::array table = {toy_tile(), amx_tile()};
  return table;
}

}  // namespace tilewright::schedule::testing
