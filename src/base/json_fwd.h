// The name of Json without its definition: for headers that only mention it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tilewright {

// Objects keep the order of insertion, so what we write reads as it was written.
using Json = nlohmann::ordered_json;

}  // namespace tilewright
