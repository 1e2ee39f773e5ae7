// The register tile of a stage: the number of elements along the vector axis and along the row axis
// (AxisRoles) that one iteration of the outer loops computes. Pure functions.
//
//   C[i, j] += A[i, k] * B[k, j] on 32 vector registers of 16 lanes     vector j 32, rows i 14
//   the same with j < 2                                 vector k 16, rows j 2, columns i 8
#pragma once

#include <cstdint>

#include "heuristic/axis_roles.h"

namespace tilewright::heuristic {

struct TileStyle {
  bool vectors = true;  // false: the innermost loop is unrolled, and short
  bool small = false;   // one vector and a few rows instead of filling the registers
  bool packs = true;    // operands may be copied or packed
};

inline constexpr int64_t kAcross = 16;  // side of a tile that is contiguous along both axes in turn

// Tile sizes of the axes with roles; 0: no such axis. A tile as large as its axis is not split.
struct RegisterTile {
  int64_t vector = 0;
  int64_t rows = 0;
  int64_t columns = 0;

  bool operator==(const RegisterTile&) const = default;
};

RegisterTile choose_tile(const schedule::LoopTree& tree, schedule::StageIndex stage,
                         const AxisRoles& roles, const Target& target, const TileStyle& style);

// The innermost part of an axis, with stride 1.
schedule::VarIndex innermost_part(const schedule::LoopTree& tree, schedule::VarIndex var);

}  // namespace tilewright::heuristic
