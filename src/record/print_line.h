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

}  // namespace tilewright::record
