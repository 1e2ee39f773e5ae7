#include "app/allowed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tilewright::app {
namespace {

struct Allowed {
  std::string_view name;
  bool FloatPermissions::* permission;
  bool of_operators;  // it affects the kernel of an operator
};
constexpr Allowed kAllowed[] = {{"winograd", &FloatPermissions::winograd, false},
                                {"denormals", &FloatPermissions::denormals, true}};

Result<const Allowed*> allowed_by(const std::string& word) {
  const auto* const found = std::ranges::find(kAllowed, word, &Allowed::name);
  if (found != std::end(kAllowed)) return found;
  std::vector<std::string_view> names;
  for (const Allowed& one : kAllowed) names.push_back(one.name);
  return fail(
      ErrorKind::BadInput,
      fmt::format("there is no permission '{}'; there are {}", word, fmt::join(names, " and ")),
      {{"allow", ""}});
}

}  // namespace

Result<FloatPermissions> model_permissions(const std::vector<std::string>& allow) {
  FloatPermissions permissions;
  for (const std::string& word : allow) permissions.*TRY(allowed_by(word))->permission = true;
  return permissions;
}

Result<FloatPermissions> operator_permissions(const std::vector<std::string>& allow) {
  for (const std::string& word : allow) {
    if (TRY(allowed_by(word))->of_operators) continue;
    return fail(
        ErrorKind::BadInput,
        fmt::format("the permission {} is for model files; an operator names its algorithm", word),
        {{"allow", ""}});
  }
  return model_permissions(allow);
}

}  // namespace tilewright::app
