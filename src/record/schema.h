// The schema of a store's file, and its upgrade. The header of the file identifies it
// (application_id) and its version (user_version). An older version is upgraded step by step, in
// one transaction. A newer version and foreign files are rejected.
//
// To add a version: raise kSchemaVersion, append the step to the table in schema_upgrade.cc, and
// keep the SQL of the previous version in schema_test.cc, which upgrades from it.
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
  Create,    // for writing; created if it does not exist
  Existing,  // for writing; an error if it does not exist
  Reader,    // never changes the file: an older version is read from a copy in memory
};

// An open file of the current schema, in WAL mode.
Result<std::unique_ptr<Database>> open_schema(const std::filesystem::path& path, OpenAs how);

}  // namespace tilewright::record
