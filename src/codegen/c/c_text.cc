#include "codegen/c/c_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "codegen/c/c_type.h"

namespace tilewright::codegen {
namespace {

// Names that a variable must not have: keywords, and macros of common compilers.
constexpr std::array kTaken = {
    "alignas", "alignof",  "asm",      "constexpr", "nullptr",  "static_assert", "thread_local",
    "auto",    "bool",     "break",    "case",      "char",     "const",         "continue",
    "default", "do",       "double",   "else",      "enum",     "extern",        "false",
    "float",   "for",      "goto",     "if",        "inline",   "int",           "linux",
    "long",    "register", "restrict", "return",    "short",    "signed",        "sizeof",
    "static",  "struct",   "switch",   "true",      "typedef",  "typeof",        "union",
    "unix",    "unsigned", "void",     "volatile",  "while",    "workspace",     "worker",
    "pool",    "threads",  "call",     "context",   "captured",
};

// Names of types, macros, helpers and kernels.
constexpr std::string_view kTakenBeginnings[] = {"int", "uint", "INT",        "UINT",
                                                 "tw_", "TW_",  "tilewright", "TILEWRIGHT"};
constexpr std::string_view kTemporary = "t";  // numbered

bool continues_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

bool has_word(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool starts = at == 0 || !continues_word(text[at - 1]);
    if (starts && (end == text.size() || !continues_word(text[end]))) return true;
  }
  return false;
}

CText::CText() : names_(kTaken.begin(), kTaken.end()) {}

CText CText::within(const CText& outer) {
  CText text;
  text.names_ = outer.names_;
  return text;
}

void CText::line(std::string_view text) {
  text_.append(2 * depth_, ' ');
  text_ += text;
  text_ += '\n';
}

std::string CText::fresh(std::string_view name) {
  std::string base = c_name(name);
  const bool starts_well = !base.empty() && std::isalpha(static_cast<unsigned char>(base[0])) != 0;
  const bool is_ours = std::ranges::any_of(
      kTakenBeginnings, [&](std::string_view beginning) { return base.starts_with(beginning); });
  if (!starts_well || is_ours) base = "v" + base;
  std::string candidate = base;
  if (base == kTemporary) {
    do {
      candidate = fmt::format("{}{}", base, temporaries_++);
    } while (names_.contains(candidate));
  } else {
    for (int k = 1; names_.contains(candidate); ++k) {
      candidate = fmt::format("{}_{}", base, k);
    }
  }
  names_.insert(candidate);
  block_names_.push_back(candidate);
  return candidate;
}

void CText::block(const std::function<void()>& write) {
  const size_t names = block_names_.size();
  const int temporaries = temporaries_;
  ++depth_;
  write();
  --depth_;
  while (block_names_.size() > names) {
    names_.erase(block_names_.back());
    block_names_.pop_back();
  }
  temporaries_ = temporaries;
}

std::string CText::apart(const std::function<void()>& write) {
  std::string outside = std::exchange(text_, {});
  write();
  return std::exchange(text_, std::move(outside));
}

}  // namespace tilewright::codegen
