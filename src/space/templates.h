// The table of templates: `SpaceOptions::from` names a row.
#pragma once

#include "space/template.h"

namespace tilewright::space {

// The built-in templates.
const TemplateTable& templates();

}  // namespace tilewright::space
