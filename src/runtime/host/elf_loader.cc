#include "runtime/host/elf_loader.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "base/rounding.h"

namespace tilewright::runtime {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxBytes = uint64_t{256} << 20;  // limit of the mapping; a kernel is smaller
constexpr uint64_t kStubBytes = 16;                  // jmp *offset(%rip), padded
constexpr uint64_t kSlotBytes = 8;

enum Segment { Text, Constants, Data, Segments };

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorKind::Build, "object file: " + std::move(message));
}

}  // namespace

// Loads one object; the steps of `load` in order. Offsets are from the start of the mapping.
class ElfLoader {
 public:
  ElfLoader(std::span<const uint8_t> elf, std::span<const ExternalSymbol> externals)
      : elf_(elf), externals_(externals) {}

  Result<LoadedObject> load() {
    for (Status (ElfLoader::*step)() :
         {&ElfLoader::read_headers, &ElfLoader::read_symbols, &ElfLoader::lay_out, &ElfLoader::map,
          &ElfLoader::relocate, &ElfLoader::protect}) {
      TRY((this->*step)());
    }
    return std::move(object_);
  }

 private:
  struct MappedSection {  // where a section is in the mapping
    bool loaded = false;
    Segment segment = Text;
    uint64_t offset = 0;
  };
  struct Symbol {
    enum Kind { Absent, Inside, Absolute, Outside } kind = Absent;
    std::string_view name;
    uint64_t value = 0;      // Inside: offset in the mapping; else an address
    size_t slot = SIZE_MAX;  // index in the table of addresses, once one is needed
    uint16_t section = 0;
  };

  Status read_headers();
  Status read_symbols();
  Status lay_out();
  Status map();
  Status relocate();
  Status relocate_section(const Elf64_Shdr& header);
  Status relocate_one(const Elf64_Rela& rela, const Elf64_Shdr& target, const MappedSection& at);
  Status protect();

  bool in_file(uint64_t offset, uint64_t size) const {
    return offset <= elf_.size() && size <= elf_.size() - offset;
  }
  template <class T>
  T read(uint64_t offset) const {  // the caller has checked in_file
    T value;
    std::memcpy(&value, elf_.data() + offset, sizeof(T));
    return value;
  }
  std::optional<std::string_view> string_at(const Elf64_Shdr& table, uint64_t offset) const;
  uint64_t address_of(uint64_t offset) const {
    return reinterpret_cast<uint64_t>(object_.base_) + offset;
  }
  uint64_t slot_address(const Symbol& symbol) const {
    return address_of(table_ + symbol.slot * kSlotBytes);
  }
  uint64_t stub_address(const Symbol& symbol) const {
    return address_of(stubs_ + symbol.slot * kStubBytes);
  }
  uint64_t symbol_address(const Symbol& symbol) const {
    return symbol.kind == Symbol::Inside ? address_of(symbol.value) : symbol.value;
  }

  std::span<const uint8_t> elf_;
  std::span<const ExternalSymbol> externals_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<MappedSection> mapped_;
  std::vector<Symbol> symbols_;
  std::vector<size_t> slots_;  // symbol of each slot
  uint16_t symbol_section_ = 0;
  uint64_t segment_begin_[Segments + 1] = {};
  uint64_t stubs_ = 0;
  uint64_t table_ = 0;
  LoadedObject object_;
};

Status ElfLoader::read_headers() {
  if (!in_file(0, sizeof(Elf64_Ehdr))) return bad("shorter than its header");
  const auto header = read<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL ||
      header.e_machine != EM_X86_64) {
    return bad("not a relocatable x86-64 ELF object");
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 ||
      !in_file(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) {
    return bad("section headers outside the file");
  }
  for (uint16_t k = 0; k < header.e_shnum; ++k) {
    const auto section = read<Elf64_Shdr>(header.e_shoff + k * sizeof(Elf64_Shdr));
    const bool in_memory_only = section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL;
    if (!in_memory_only && !in_file(section.sh_offset, section.sh_size)) {
      return bad("section " + std::to_string(k) + " outside the file");
    }
    if (section.sh_type == SHT_SYMTAB) {
      if (symbol_section_ != 0) return bad("two symbol tables");
      symbol_section_ = k;
    }
    sections_.push_back(section);
  }
  if (symbol_section_ == 0) return bad("no symbol table");
  return {};
}

std::optional<std::string_view> ElfLoader::string_at(const Elf64_Shdr& table,
                                                     uint64_t offset) const {
  if (table.sh_type != SHT_STRTAB || offset >= table.sh_size) return std::nullopt;
  const auto* begin = reinterpret_cast<const char*>(elf_.data() + table.sh_offset + offset);
  const void* end = std::memchr(begin, 0, table.sh_size - offset);
  if (end == nullptr) return std::nullopt;
  return std::string_view(begin, static_cast<const char*>(end));
}

