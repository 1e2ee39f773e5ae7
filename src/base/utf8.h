// UTF-8 text from untrusted sources. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewright {

// The text with '?' for each byte that is not UTF-8 and for the code points that XML forbids
// (U+FFFE, U+FFFF), and a space for each control character.
std::string clean_utf8(std::string_view text);

// The number of code points of clean text.
size_t code_point_count(std::string_view text);
// At most `limit` code points of clean text. A truncated text ends with '~'.
std::string first_code_points(std::string_view text, size_t limit);

}  // namespace tilewright
