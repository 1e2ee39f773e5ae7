#include "record/permissions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tilewright::record {
namespace {

struct NamedPermission {
  std::string_view name;
  bool FloatPermissions::* member;
};
constexpr std::array<NamedPermission, 8> kPermissions = {{
    {"reassociate", &FloatPermissions::reassociate},
    {"contract", &FloatPermissions::contract},
    {"approximate", &FloatPermissions::approximate},
    {"fold", &FloatPermissions::fold},
    {"online_softmax", &FloatPermissions::online_softmax},
    {"winograd", &FloatPermissions::winograd},
    {"reduced_precision", &FloatPermissions::reduced_precision},
    {"denormals", &FloatPermissions::denormals},
}};

}  // namespace

std::string print_permissions(const FloatPermissions& permissions) {
  std::string text;
  for (const NamedPermission& permission : kPermissions) {
    if (!(permissions.*permission.member)) continue;
    if (!text.empty()) text += ',';
    text += permission.name;
  }
  return text;
}

Result<FloatPermissions> parse_permissions(std::string_view text) {
  FloatPermissions permissions;
  for (const NamedPermission& permission : kPermissions) permissions.*permission.member = false;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    bool found = false;
    for (const NamedPermission& permission : kPermissions) {
      if (permission.name != word) continue;
      permissions.*permission.member = true;
      found = true;
    }
    if (!found) {
      return fail(ErrorKind::Unsupported, fmt::format("there is no float permission '{}'", word));
    }
  }
  return permissions;
}

}  // namespace tilewright::record