Status ElfLoader::read_symbols() {
  const Elf64_Shdr& table = sections_[symbol_section_];
  if (table.sh_entsize != sizeof(Elf64_Sym) || table.sh_link >= sections_.size()) {
    return bad("malformed symbol table");
  }
  for (uint64_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); ++k) {
    const auto entry = read<Elf64_Sym>(table.sh_offset + k * sizeof(Elf64_Sym));
    Symbol symbol;
    const auto name = string_at(sections_[table.sh_link], entry.st_name);
    if (!name) return bad("symbol name outside the string table");
    symbol.name = *name;
    symbol.value = entry.st_value;
    symbol.section = entry.st_shndx;
    if (entry.st_shndx == SHN_ABS) {
      symbol.kind = Symbol::Absolute;
    } else if (entry.st_shndx == SHN_UNDEF) {
      const auto found = std::ranges::find(externals_, symbol.name, &ExternalSymbol::name);
      if (found != externals_.end()) {
        symbol.kind = Symbol::Outside;
        symbol.value = found->address;
      } else if (k != 0) {
        return bad("refers to unknown symbol '" + std::string(symbol.name) + "'");
      }
    } else if (entry.st_shndx >= sections_.size()) {  // SHN_COMMON etc.: not generated by us
      return bad("symbol '" + std::string(symbol.name) + "' in an unsupported section");
    } else {
      symbol.kind = Symbol::Inside;  // its offset is known after lay_out
      if (entry.st_value > sections_[entry.st_shndx].sh_size) {
        return bad("symbol '" + std::string(symbol.name) + "' outside its section");
      }
      if (ELF64_ST_TYPE(entry.st_info) == STT_FUNC && ELF64_ST_BIND(entry.st_info) == STB_GLOBAL) {
        object_.functions_.emplace_back(symbol.name, nullptr);  // the address is set after mapping
      }
    }
    symbols_.push_back(symbol);
  }
  return {};
}

Status ElfLoader::lay_out() {
  mapped_.resize(sections_.size());
  // One slot and one stub per symbol that a relocation needs.
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_RELA || section.sh_entsize != sizeof(Elf64_Rela)) continue;
    for (uint64_t k = 0; k < section.sh_size / sizeof(Elf64_Rela); ++k) {
      const auto rela = read<Elf64_Rela>(section.sh_offset + k * sizeof(Elf64_Rela));
      const uint64_t index = ELF64_R_SYM(rela.r_info);
      if (index >= symbols_.size()) return bad("relocation names no symbol");
      Symbol& symbol = symbols_[index];
      const uint64_t type = ELF64_R_TYPE(rela.r_info);
      const bool by_table =
          type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
      if (symbol.slot == SIZE_MAX && (by_table || symbol.kind == Symbol::Outside)) {
        symbol.slot = slots_.size();
        slots_.push_back(index);
      }
    }
  }

  uint64_t end = 0;
  for (int segment = Text; segment < Segments; ++segment) {
    end = round_up(end, kPage);
    segment_begin_[segment] = end;
    for (size_t k = 0; k < sections_.size(); ++k) {
      const Elf64_Shdr& section = sections_[k];
      if ((section.sh_flags & SHF_ALLOC) == 0) continue;
      const Segment its_segment = (section.sh_flags & SHF_EXECINSTR) != 0 ? Text
                                  : (section.sh_flags & SHF_WRITE) != 0   ? Data
                                                                          : Constants;
      if (its_segment != segment) continue;
      const uint64_t alignment = std::max<uint64_t>(1, section.sh_addralign);
      if (!std::has_single_bit(alignment) || alignment > kPage) return bad("absurd alignment");
      if ((section.sh_flags & SHF_TLS) != 0) return bad("thread-local storage");
      if (section.sh_size > kMaxBytes || end > kMaxBytes) return bad("too large");
      end = round_up(end, alignment);
      mapped_[k] = {.loaded = true, .segment = its_segment, .offset = end};
      end += section.sh_size;
    }
    if (segment == Text) {
      stubs_ = round_up(end, kStubBytes);
      end = stubs_ + slots_.size() * kStubBytes;
    } else if (segment == Constants) {
      table_ = round_up(end, kSlotBytes);
      end = table_ + slots_.size() * kSlotBytes;
    }
    if (end > kMaxBytes) return bad("too large");
  }
  segment_begin_[Segments] = round_up(std::max<uint64_t>(end, 1), kPage);

  for (Symbol& symbol : symbols_) {
    if (symbol.kind != Symbol::Inside) continue;
    const MappedSection& at = mapped_[symbol.section];
    if (at.loaded) {
      symbol.value += at.offset;
    } else {
      symbol.kind = Symbol::Absent;  // of debug information etc.
    }
  }
  return {};
}

