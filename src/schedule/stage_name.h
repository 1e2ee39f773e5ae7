// StageName: the stable name of a stage: the operator that it stems from, its role there, and an
// ordinal among stages with the same role.
//
//   C          the operator C itself
//   C.write    created by cache_write(C): it computes C, and C copies from it
//   A.read     created by the first cache_read(A, ...);  A.read.1 by the second
//   S.rfactor  the partial results of rfactor(S, ...)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/name.h"

namespace tilewright::schedule {

enum class StageRole : uint8_t { Main, Read, Write, Rfactor };

struct StageName {
  Name op;
  StageRole role = StageRole::Main;
  uint8_t ordinal = 0;

  bool operator==(const StageName&) const = default;
  std::string text() const;
  static std::optional<StageName> parse(std::string_view text);
};

}  // namespace tilewright::schedule
