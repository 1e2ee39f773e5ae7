// Compact forms of what repeats in every attempt: its trace and its samples. Both are lossless for
// every input, and stable: they are stored.
//
// Traces of one sketch differ in their factors only, so a trace is a template, which the store
// keeps once, and the numbers that stood in it. A number is a run of decimal digits that is not
// part of a name; each leaves one byte 0x01 behind:
//
//   split Y.write c [4, 16]   ->   split Y.write c [\1, \1]   and   4, 16 as varints
//
// Numbers with leading zeros or more than 18 digits stay in the template. A text that holds the
// bytes 0x01 or 0x02 itself is kept whole, behind a byte 0x02.
//
// Samples are one byte that says how, then: 8 bytes each, 4 bytes each where all of them are exact
// in f32, or differences as varints where all of them are integers. Little-endian.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::record {

struct CompactTrace {
  std::string shape;    // the template
  std::string numbers;  // varints

  bool operator==(const CompactTrace&) const = default;
};

// `compact` is overwritten; its memory is used again.
void compact_trace(std::string_view text, CompactTrace* compact);
// Empty when the two do not belong together: a damaged file.
std::optional<std::string> expand_trace(std::string_view shape, std::string_view numbers);

void compact_samples(std::span<const double> samples, std::string* bytes);
std::optional<std::vector<double>> expand_samples(std::string_view bytes);

}  // namespace tilewright::record
