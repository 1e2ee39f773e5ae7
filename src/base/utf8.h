// Text from outside that is to be UTF-8, and may not be. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewright {

// The text with a '?' for each byte that is no part of UTF-8, and for what XML may not hold
// (U+FFFE, U+FFFF); a blank for control characters.
std::string clean_utf8(std::string_view text);

// Of clean text: how many letters (code points) it has.
size_t code_point_count(std::string_view text);
// At most `most` letters of clean text; where it has more, the last of them is '~'.
std::string first_letters(std::string_view text, size_t most);

}  // namespace tilewright
