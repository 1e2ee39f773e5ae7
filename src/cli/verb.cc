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

ExitCode interrupted(const Context& context, std::string_view what) {
  context.err << "interrupted: " << what << "\n";
  return ExitCode::Interrupted;
}

void print_error_object(const Context& context, const Json& error) {
  if (context.json) context.out << print_json({{"error", error}}) << "\n";
}

}  // namespace tilewright::cli
