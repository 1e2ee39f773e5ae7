// ElfObject: a relocatable x86-64 ELF object that holds data: sections of bytes, pointers in them
// to symbols or to other places, and large read-only blobs, which are written from where they lie.
// The same calls give the same bytes. A value.
//
//   ElfObject object;
//   const auto data = object.add_section(".data.rel.ro", ElfObject::Kind::Pointers, 16);
//   const int64_t at = object.append(data, &row, sizeof(row), 8);
//   object.point_to_symbol(data, at + offsetof(Row, function), "kernel_1");
//   object.define("rows", data, at, sizeof(row));
//   object.write(path)
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tilewright::codegen {

class ElfObject {
 public:
  enum class Kind : uint8_t {
    ReadOnly,
    Pointers,  // read-only once its pointers are relocated
    Blob,      // read-only, may be larger than 2 GB
    Code,      // for symbols only: what stands for functions of other libraries
  };
  using Section = size_t;

  Section add_section(std::string name, Kind kind, int64_t alignment);
  // The offset in the section; what is put there is aligned.
  int64_t append(Section section, const void* data, size_t bytes, int64_t alignment);
  int64_t append_text(Section section, std::string_view text);  // with a zero behind it
  // The section's bytes are these, which outlive the object.
  void set_blob(Section section, std::span<const std::byte> bytes);

  // Eight bytes at `at` become the address of a symbol, or of a place in a section.
  void point_to_symbol(Section section, int64_t at, const std::string& symbol, int64_t offset = 0);
  void point_to_place(Section section, int64_t at, Section target, int64_t offset);

  // A global symbol; hidden ones are not seen outside of the library that the object is linked to.
  void define(const std::string& symbol, Section section, int64_t offset, int64_t bytes,
              bool hidden = false);

  Status write(const std::filesystem::path& path) const;

 private:
  struct Pointer {
    int64_t at = 0;
    size_t symbol = 0;   // in `symbols_`, or
    size_t section = 0;  // in `sections_` where `symbol` is kNoSymbol
    int64_t offset = 0;
  };
  struct Part {
    std::string name;
    Kind kind = Kind::ReadOnly;
    int64_t alignment = 1;
    std::string bytes;
    std::span<const std::byte> blob;
    std::vector<Pointer> pointers;

    int64_t size() const {
      return static_cast<int64_t>(kind == Kind::Blob ? blob.size() : bytes.size());
    }
  };
  struct Symbol {
    std::string name;
    size_t section = 0;
    int64_t offset = 0;
    int64_t bytes = 0;
    bool defined = false;
    bool hidden = false;
  };
  static constexpr size_t kNoSymbol = static_cast<size_t>(-1);
  friend class ElfObjectWriter;

  size_t symbol_index(const std::string& name);

  std::vector<Part> sections_;
  std::vector<Symbol> symbols_;
  std::map<std::string, size_t> by_name_;
};

}  // namespace tilewright::codegen
