// ModelLibrary: a compiled model, opened from its .so. Not thread-safe, except for instances
// created from its api.
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "runtime/abi/model_abi.h"

namespace tilewright::runtime {

class ModelLibrary {
 public:
  // An error of kind Io if it cannot be opened, BadInput if it is not a compiled model, Unsupported
  // if it has another version.
  static Result<ModelLibrary> open(const std::filesystem::path& so);

  // Valid as long as the library; destroy instances before it.
  const TilewrightModelApi& api() const { return *api_; }

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> handle_;
  const TilewrightModelApi* api_ = nullptr;
};

// One instance of a model. The deleter destroys it.
struct DestroyInstance {
  const TilewrightModelApi* api = nullptr;
  void operator()(TilewrightModel* model) const { api->destroy(model); }
};
using ModelInstance = std::unique_ptr<TilewrightModel, DestroyInstance>;
Result<ModelInstance> make_instance(const TilewrightModelApi& api,
                                    const TilewrightModelOptions& options);

}  // namespace tilewright::runtime
