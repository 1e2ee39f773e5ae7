#include "base/check.h"

namespace tilewright {

void check_failed(const char* file, int line, const char* condition, const std::string& detail) {
  std::string text = fmt::format("{}:{}: CHECK({}) failed", file, line, condition);
  if (!detail.empty()) text += ": " + detail;
  throw InternalError(text);
}

}  // namespace tilewright
