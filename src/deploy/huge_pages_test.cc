// Constants of 2 MiB and more are aligned in files and memory so that the system may use huge
// pages.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "deploy/export.h"
#include "deploy/plans_testing.h"
#include "runtime/abi/model_table.h"
#include "runtime/host/model_library.h"

namespace tilewright::deploy {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

constexpr uint64_t kHugePage = uint64_t{2} << 20U;

// Input x[1,600], output y[1,1024]; 2.4 MB of constants.
ModelPlan large_model() {
  PlanMaker maker;
  maker.input("x", f32({1, 600}));
  maker.constant("w", random_constant({600, 1024}, 1));
  maker.kernel("matmul:m=1,n=1024,k=600,constant=B", {"x", "w", "y"});
  return maker.finish({"y"});
}

void expect_right(const TilewrightModelApi& api, const ModelPlan& plan) {
  const auto instance = runtime::make_instance(api, {});
  ASSERT_TRUE(instance.has_value()) << instance.error().message;
  const graph::Constant input = random_constant({1, 600}, 2);
  const std::vector<float> x = floats(input);
  const std::vector<float> w = floats(plan.graph.value(plan.memory.constants[0]).constant);
  std::vector<float> expected(1024);
  for (size_t n = 0; n < expected.size(); ++n) {
    double sum = 0;
    for (size_t k = 0; k < x.size(); ++k) sum += x[k] * w[k * 1024 + n];
    expected[n] = static_cast<float>(sum);
  }
  std::vector<float> out(expected.size());
  const void* inputs[] = {input.bytes().data()};
  void* outputs[] = {out.data()};
  ASSERT_EQ(api.run(instance->get(), inputs, outputs), 0) << api.error(instance->get());
  expect_near(out, expected);
}

template <class T>
std::vector<T> structs(const std::string& file, uint64_t offset, size_t count) {
  std::vector<T> all(count);
  if (count > 0) std::memcpy(all.data(), file.data() + offset, count * sizeof(T));
  return all;
}

// The part of an ELF file that has section `.lrodata`: its segment, and the section.
struct ConstantsPlace {
  Elf64_Phdr segment{};
  Elf64_Shdr section{};
};
ConstantsPlace place_of_constants(const std::string& file) {
  ConstantsPlace place;
  const auto header = structs<Elf64_Ehdr>(file, 0, 1)[0];
  const auto sections = structs<Elf64_Shdr>(file, header.e_shoff, header.e_shnum);
  for (const Elf64_Shdr& section : sections) {
    const char* name = file.data() + sections[header.e_shstrndx].sh_offset + section.sh_name;
    if (std::strcmp(name, ".lrodata") == 0) place.section = section;
  }
  for (const Elf64_Phdr& segment : structs<Elf64_Phdr>(file, header.e_phoff, header.e_phnum)) {
    const bool within = segment.p_offset <= place.section.sh_offset &&
                        place.section.sh_offset < segment.p_offset + segment.p_filesz;
    if (segment.p_type == PT_LOAD && within) place.segment = segment;
  }
  return place;
}

// A mapping of this process: its address and its flags in the kernel (`VmFlags`).
struct Mapping {
  uint64_t begin = 0;
  std::string flags;
};

// The line `7f...-7f... r--p ...` that is wanted, then lines `Name: value` until the next mapping.
template <class Wanted>
Mapping mapping(const Wanted& wanted) {
  std::ifstream file("/proc/self/smaps");
  Mapping found;
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmFlags:")) {
      if (here) found.flags = line + " ";
      here = false;
      continue;
    }
    std::istringstream words(line);
    uint64_t begin = 0, end = 0;
    char dash = 0;
    if (!(words >> std::hex >> begin >> dash >> end) || dash != '-') continue;
    here = wanted(line, begin, end);
    if (here) found.begin = begin;
  }
  return found;
}
Mapping mapping_at(const void* place) {
  const auto address = reinterpret_cast<uint64_t>(place);
  return mapping([=](const std::string&, uint64_t begin, uint64_t end) {
    return begin <= address && address < end;
  });
}
Mapping mapping_of(const std::string& name) {
  return mapping([&](const std::string& line, uint64_t, uint64_t) { return line.ends_with(name); });
}

