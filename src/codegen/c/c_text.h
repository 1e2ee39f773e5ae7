// CText: the text of one C function under construction: lines, indentation, and unused names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tilewright::codegen {

class CText {
 public:
  CText();  // keywords and names of the ABI are reserved
  // Another function, in which the names of `outer` are reserved too.
  static CText within(const CText& outer);

  const std::string& text() const { return text_; }
  bool has_name(const std::string& name) const { return names_.contains(name); }

  void line(std::string_view text);
  void append(std::string_view text) { text_ += text; }  // lines written by `apart`
  // A valid C name that no other variable of the function has: `i.0` -> `i_0`.
  std::string fresh(std::string_view name);
  void indent() { ++depth_; }
  void outdent() { --depth_; }
  // Writes a block in braces; names defined in it are released at its end.
  void block(const std::function<void()>& write);
  // The text that `write` produces, to be appended later.
  std::string apart(const std::function<void()>& write);

 private:
  std::string text_;
  size_t depth_ = 1;                       // indentation
  std::unordered_set<std::string> names_;  // in use
  std::vector<std::string> block_names_;   // names of the enclosing blocks, outermost first
  int temporaries_ = 0;
};

// True if `name` occurs in the text as a whole word.
bool has_word(std::string_view text, std::string_view name);

}  // namespace tilewright::codegen
