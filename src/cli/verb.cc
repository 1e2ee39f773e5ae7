#include "cli/verb.h"

#include <ostream>

#include "base/json.h"

namespace tilewright::cli {

void print(const Context& context, std::string_view text, const Json& json) {
  if (context.json) {
    context.out << print_json(json) << "\n";
  } else {
    context.out << text;
  }
}

}  // namespace tilewright::cli
