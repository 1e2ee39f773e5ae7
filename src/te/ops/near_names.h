// "Did you mean": the known names nearest to a mistyped one, for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::te {

// The edit distance of a and b, ignoring case: insertions, deletions, substitutions and
// transpositions of adjacent letters.
int edit_distance(std::string_view a, std::string_view b);

// Up to `limit` names of `known`, nearest first, within about a third of their length. Names that
// begin with `name` count as near.
std::vector<std::string> near_names(std::string_view name, std::span<const std::string> known,
                                    size_t limit = 3);

// "; did you mean X or Y?", or nothing, as the end of a message.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace tilewright::te
