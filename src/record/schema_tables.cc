#include "record/schema_tables.h"

#include <fmt/format.h>

namespace tilewright::record {

std::string guard(std::string_view table, std::string_view act, std::string_view when) {
  return fmt::format(
      "CREATE TRIGGER {0}_no_{1} BEFORE {1} ON {0} {2}\n"
      "BEGIN SELECT RAISE(ABORT, '{0} are written once'); END;\n",
      table, act, when);
}

std::string guards(std::initializer_list<std::string_view> tables) {
  std::string sql;
  for (const std::string_view table : tables) {
    sql += guard(table, "update", "");
    sql += guard(table, "delete", "");
  }
  return sql;
}

}  // namespace tilewright::record
