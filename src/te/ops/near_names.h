// "Did you mean": the known names nearest to a mistyped one, for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::te {

// Insertions, deletions, replacements and swaps of neighbors that turn a into b, case ignored.
int edit_distance(std::string_view a, std::string_view b);

// Up to `limit` of `known`, nearest first, none further than about a third of its length; names
// that begin with `name` count as near.
std::vector<std::string> near_names(std::string_view name, std::span<const std::string> known,
                                    size_t limit = 3);

// "; did you mean X or Y?" or nothing, to end a message with.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace tilewright::te
