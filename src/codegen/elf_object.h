// ElfObject: a relocatable ELF object of a 64-bit little-endian machine, with data: sections of
// bytes, pointers in them to symbols or section offsets, and large read-only blobs, which are
// written without a copy. The same calls give the same bytes. A value.
//
//   ElfObject object(linked_machine());
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

// The numbers of the ELF format that depend on the machine.
struct ElfMachine {
  uint16_t id = 0;          // e_machine
  uint32_t pointer = 0;     // relocation type: the address of a symbol, in eight bytes
  uint64_t large_flag = 0;  // section flag of a Blob
};

class ElfObject {
 public:
  explicit ElfObject(const ElfMachine& machine) : machine_(machine) {}

  enum class Kind : uint8_t {
    ReadOnly,
    Pointers,  // read-only once its pointers are relocated
    Blob,      // read-only, may be larger than 2 GB
    Code,      // symbols only: stubs for functions of other libraries
  };
  using Section = size_t;

  Section add_section(std::string name, Kind kind, int64_t alignment);
  // Returns the offset in the section, aligned as requested.
  int64_t append(Section section, const void* data, size_t bytes, int64_t alignment);
  int64_t append_text(Section section, std::string_view text);  // zero-terminated
  // Sets the content of the section. `bytes` outlive the object.
  void set_blob(Section section, std::span<const std::byte> bytes);

  // The eight bytes at `at` become the address of a symbol, or of an offset in a section.
  void point_to_symbol(Section section, int64_t at, const std::string& symbol, int64_t offset = 0);
  void point_to_place(Section section, int64_t at, Section target, int64_t offset);

  // Defines a global symbol. A hidden symbol is not visible outside the library that the object is
  // linked into.
  void define(const std::string& symbol, Section section, int64_t offset, int64_t bytes,
              bool hidden = false);

  Status write(const std::filesystem::path& path) const;

 private:
  struct Pointer {
    int64_t at = 0;
    size_t symbol = 0;   // index in `symbols_`, or
    size_t section = 0;  // index in `sections_` if `symbol` is kNoSymbol
    int64_t offset = 0;
  };
  struct SectionContent {
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

  ElfMachine machine_;
  std::vector<SectionContent> sections_;
  std::vector<Symbol> symbols_;
  std::map<std::string, size_t> by_name_;
};

}  // namespace tilewright::codegen
