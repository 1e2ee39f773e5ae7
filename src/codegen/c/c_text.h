// CText: the text of one C function while it is written: lines, indentation, and names that are
// free.
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
  CText();  // words of the language and of the ABI are taken
  // Another function, in which the names of `outer` are taken too.
  static CText within(const CText& outer);

  const std::string& text() const { return text_; }
  bool has_name(const std::string& name) const { return names_.contains(name); }

  void line(std::string_view text);
  void append(std::string_view text) { text_ += text; }  // lines that were written apart
  // A name that C takes and that no other variable of the function has: `i.0` -> `i_0`.
  std::string fresh(std::string_view name);
  void indent() { ++depth_; }
  void outdent() { --depth_; }
  // The lines between a pair of braces; names given there are free again afterwards.
  void block(const std::function<void()>& write);
  // What `write` writes, which is yet to be put somewhere.
  std::string apart(const std::function<void()>& write);

 private:
  std::string text_;
  size_t depth_ = 1;                       // of indentation
  std::unordered_set<std::string> names_;  // taken
  std::vector<std::string> block_names_;   // those of the blocks around, outermost first
  int temporaries_ = 0;
};

// Whether the text has that name as a word of its own.
bool has_word(std::string_view text, std::string_view name);

}  // namespace tilewright::codegen
