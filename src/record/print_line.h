// Lines to text: the writing half of record/line.h.
// print_line(parse_line(print_line(x))) == print_line(x), byte by byte.
#pragma once

#include <string>
#include <string_view>

#include "record/attempt.h"
#include "record/line.h"

namespace tilewright::record {

std::string print_line(const Line& line);                       // without a newline
void print_attempt(const Attempt& attempt, std::string* out);   // appends
void print_json_text(std::string_view text, std::string* out);  // appends a JSON string

// A text that is not UTF-8 (such as the output of a dying worker) is an object of its bytes in
// place of a string: {"hex":"ff00"}.
bool is_utf8(std::string_view text);
std::string hex_of(std::string_view bytes);

}  // namespace tilewright::record
