#include "runtime/host/model_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace tilewright::runtime {

void ModelLibrary::Close::operator()(void* handle) const { dlclose(handle); }

namespace {

// True if the file is shorter than its ELF headers say: the loader would map beyond its end, and
// the first access there would end the process. Files that are not ELF are rejected by the loader.
bool is_cut_short(const std::filesystem::path& so) {
  std::ifstream file(so, std::ios::binary | std::ios::ate);
  const auto size = static_cast<uint64_t>(std::max<int64_t>(0, file.tellg()));
  file.seekg(0);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header))) {
    return size > 0 && size < sizeof(header);
  }
  const bool known = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                     header.e_ident[EI_CLASS] == ELFCLASS64 &&
                     header.e_phentsize == sizeof(Elf64_Phdr);
  if (!known) return false;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int k = 0; k < header.e_phnum; ++k) {
    Elf64_Phdr part{};
    if (!file.read(reinterpret_cast<char*>(&part), sizeof(part))) return true;
    if (part.p_filesz > size || part.p_offset > size - part.p_filesz) return true;
  }
  return false;
}

}  // namespace

Result<ModelLibrary> ModelLibrary::open(const std::filesystem::path& so) {
  std::error_code error;
  if (std::filesystem::is_regular_file(so, error) && is_cut_short(so)) {
    return fail(ErrorKind::Io,
                fmt::format("cannot open {}: the file is cut short; compile the model again, or "
                            "copy it again",
                            so.string()));
  }
  // Without a '/', the loader would search its own folders.
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
    return fail(
        ErrorKind::BadInput,
        fmt::format("{} is not a compiled model: it has no symbol tilewright_model", so.string()),
        {}, {{"compile", "", "makes one"}});
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

}  // namespace tilewright::runtime
