#include "deploy/model_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tilewright::deploy {

void ModelLibrary::Close::operator()(void* handle) const { dlclose(handle); }

Result<ModelLibrary> ModelLibrary::open(const std::filesystem::path& so) {
  // Without a '/' the loader would look in its own folders.
  const std::string path = so.has_parent_path() ? so.string() : "./" + so.string();
  ModelLibrary library;
  library.handle_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library.handle_ == nullptr) {
    const char* reason = dlerror();
    return fail(ErrorKind::Io, fmt::format("cannot open {}: {}", so.string(),
                                           reason != nullptr ? reason : "no reason given"));
  }
  library.api_ =
      static_cast<const TilewrightModelApi*>(dlsym(library.handle_.get(), "tilewright_model"));
  if (library.api_ == nullptr) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} is no compiled model: it has no symbol tilewright_model; make one "
                            "with `tilewright compile`",
                            so.string()));
  }
  if (library.api_->version != TILEWRIGHT_MODEL_VERSION) {
    return fail(ErrorKind::Unsupported,
                fmt::format("{} is a compiled model of version {}, this is version {}; compile it "
                            "again",
                            so.string(), library.api_->version, TILEWRIGHT_MODEL_VERSION));
  }
  return library;
}

Result<ModelInstance> make_instance(const TilewrightModelApi& api,
                                    const TilewrightModelOptions& options) {
  TilewrightModel* model = nullptr;
  const int32_t code = api.create(&api, &options, &model);
  if (code == TILEWRIGHT_MODEL_OK) return ModelInstance(model, DestroyInstance{&api});
  const ErrorKind kind = code == TILEWRIGHT_MODEL_WRONG_CPU      ? ErrorKind::Unsupported
                         : code == TILEWRIGHT_MODEL_BAD_ARGUMENT ? ErrorKind::BadInput
                                                                 : ErrorKind::Io;
  return fail(kind, api.error(nullptr));
}

}  // namespace tilewright::deploy
