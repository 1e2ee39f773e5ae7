// The schema of a store's file, and how a file comes to have it. The header of the file says whose
// it is (application_id) and which version it has (user_version). An older version is brought up
// step by step, in one transaction; a newer one is refused, and so is what is not ours.
//
// Adding a version: raise kSchemaVersion, append the step to the table in schema_upgrade.cc, and
// keep in schema_test.cc the SQL of the version before, from which the test upgrades.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/result.h"

namespace tilewright::record {

class Database;

inline constexpr int64_t kApplicationId = 0x54696c65;  // "Tile"
inline constexpr int64_t kSchemaVersion = 4;

enum class OpenAs : uint8_t {
  Create,    // to write; made when it is not there
  Existing,  // to write; an error when it is not there
  Reader,    // never changes the file: one of an older version is read from a copy in memory
};

// An open file of the current schema, in WAL mode.
Result<std::unique_ptr<Database>> open_schema(const std::filesystem::path& path, OpenAs how);

}  // namespace tilewright::record
