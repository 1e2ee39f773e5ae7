// A forward declaration of Json, for headers that only name it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tilewright {

// Objects keep the order of insertion.
using Json = nlohmann::ordered_json;

}  // namespace tilewright
