#include "codegen/elf_object.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/descriptor.h"
#include "base/rounding.h"
#include "base/system_error.h"

namespace tilewright::codegen {
namespace {

uint64_t flags_of(ElfObject::Kind kind, const ElfMachine& machine) {
  switch (kind) {
    case ElfObject::Kind::ReadOnly:
      return SHF_ALLOC;
    case ElfObject::Kind::Pointers:
      return SHF_ALLOC | SHF_WRITE;
    case ElfObject::Kind::Blob:
      return SHF_ALLOC | machine.large_flag;
    default:
      return SHF_ALLOC | SHF_EXECINSTR;
  }
}

// Names, each followed by a zero; the empty one is at 0.
class StringTable {
 public:
  uint32_t add(std::string_view text) {
    const auto at = static_cast<uint32_t>(bytes_.size());
    bytes_.append(text).push_back('\0');
    return at;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
};

template <class T>
void append_struct(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

ElfObject::Section ElfObject::add_section(std::string name, Kind kind, int64_t alignment) {
  sections_.push_back({.name = std::move(name),
                       .kind = kind,
                       .alignment = alignment,
                       .bytes = {},
                       .blob = {},
                       .pointers = {}});
  return sections_.size() - 1;
}

int64_t ElfObject::append(Section section, const void* data, size_t bytes, int64_t alignment) {
  SectionContent& content = sections_[section];
  CHECK(content.kind != Kind::Blob && content.alignment % alignment == 0, "alignment {}",
        alignment);
  content.bytes.resize(
      static_cast<size_t>(round_up(static_cast<int64_t>(content.bytes.size()), alignment)), '\0');
  const auto at = static_cast<int64_t>(content.bytes.size());
  content.bytes.append(static_cast<const char*>(data), bytes);
  return at;
}

int64_t ElfObject::append_text(Section section, std::string_view text) {
  const std::string with_zero(text);
  return append(section, with_zero.c_str(), with_zero.size() + 1, 1);
}

void ElfObject::set_blob(Section section, std::span<const std::byte> bytes) {
  CHECK(sections_[section].kind == Kind::Blob, "not a blob");
  sections_[section].blob = bytes;
}

size_t ElfObject::symbol_index(const std::string& name) {
  const auto [found, added] = by_name_.emplace(name, symbols_.size());
  if (added) symbols_.push_back({.name = name});
  return found->second;
}

void ElfObject::point_to_symbol(Section section, int64_t at, const std::string& symbol,
                                int64_t offset) {
  sections_[section].pointers.push_back(
      {.at = at, .symbol = symbol_index(symbol), .section = 0, .offset = offset});
}

void ElfObject::point_to_place(Section section, int64_t at, Section target, int64_t offset) {
  sections_[section].pointers.push_back(
      {.at = at, .symbol = kNoSymbol, .section = target, .offset = offset});
}

void ElfObject::define(const std::string& symbol, Section section, int64_t offset, int64_t bytes,
                       bool hidden) {
  Symbol& entry = symbols_[symbol_index(symbol)];
  CHECK(!entry.defined, "symbol {} twice", symbol);
  entry.section = section;
  entry.offset = offset;
  entry.bytes = bytes;
  entry.defined = true;
  entry.hidden = hidden;
}

// Writes a file: header, sections, their relocations, symbols, names, section headers.
class ElfObjectWriter {
 public:
  explicit ElfObjectWriter(const ElfObject& object) : object_(object) {}

  Status write(const std::filesystem::path& path) {
    make_symbols();
    headers_.push_back({});
    for (const ElfObject::SectionContent& content : object_.sections_) add_section(content);
    for (size_t k = 0; k < object_.sections_.size(); ++k) add_relocations(k);
    add_tables();
    add_file_header();

    Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file) return failed(path);
    for (const Chunk& chunk : chunks_) {
      if (!write_at(file, chunk)) return failed(path);
    }
    return file.close() == 0 ? Status{} : failed(path);
  }

 private:
  struct Chunk {
    int64_t at = 0;
    std::string bytes;                // or
    std::span<const std::byte> blob;  // not owned
  };

  static std::unexpected<Error> failed(const std::filesystem::path& path) {
    const int code = errno;
    return system_error(fmt::format("{}: cannot be written", path.string()), code);
  }

  static bool write_at(const Descriptor& file, const Chunk& chunk) {
    const std::byte* data = chunk.blob.empty()
                                ? reinterpret_cast<const std::byte*>(chunk.bytes.data())
                                : chunk.blob.data();
    size_t left = chunk.blob.empty() ? chunk.bytes.size() : chunk.blob.size();
    int64_t at = chunk.at;
    while (left > 0) {
      const ssize_t done = pwrite(file.get(), data, left, at);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      data += done;
      at += done;
      left -= static_cast<size_t>(done);
    }
    return true;
  }

  uint64_t place(int64_t bytes, int64_t alignment) {
    end_ = round_up(end_, alignment);
    const int64_t at = end_;
    end_ += bytes;
    return static_cast<uint64_t>(at);
  }

  // Locals first, one per section; then the globals in the order of their definition.
  void make_symbols() {
    append_struct(symbols_, Elf64_Sym{});
    for (size_t k = 0; k < object_.sections_.size(); ++k) {
      Elf64_Sym symbol{};
      symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
      symbol.st_shndx = static_cast<uint16_t>(k + 1);
      append_struct(symbols_, symbol);
    }
    for (const ElfObject::Symbol& global : object_.symbols_) {
      Elf64_Sym symbol{};
      symbol.st_name = names_.add(global.name);
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
      if (global.defined) {
        const bool is_code = object_.sections_[global.section].kind == ElfObject::Kind::Code;
        symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, is_code ? STT_FUNC : STT_OBJECT);
        symbol.st_shndx = static_cast<uint16_t>(global.section + 1);
        symbol.st_value = static_cast<uint64_t>(global.offset);
        symbol.st_size = static_cast<uint64_t>(global.bytes);
      }
      if (global.hidden) symbol.st_other = STV_HIDDEN;
      append_struct(symbols_, symbol);
    }
  }

