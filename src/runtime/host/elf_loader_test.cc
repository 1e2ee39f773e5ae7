// A small object is written by hand, so that the loader is tested without a compiler.
#include "runtime/host/elf_loader.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/rng.h"
#include "runtime/host/kernel.h"

namespace tilewright::runtime {
namespace {

int32_t answer() { return 35; }
const ExternalSymbol kExternals[] = {{"answer", reinterpret_cast<uint64_t>(&answer)}};

template <class T>
void append(std::vector<uint8_t>& bytes, const T& value) {
  const auto* begin = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

// int32_t f() { return answer() + constant + counter; } with constant = 4, counter = 3 in .data:
//   sub $8,%rsp; call answer@PLT; add constant(%rip),%eax; mov counter@GOTPCREL(%rip),%rcx;
//   add (%rcx),%eax; add $8,%rsp; ret
std::vector<uint8_t> object(uint32_t call_type = R_X86_64_PLT32) {
  const std::vector<uint8_t> text = {0x48, 0x83, 0xec, 0x08,             // 0: sub
                                     0xe8, 0,    0,    0,    0,          // 4: call
                                     0x03, 0x05, 0,    0,    0,   0,     // 9: add
                                     0x48, 0x8b, 0x0d, 0,    0,   0, 0,  // 15: mov
                                     0x03, 0x01,                         // 22: add
                                     0x48, 0x83, 0xc4, 0x08, 0xc3};
  const std::vector<uint8_t> constants = {4, 0, 0, 0};
  std::vector<uint8_t> data = {3, 0, 0, 0, 0, 0, 0, 0};
  for (int k = 0; k < 8; ++k) data.push_back(0);  // a pointer to f, by R_X86_64_64
  const std::string names = std::string("\0f\0answer\0counter\0", 18);

  std::vector<uint8_t> symbols;
  append(symbols, Elf64_Sym{});
  append(symbols, Elf64_Sym{1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, text.size()});
  append(symbols, Elf64_Sym{3, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0, SHN_UNDEF, 0, 0});
  append(symbols, Elf64_Sym{10, ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), 0, 3, 0, 4});
  append(symbols, Elf64_Sym{0, ELF64_ST_INFO(STB_LOCAL, STT_SECTION), 0, 2, 0, 0});
  std::vector<uint8_t> text_relocations;
  append(text_relocations, Elf64_Rela{5, ELF64_R_INFO(2, call_type), -4});
  append(text_relocations, Elf64_Rela{11, ELF64_R_INFO(4, R_X86_64_PC32), -4});
  append(text_relocations, Elf64_Rela{18, ELF64_R_INFO(3, R_X86_64_REX_GOTPCRELX), -4});
  std::vector<uint8_t> data_relocations;
  append(data_relocations, Elf64_Rela{8, ELF64_R_INFO(1, R_X86_64_64), 0});

  std::vector<uint8_t> file(sizeof(Elf64_Ehdr));
  std::vector<Elf64_Shdr> sections(1, Elf64_Shdr{});
  const auto add = [&](uint32_t type, uint64_t flags, const void* bytes, size_t size, uint32_t link,
                       uint32_t info, uint64_t entry) {
    while (file.size() % 16 != 0) file.push_back(0);
    sections.push_back({0, type, flags, 0, file.size(), size, link, info, 16, entry});
    const auto* begin = static_cast<const uint8_t*>(bytes);
    file.insert(file.end(), begin, begin + size);
  };
  add(SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text.data(), text.size(), 0, 0, 0);
  add(SHT_PROGBITS, SHF_ALLOC, constants.data(), constants.size(), 0, 0, 0);
  add(SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, data.data(), data.size(), 0, 0, 0);
  add(SHT_SYMTAB, 0, symbols.data(), symbols.size(), 5, 3, sizeof(Elf64_Sym));
  add(SHT_STRTAB, 0, names.data(), names.size(), 0, 0, 0);
  add(SHT_RELA, 0, text_relocations.data(), text_relocations.size(), 4, 1, sizeof(Elf64_Rela));
  add(SHT_RELA, 0, data_relocations.data(), data_relocations.size(), 4, 3, sizeof(Elf64_Rela));

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_shoff = file.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  std::memcpy(file.data(), &header, sizeof(header));
  for (const Elf64_Shdr& section : sections) append(file, section);
  return file;
}

TEST(ElfLoader, LoadsAndRuns) {
  const auto loaded = LoadedObject::load(object(), kExternals);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  auto* f = reinterpret_cast<int32_t (*)()>(loaded->function("f"));
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f(), 42);
  EXPECT_EQ(loaded->function("answer"), nullptr);
  EXPECT_EQ(loaded->function("g"), nullptr);
}

TEST(ElfLoader, MissingSymbolsAreNamed) {
  const auto loaded = LoadedObject::load(object(), {});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_NE(loaded.error().message.find("'answer'"), std::string::npos);
  const auto strange = LoadedObject::load(object(R_X86_64_TLSGD), kExternals);
  ASSERT_FALSE(strange.has_value());
  EXPECT_NE(strange.error().message.find("relocation type"), std::string::npos);
}

TEST(ElfLoader, TruncatedObjectsAreErrors) {
  const std::vector<uint8_t> whole = object();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto loaded = LoadedObject::load(std::span(whole).first(size), kExternals);
    EXPECT_FALSE(loaded.has_value()) << size;
  }
}

// Damaged objects load or fail; they are not run.
TEST(ElfLoader, DamagedObjectsDoNotCrashTheLoader) {
  const std::vector<uint8_t> whole = object();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (uint8_t value : {uint8_t{0}, uint8_t{0xff}, static_cast<uint8_t>(whole[at] ^ 1),
                          static_cast<uint8_t>(whole[at] ^ 0x80)}) {
      std::vector<uint8_t> damaged = whole;
      damaged[at] = value;
      (void)LoadedObject::load(damaged, kExternals);
    }
  }
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> damaged = whole;
    for (int k = 0; k < 8; ++k) {
      damaged[rng.below(damaged.size())] = static_cast<uint8_t>(rng.next());
    }
    (void)LoadedObject::load(damaged, kExternals);
  }
}

TEST(Kernel, MissingEntrySymbolIsAnError) {
  std::vector<uint8_t> elf = object();
  const auto missing = Kernel::load({.bytes = elf, .entry = "f"});
  ASSERT_FALSE(missing.has_value());  // `answer` is none of the symbols a kernel may use
  const auto later = Kernel::load({.bytes = elf, .entry = "f", .abi_version = 2});
  ASSERT_FALSE(later.has_value());
  EXPECT_EQ(later.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(later.error().message.find("version 2 of the kernel ABI"), std::string::npos);
  const auto empty = Kernel::load({.bytes = {}, .entry = "f"});
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(empty.error().kind, ErrorKind::Build);
}

}  // namespace
}  // namespace tilewright::runtime
