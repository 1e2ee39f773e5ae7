// Compact encodings of the traces and samples of attempts. Both are lossless for every input, and
// stable, because they are stored.
//
// Traces of one sketch differ only in their factors. A trace is therefore stored as a template,
// which the store keeps once, and the numbers in it. A number is a run of decimal digits that is
// not part of a name; each is replaced by one byte 0x01:
//
//   split Y.write c [4, 16]   ->   split Y.write c [\1, \1]   and   4, 16 as varints
//
// Numbers with leading zeros or more than 18 digits stay in the template. A text that contains the
// bytes 0x01 or 0x02 is stored unchanged, after a byte 0x02.
//
// Samples are one byte for the format, followed by 8 bytes each; or 4 bytes each if all are exact
// in f32; or differences as varints if all are integers. Little-endian.
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

// Overwrites `compact` and reuses its memory.
void compact_trace(std::string_view text, CompactTrace* compact);
// Empty if the two do not match: a damaged file.
std::optional<std::string> expand_trace(std::string_view shape, std::string_view numbers);

void compact_samples(std::span<const double> samples, std::string* bytes);
std::optional<std::vector<double>> expand_samples(std::string_view bytes);

}  // namespace tilewright::record
