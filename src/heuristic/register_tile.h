// The register tile of a stage: how much of the axis that lanes walk and of the axis that repeats
// in registers (AxisRoles) one iteration of the loops outside computes. Pure functions.
//
//   C[i, j] += A[i, k] * B[k, j] on 32 vector registers of 16 lanes     vector j 32, rows i 14
#pragma once

#include <cstdint>

#include "heuristic/axis_roles.h"

namespace tilewright::heuristic {

struct TileStyle {
  bool vectors = true;  // else the innermost loop is unrolled, and short
  bool small = false;   // one vector and a few rows where otherwise the registers are filled
  bool packs = true;    // operands may be copied or laid out anew
};

inline constexpr int64_t kAcross = 16;  // side of a tile that is walked along both sides

// Tile sizes of the two axes that have roles; 0 where there is no such axis. A tile as large as
// its axis is no split.
struct RegisterTile {
  int64_t vector = 0;
  int64_t rows = 0;

  bool operator==(const RegisterTile&) const = default;
};

RegisterTile choose_tile(const schedule::LoopTree& tree, schedule::StageIndex stage,
                         const AxisRoles& roles, const Target& target, const TileStyle& style);

// The loop of an axis that counts single elements.
schedule::VarIndex innermost_part(const schedule::LoopTree& tree, schedule::VarIndex var);

}  // namespace tilewright::heuristic
