#include "deploy/data_object.h"

#include <cstddef>

#include "codegen/llvm/link.h"
#include "deploy/table.h"

namespace tilewright::deploy {
namespace {

using codegen::ElfObject;

constexpr int64_t kPage = 4096;
constexpr int64_t kHugePage = int64_t{2} << 20;

// Structs are written as they are in memory, with pointers that the linker fills in.
class DataObject {
 public:
  DataObject(const Program& program, const DataObjectOptions& options)
      : program_(program),
        options_(options),
        object_(codegen::linked_machine()),
        pointers_(object_.add_section(".data.rel.ro", ElfObject::Kind::Pointers, 64)),
        plain_(object_.add_section(".rodata", ElfObject::Kind::ReadOnly, 64)) {}

  ElfObject make() {
    const int64_t at = put(plain_api(program_));
    point_text(at + field(&TilewrightModelApi::name), program_.name);
    point(at + field(&TilewrightModelApi::inputs), infos(program_.inputs));
    point(at + field(&TilewrightModelApi::outputs), infos(program_.outputs));
    point(at + field(&TilewrightModelApi::step_titles), titles());
    point(at + field(&TilewrightModelApi::table), table());
    refer(at + field(&TilewrightModelApi::create), "tilewright_model_create");
    refer(at + field(&TilewrightModelApi::destroy), "tilewright_model_destroy");
    refer(at + field(&TilewrightModelApi::error), "tilewright_model_error");
    refer(at + field(&TilewrightModelApi::run), "tilewright_model_run");
    refer(at + field(&TilewrightModelApi::run_dlpack), "tilewright_model_run_dlpack");
    refer(at + field(&TilewrightModelApi::run_timed), "tilewright_model_run_timed");
    refer(at + field(&TilewrightModelApi::memory), "tilewright_model_memory");
    for (const std::string& symbol : options_.symbols) {
      object_.define(symbol, pointers_, at, sizeof(TilewrightModelApi));
    }
    return std::move(object_);
  }

 private:
  template <class Struct, class Member>
  static int64_t field(Member Struct::* member) {
    static const Struct sample{};
    return reinterpret_cast<const char*>(&(sample.*member)) -
           reinterpret_cast<const char*>(&sample);
  }

  template <class T>
  int64_t put(const T& value) {
    return object_.append(pointers_, &value, sizeof(value), alignof(T));
  }
  template <class T>
  int64_t put_plain(const std::vector<T>& values) {
    return object_.append(plain_, values.data(), values.size() * sizeof(T), alignof(T));
  }
  void point(int64_t at, int64_t to) { object_.point_to_place(pointers_, at, pointers_, to); }
  void point_plain(int64_t at, int64_t to) { object_.point_to_place(pointers_, at, plain_, to); }
  void point_text(int64_t at, const std::string& text) {
    point_plain(at, object_.append_text(plain_, text));
  }
  void refer(int64_t at, const std::string& symbol) {
    object_.point_to_symbol(pointers_, at, symbol);
  }

  int64_t infos(const std::vector<ProgramTensor>& tensors) {
    std::vector<TilewrightTensorInfo> rows;
    rows.reserve(tensors.size());
    for (const ProgramTensor& tensor : tensors) rows.push_back(plain_info(tensor));
    const int64_t at = object_.append(pointers_, rows.data(), rows.size() * sizeof(rows[0]), 8);
    for (size_t k = 0; k < tensors.size(); ++k) {
      const int64_t row = at + static_cast<int64_t>(k * sizeof(TilewrightTensorInfo));
      point_text(row + field(&TilewrightTensorInfo::name), tensors[k].name);
      point_plain(row + field(&TilewrightTensorInfo::shape), put_plain(tensors[k].type.shape));
    }
    return at;
  }

  int64_t titles() {
    const std::vector<uint64_t> rows(program_.steps.size());  // placeholders for pointers
    const int64_t at = object_.append(pointers_, rows.data(), rows.size() * sizeof(rows[0]), 8);
    for (size_t k = 0; k < rows.size(); ++k) {
      point_text(at + static_cast<int64_t>(k * sizeof(rows[0])), program_.steps[k].title);
    }
    return at;
  }

  int64_t kernels() {
    std::vector<TilewrightTableKernel> rows;
    rows.reserve(program_.kernels.size());
    for (const ProgramKernel& kernel : program_.kernels) {
      rows.push_back({.function = nullptr,
                      .shared_workspace = kernel.artifact.shared_workspace,
                      .thread_workspace = kernel.artifact.thread_workspace,
                      .tuned_ns = kernel.tuned_ns});
    }
    const int64_t at = object_.append(pointers_, rows.data(), rows.size() * sizeof(rows[0]), 8);
    for (size_t k = 0; k < rows.size(); ++k) {
      refer(
          at + static_cast<int64_t>(k * sizeof(rows[0])) + field(&TilewrightTableKernel::function),
          program_.kernels[k].artifact.entry);
    }
    return at;
  }

  int64_t table() {
    const TableRows rows = table_rows(program_);
    TilewrightModelTable table = plain_table(program_, rows);
    const bool external = !options_.weights_file.empty();
    if (external) {
      const Hash128 hash = hash_of_constants(program_);
      table.weights_hash[0] = hash.high;
      table.weights_hash[1] = hash.low;
    }
    const int64_t at = put(table);
    point_text(at + field(&TilewrightModelTable::cpu_features), needed_features(program_.target));
    point(at + field(&TilewrightModelTable::kernels), kernels());
    point_plain(at + field(&TilewrightModelTable::steps), put_plain(rows.steps));
    point_plain(at + field(&TilewrightModelTable::arguments), put_plain(rows.arguments));
    point_plain(at + field(&TilewrightModelTable::facts), put_plain(rows.facts));
    if (external) {
      point_text(at + field(&TilewrightModelTable::weights_file), options_.weights_file);
    } else if (program_.constants.size() > 0) {
      const bool huge = options_.huge_pages && program_.constants.size() >= kHugePage;
      const ElfObject::Section blob =
          object_.add_section(".lrodata", ElfObject::Kind::Blob, huge ? kHugePage : kPage);
      object_.set_blob(blob, {program_.constants.as<const std::byte>(),
                              static_cast<size_t>(program_.constants.size())});
      object_.point_to_place(pointers_, at + field(&TilewrightModelTable::constants), blob, 0);
    }
    return at;
  }

  const Program& program_;
  const DataObjectOptions& options_;
  ElfObject object_;
  ElfObject::Section pointers_;
  ElfObject::Section plain_;
};

}  // namespace

codegen::ElfObject data_object(const Program& program, const DataObjectOptions& options) {
  return DataObject(program, options).make();
}

}  // namespace tilewright::deploy
