#include "space/templates.h"

namespace tilewright::space {

const TemplateTable& templates() {
  static const TemplateTable table = TemplateTable::built_in("template", {});
  return table;
}

}  // namespace tilewright::space
