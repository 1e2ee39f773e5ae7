#include "space/templates.h"

namespace tilewright::space {

const TemplateTable& templates() {
  static const TemplateTable table("template", {});
  return table;
}

}  // namespace tilewright::space
