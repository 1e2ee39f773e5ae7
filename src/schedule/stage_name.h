// StageName: what a step calls a stage. It never shifts: it says which operator the stage comes
// from, the role it has there, and which of several of that role it is.
//
//   C          the operator C itself
//   C.write    what cache_write(C) made: it computes C, and C copies from it
//   A.read     what the first cache_read(A, ...) made;  A.read.1 the second
//   S.rfactor  the partial results that rfactor(S, ...) made
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