// True if this kernel accepts MADV_HUGEPAGE.
bool has_huge_pages() {
  void* memory = mmap(nullptr, 2 * kHugePage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool taken = madvise(memory, 2 * kHugePage, MADV_HUGEPAGE) == 0;
  munmap(memory, 2 * kHugePage);
  return taken;
}

TEST(HugePages, EmbeddedConstantsAreAlignedInFileAndMemory) {
  const TestFolder folder;
  const ModelPlan plan = large_model();
  const Program program = must_compile(plan);
  ASSERT_GE(program.constants.size(), static_cast<int64_t>(kHugePage));
  ASSERT_TRUE(export_shared(program, folder / "m.so").has_value());
  const std::string file = *read_file(folder / "m.so");
  const ConstantsPlace place = place_of_constants(file);
  EXPECT_EQ(place.section.sh_size, static_cast<uint64_t>(program.constants.size()));
  EXPECT_EQ(place.section.sh_offset % kHugePage, 0U);
  EXPECT_EQ(place.section.sh_addr % kHugePage, 0U);
  EXPECT_EQ(place.segment.p_align, kHugePage);
  EXPECT_LT(file.size(), place.section.sh_size + 2 * kHugePage);
  EXPECT_NE(fs::status(folder / "m.so").permissions() & fs::perms::owner_exec, fs::perms::none);

  const auto library = runtime::ModelLibrary::open(folder / "m.so");
  ASSERT_TRUE(library.has_value()) << library.error().message;
  const void* constants = library->api().table->constants;
  EXPECT_EQ(std::memcmp(constants, program.constants.data(), place.section.sh_size), 0);
  // Loaders before glibc 2.35 do not align segments.
  EXPECT_EQ(reinterpret_cast<uint64_t>(constants) % kHugePage, 0U);
  expect_right(library->api(), plan);
  if (has_huge_pages()) {
    EXPECT_THAT(mapping_at(constants).flags, HasSubstr(" hg "));
  }
}

TEST(HugePages, SeparateWeightsAreAligned) {
  const TestFolder folder;
  const ModelPlan plan = large_model();
  const Program program = must_compile(plan);
  ASSERT_TRUE(export_shared(program, folder / "m.so", {.external_weights = true}).has_value());
  const std::string file = *read_file(folder / "m.weights");
  ASSERT_EQ(file.size(), TILEWRIGHT_WEIGHTS_OFFSET + static_cast<size_t>(program.constants.size()));
  EXPECT_EQ(std::memcmp(file.data() + TILEWRIGHT_WEIGHTS_OFFSET, program.constants.data(),
                        static_cast<size_t>(program.constants.size())),
            0);
  const auto library = runtime::ModelLibrary::open(folder / "m.so");
  ASSERT_TRUE(library.has_value()) << library.error().message;
  {
    const auto instance = runtime::make_instance(library->api(), {});
    ASSERT_TRUE(instance.has_value()) << instance.error().message;
    const Mapping mapped = mapping_of("/m.weights");
    EXPECT_NE(mapped.begin, 0U);
    EXPECT_EQ(mapped.begin % kHugePage, 0U);
    if (has_huge_pages()) {
      EXPECT_THAT(mapped.flags, HasSubstr(" hg "));
    }
    expect_right(library->api(), plan);
  }
  EXPECT_EQ(mapping_of("/m.weights").begin, 0U);
}

// Constants smaller than a huge page get no padding.
TEST(HugePages, SmallModelsDoNotGrow) {
  const TestFolder folder;
  const Program program = must_compile(small_model());
  ASSERT_TRUE(export_shared(program, folder / "m.so").has_value());
  const std::string file = *read_file(folder / "m.so");
  EXPECT_LT(file.size(), 200'000U);
  const ConstantsPlace place = place_of_constants(file);
  EXPECT_EQ(place.section.sh_addralign, 4096U);
  EXPECT_EQ(place.segment.p_align, 4096U);
  // The alignment in objects is left to the linker of the program.
  ASSERT_TRUE(export_object(must_compile(large_model()), folder / "m.o").has_value());
  EXPECT_EQ(place_of_constants(*read_file(folder / "m.o")).section.sh_addralign, 4096U);
}

TEST(HugePages, IsReproducible) {
  const TestFolder folder;
  fs::create_directory(folder / "a");
  fs::create_directory(folder / "b");
  for (const std::string where : {"a", "b"}) {
    const Program program = must_compile(large_model(), {.jobs = where == "a" ? 1 : 2});
    ASSERT_TRUE(export_shared(program, folder / (where + "/m.so")).has_value());
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / where), {}), 1);  // nothing is left
  }
  EXPECT_TRUE(*read_file(folder / "a/m.so") == *read_file(folder / "b/m.so"));
}

}  // namespace
}  // namespace tilewright::deploy
