// Upgrades the tables of an older file to the current schema, version by version. Part of
// record/schema.h, which runs it in a transaction and checks all references afterwards.
#pragma once

#include <cstdint>

namespace tilewright::record {

class Database;

void upgrade_tables(Database& database, int64_t from);

}  // namespace tilewright::record