Status ElfLoader::map() {
  const uint64_t bytes = segment_begin_[Segments];
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return fail(ErrorKind::Io, "no memory to map a kernel");
  object_.base_ = static_cast<std::byte*>(base);
  object_.bytes_ = bytes;
  for (size_t k = 0; k < sections_.size(); ++k) {
    if (!mapped_[k].loaded || sections_[k].sh_type == SHT_NOBITS) continue;
    if (!in_file(sections_[k].sh_offset, sections_[k].sh_size)) return bad("section outside");
    std::memcpy(object_.base_ + mapped_[k].offset, elf_.data() + sections_[k].sh_offset,
                sections_[k].sh_size);
  }
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    const Symbol& symbol = symbols_[slots_[slot]];
    const uint64_t target = symbol_address(symbol);
    std::memcpy(object_.base_ + table_ + slot * kSlotBytes, &target, sizeof(target));
    // jmp *displacement(%rip), relative to the end of the six-byte instruction
    const uint64_t stub = stubs_ + slot * kStubBytes;
    const auto displacement =
        static_cast<int32_t>(static_cast<int64_t>(table_ + slot * kSlotBytes - (stub + 6)));
    const uint8_t jump[2] = {0xff, 0x25};
    std::memcpy(object_.base_ + stub, jump, 2);
    std::memcpy(object_.base_ + stub + 2, &displacement, 4);
  }
  for (auto& [name, address] : object_.functions_) {
    const auto found = std::ranges::find_if(symbols_, [&](const Symbol& symbol) {
      return symbol.kind == Symbol::Inside && symbol.name == name &&
             mapped_[symbol.section].segment == Text;
    });
    if (found != symbols_.end()) address = object_.base_ + found->value;
  }
  return {};
}

Status ElfLoader::relocate() {
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type == SHT_REL) return bad("relocations without addends");
    if (section.sh_type != SHT_RELA) continue;
    TRY(relocate_section(section));
  }
  return {};
}

Status ElfLoader::relocate_section(const Elf64_Shdr& header) {
  if (header.sh_entsize != sizeof(Elf64_Rela) || header.sh_info >= sections_.size()) {
    return bad("malformed relocations");
  }
  const MappedSection& at = mapped_[header.sh_info];
  if (!at.loaded) return {};
  const Elf64_Shdr& target = sections_[header.sh_info];
  for (uint64_t k = 0; k < header.sh_size / sizeof(Elf64_Rela); ++k) {
    const auto rela = read<Elf64_Rela>(header.sh_offset + k * sizeof(Elf64_Rela));
    TRY(relocate_one(rela, target, at));
  }
  return {};
}

// S, A, P as in the x86-64 psABI, section 4.4: symbol, addend, place.
Status ElfLoader::relocate_one(const Elf64_Rela& rela, const Elf64_Shdr& target,
                               const MappedSection& at) {
  const uint64_t type = ELF64_R_TYPE(rela.r_info);
  if (type == R_X86_64_NONE) return {};
  const uint64_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
  if (rela.r_offset > target.sh_size || width > target.sh_size - rela.r_offset) {
    return bad("relocation outside its section");
  }
  const Symbol& symbol = symbols_[ELF64_R_SYM(rela.r_info)];  // lay_out checked the index
  if (symbol.kind == Symbol::Absent) return bad("relocation against an absent symbol");

  const uint64_t where = at.offset + rela.r_offset;
  const uint64_t p = address_of(where);
  const auto a = static_cast<uint64_t>(rela.r_addend);
  const uint64_t s = symbol_address(symbol);
  uint64_t value = 0;
  switch (type) {
    case R_X86_64_64:
      value = s + a;
      break;
    case R_X86_64_PC64:
      value = s + a - p;
      break;
    case R_X86_64_32:
      value = s + a;
      if (value > std::numeric_limits<uint32_t>::max()) return bad("32-bit address out of range");
      break;
    case R_X86_64_32S:
      value = s + a;
      break;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      value = (symbol.kind == Symbol::Outside ? stub_address(symbol) : s) + a - p;
      break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      value = slot_address(symbol) + a - p;
      break;
    default:
      return bad("relocation type " + std::to_string(type) + " is not supported");
  }
  const auto signed_value = static_cast<int64_t>(value);
  if (width == 4 && type != R_X86_64_32 && signed_value != static_cast<int32_t>(signed_value)) {
    return bad("displacement out of range");
  }
  std::memcpy(object_.base_ + where, &value, width);
  return {};
}

Status ElfLoader::protect() {
  constexpr int kAccess[Segments] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
  for (int segment = Text; segment < Data; ++segment) {
    const uint64_t bytes = segment_begin_[segment + 1] - segment_begin_[segment];
    if (bytes == 0) continue;
    if (mprotect(object_.base_ + segment_begin_[segment], bytes, kAccess[segment]) != 0) {
      return fail(ErrorKind::Io, "the system does not let a kernel's memory be executable");
    }
  }
  return {};
}

Result<LoadedObject> LoadedObject::load(std::span<const uint8_t> elf,
                                        std::span<const ExternalSymbol> externals) {
  return ElfLoader(elf, externals).load();
}

LoadedObject::LoadedObject(LoadedObject&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      functions_(std::move(other.functions_)) {}

LoadedObject& LoadedObject::operator=(LoadedObject&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(functions_, other.functions_);
  return *this;
}

LoadedObject::~LoadedObject() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

void* LoadedObject::function(std::string_view name) const {
  for (const auto& [its_name, address] : functions_) {
    if (its_name == name) return address;
  }
  return nullptr;
}

}  // namespace tilewright::runtime
