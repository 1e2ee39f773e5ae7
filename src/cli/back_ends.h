// The back ends of this program and a way to ask whether each works here. The table is in
// back_ends.cc; a new back end is one row.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace tilewright::cli {

struct BackEnd {
  std::string_view name;
  std::string_view purpose;
  Status (*probe)() = nullptr;  // compiles and runs something small; null: not in this build
  std::string_view remedy;      // the command that makes it work when the probe fails
};

std::span<const BackEnd> all_back_ends();

// What the probe says; an Error for a back end that is not in this build.
Status probe(const BackEnd& back_end);

}  // namespace tilewright::cli
