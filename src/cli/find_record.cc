#include "cli/find_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace tilewright::cli {
namespace {

constexpr size_t kListed = 8;  // of those that an ambiguous beginning may mean
constexpr size_t kDigits = 32;

bool is_prefix(std::string_view text) {
  return !text.empty() && text.size() <= kDigits &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

}  // namespace

Result<record::Attempt> find_attempt(record::Store& store, std::string_view prefix) {
  if (!is_prefix(prefix)) {
    return fail(ErrorKind::BadInput,
                fmt::format("'{}' is no id: those have {} hexadecimal digits, of which the first "
                            "few are enough",
                            prefix.substr(0, 2 * kDigits), kDigits));
  }
  std::string digits(prefix);
  std::ranges::transform(digits, digits.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const Result<std::vector<Hash128>> ids = store.attempts_beginning(digits, kListed + 1);
  if (!ids) return std::unexpected(ids.error());
  if (ids->empty()) {
    return fail(ErrorKind::BadInput, fmt::format("no attempt's id begins with {}", prefix));
  }
  if (ids->size() > 1) {
    std::string list;
    for (size_t k = 0; k < std::min(ids->size(), kListed); ++k) list += "\n  " + (*ids)[k].hex();
    if (ids->size() > kListed) list += "\n  ...";
    return fail(
        ErrorKind::BadInput,
        fmt::format("several attempts' ids begin with {}; say more of it:{}", prefix, list));
  }
  Result<std::optional<record::Attempt>> attempt = store.find_attempt(ids->front());
  if (!attempt) return std::unexpected(attempt.error());
  if (!*attempt) return fail(ErrorKind::Io, "the attempt cannot be read: " + ids->front().hex());
  return std::move(**attempt);
}

}  // namespace tilewright::cli
