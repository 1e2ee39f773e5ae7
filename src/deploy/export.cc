#include "deploy/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/atomic_file.h"
#include "codegen/llvm/link.h"
#include "deploy/data_object.h"
#include "deploy/export_parts.h"
#include "deploy/model_header.h"
#include "deploy/runtime_text.h"
#include "deploy/table.h"

namespace tilewright::deploy {
namespace {

namespace fs = std::filesystem;

// Writes of whole huge pages stay huge pages in the page cache, if the file system supports them.
constexpr size_t kFirstWrite = size_t{2} << 20;
constexpr size_t kWeightsOffset = TILEWRIGHT_WEIGHTS_OFFSET;
// Kernels call tilewright_kernel_parallel_for of the runtime in its place
// (deploy/tilewright_runtime.c.in).
const std::vector<std::string> kWrapped = {"tilewright_parallel_for"};

// Kernels, data and runtime; `data` is one of them. An error if a kernel is not a linkable object.
Result<std::vector<codegen::LinkInput>> link_inputs(const Program& program,
                                                    const codegen::ElfObject& data) {
  std::vector<codegen::LinkInput> inputs;
  inputs.reserve(program.kernels.size() + 2);
  for (const ProgramKernel& kernel : program.kernels) {
    if (kernel.artifact.kind != runtime::kElfArtifact) {
      return fail(ErrorKind::Unsupported,
                  fmt::format("kernel '{}' is of kind '{}', which cannot be linked", kernel.title,
                              kernel.artifact.kind));
    }
    inputs.push_back({.bytes = kernel.artifact.bytes, .data = nullptr});
  }
  inputs.push_back({.bytes = {}, .data = &data});
  inputs.push_back({.bytes = runtime_object(), .data = nullptr});
  return inputs;
}

}  // namespace

Status check_linkable(const codegen::BackEnd& back_end) {
  if (back_end.loader->kind == runtime::kElfArtifact) return {};
  return fail(ErrorKind::Unsupported,
              fmt::format("the back end {} makes artifacts of kind '{}'; a library is linked from "
                          "those of kind '{}'",
                          back_end.name, back_end.loader->kind, runtime::kElfArtifact));
}

Status Companions::add_weights(const Program& program, const fs::path& main) {
  const fs::path path = fs::path(main).replace_extension(".weights");
  AtomicFile file = TRY(AtomicFile::create(path));
  const Hash128 hash = hash_of_constants(program);
  TilewrightWeightsHeader header{};
  std::memcpy(header.magic, TILEWRIGHT_WEIGHTS_MAGIC, sizeof(header.magic));
  header.version = 1;
  header.bytes = static_cast<uint64_t>(program.constants.size());
  header.hash[0] = hash.high;
  header.hash[1] = hash.low;
  const std::span bytes(program.constants.as<const std::byte>(),
                        static_cast<size_t>(program.constants.size()));
  const std::span begin = bytes.first(std::min(bytes.size(), kFirstWrite - kWeightsOffset));
  std::vector<std::byte> first(kWeightsOffset);
  std::memcpy(first.data(), &header, sizeof(header));
  first.insert(first.end(), begin.begin(), begin.end());
  file.append(first);
  file.append(bytes.subspan(begin.size()));
  parts_.push_back(std::move(file));
  weights_file_ = path.filename().string();
  return parts_.back().close();
}

Status Companions::add_header(const Program& program, const fs::path& main) {
  const fs::path path = fs::path(main).replace_extension(".h");
  AtomicFile file = TRY(AtomicFile::create(path));
  file.append(model_header(program, path.filename().string()));
  parts_.push_back(std::move(file));
  return parts_.back().close();
}

Status Companions::finish() {
  for (AtomicFile& part : parts_) {
    TRY(part.finish());
  }
  return {};
}

Status export_shared(const Program& program, const fs::path& so, const ExportOptions& options) {
  const std::string own_name = program.name + "_model";
  Companions companions;
  if (options.external_weights) {
    TRY(companions.add_weights(program, so));
  }
  DataObjectOptions data_options{.symbols = {"tilewright_model"},
                                 .weights_file = companions.weights_file(),
                                 .huge_pages = true};
  if (own_name != data_options.symbols.front()) data_options.symbols.push_back(own_name);
  const codegen::ElfObject data = data_object(program, data_options);
  const Status linked = codegen::link_shared(
      TRY(link_inputs(program, data)),
      {.soname = {}, .exported = data_options.symbols, .wrapped = kWrapped}, so);
  return linked ? companions.finish() : linked;
}

Status export_object(const Program& program, const fs::path& o, const ExportOptions& options) {
  Companions companions;
  if (options.external_weights) {
    TRY(companions.add_weights(program, o));
  }
  TRY(companions.add_header(program, o));
  const codegen::ElfObject data = data_object(program, {.symbols = {program.name + "_model"},
                                                        .weights_file = companions.weights_file(),
                                                        .huge_pages = false});
  const Status linked = codegen::link_relocatable(TRY(link_inputs(program, data)), o, kWrapped);
  return linked ? companions.finish() : linked;
}

}  // namespace tilewright::deploy