  void add_section(const ElfObject::SectionContent& content) {
    Elf64_Shdr header{};
    header.sh_name = section_names_.add(content.name);
    header.sh_type = SHT_PROGBITS;
    header.sh_flags = flags_of(content.kind, object_.machine_);
    header.sh_offset = place(content.size(), content.alignment);
    header.sh_size = static_cast<uint64_t>(content.size());
    header.sh_addralign = static_cast<uint64_t>(content.alignment);
    headers_.push_back(header);
    chunks_.push_back({.at = static_cast<int64_t>(header.sh_offset),
                       .bytes = content.kind == ElfObject::Kind::Blob ? "" : content.bytes,
                       .blob = content.blob});
  }

  void add_relocations(size_t section) {
    const ElfObject::SectionContent& content = object_.sections_[section];
    if (content.pointers.empty()) return;
    std::string bytes;
    for (const ElfObject::Pointer& pointer : content.pointers) {
      const size_t symbol = pointer.symbol == ElfObject::kNoSymbol
                                ? 1 + pointer.section
                                : 1 + object_.sections_.size() + pointer.symbol;
      append_struct(bytes, Elf64_Rela{.r_offset = static_cast<uint64_t>(pointer.at),
                                      .r_info = ELF64_R_INFO(symbol, object_.machine_.pointer),
                                      .r_addend = pointer.offset});
    }
    Elf64_Shdr header{};
    header.sh_name = section_names_.add(".rela" + content.name);
    header.sh_type = SHT_RELA;
    header.sh_flags = SHF_INFO_LINK;
    header.sh_info = static_cast<uint32_t>(section + 1);
    header.sh_link = symbol_section();
    header.sh_entsize = sizeof(Elf64_Rela);
    add_table(header, std::move(bytes));
  }

  void add_tables() {
    Elf64_Shdr symbols{};
    symbols.sh_name = section_names_.add(".symtab");
    symbols.sh_type = SHT_SYMTAB;
    symbols.sh_link = symbol_section() + 1;
    symbols.sh_info = static_cast<uint32_t>(1 + object_.sections_.size());  // the first global
    symbols.sh_entsize = sizeof(Elf64_Sym);
    add_table(symbols, symbols_);
    Elf64_Shdr names{};
    names.sh_name = section_names_.add(".strtab");
    names.sh_type = SHT_STRTAB;
    add_table(names, names_.bytes());
    Elf64_Shdr stack{};  // marks the stack as not executable
    stack.sh_name = section_names_.add(".note.GNU-stack");
    stack.sh_type = SHT_PROGBITS;
    add_table(stack, {});
    Elf64_Shdr section_names{};
    section_names.sh_name = section_names_.add(".shstrtab");
    section_names.sh_type = SHT_STRTAB;
    add_table(section_names, section_names_.bytes());
  }

  void add_table(Elf64_Shdr header, std::string bytes) {
    header.sh_offset = place(static_cast<int64_t>(bytes.size()), 8);
    header.sh_size = bytes.size();
    header.sh_addralign = header.sh_entsize != 0 ? 8 : 1;
    headers_.push_back(header);
    chunks_.push_back(
        {.at = static_cast<int64_t>(header.sh_offset), .bytes = std::move(bytes), .blob = {}});
  }

  // After the sections and their relocations.
  uint32_t symbol_section() const {
    size_t index = 1 + object_.sections_.size();
    for (const ElfObject::SectionContent& content : object_.sections_)
      index += content.pointers.empty() ? 0 : 1;
    return static_cast<uint32_t>(index);
  }

  void add_file_header() {
    std::string table;
    for (const Elf64_Shdr& header : headers_) append_struct(table, header);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = object_.machine_.id;
    header.e_version = EV_CURRENT;
    header.e_shoff = place(static_cast<int64_t>(table.size()), 8);
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(headers_.size());
    header.e_shstrndx = static_cast<uint16_t>(headers_.size() - 1);
    chunks_.push_back(
        {.at = static_cast<int64_t>(header.e_shoff), .bytes = std::move(table), .blob = {}});
    std::string first;
    append_struct(first, header);
    chunks_.push_back({.at = 0, .bytes = std::move(first), .blob = {}});
  }

  const ElfObject& object_;
  StringTable names_;
  StringTable section_names_;
  std::string symbols_;
  std::vector<Elf64_Shdr> headers_;
  std::vector<Chunk> chunks_;
  int64_t end_ = sizeof(Elf64_Ehdr);
};

Status ElfObject::write(const std::filesystem::path& path) const {
  return ElfObjectWriter(*this).write(path);
}

}  // namespace tilewright::codegen
