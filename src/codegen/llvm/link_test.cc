#include "codegen/llvm/link.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "codegen/llvm/compile.h"

namespace tilewright::codegen {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

// A kernel that writes its number.
runtime::Artifact kernel_of(const std::string& name, int64_t number) {
  const ir::Function function{
      .name = name,
      .buffers = {{.name = "A", .element = {ir::Scalar::I64, 1}, .shape = {1}}},
      .arguments = {0},
      .argument_written = {true},
      .body = ir::make_store(0, {ir::int_imm(0)}, ir::int_imm(number))};
  auto object = compile_llvm(function, host_target(1));
  EXPECT_TRUE(object.has_value());
  return std::move(*object);
}

struct Row {
  int32_t (*function)(const TilewrightCall*);
  const char* text;
  const uint8_t* blob;
  int64_t bytes;
};

// Two rows: kernels by name, a text, and a place within a blob.
ElfObject rows_of(std::span<const std::byte> blob) {
  ElfObject object(linked_machine());
  const auto data = object.add_section(".data.rel.ro", ElfObject::Kind::Pointers, 16);
  const auto texts = object.add_section(".rodata", ElfObject::Kind::ReadOnly, 1);
  const auto large = object.add_section(".lrodata", ElfObject::Kind::Blob, 4096);
  object.set_blob(large, blob);
  for (int k = 0; k < 2; ++k) {
    const Row row{.function = nullptr,
                  .text = nullptr,
                  .blob = nullptr,
                  .bytes = static_cast<int64_t>(blob.size())};
    const int64_t at = object.append(data, &row, sizeof(row), 16);
    object.point_to_symbol(data, at, k == 0 ? "tilewright_first" : "tilewright_second");
    object.point_to_place(data, at + 8, texts, object.append_text(texts, k == 0 ? "one" : "two"));
    object.point_to_place(data, at + 16, large, k);
  }
  object.define("rows", data, 0, 2 * sizeof(Row));
  return object;
}

struct Inputs {
  runtime::Artifact first = kernel_of("first", 11);
  runtime::Artifact second = kernel_of("second", 22);
  std::vector<std::byte> blob = std::vector<std::byte>(10000, std::byte{7});
  ElfObject rows = rows_of(blob);

  std::vector<LinkInput> list() const {
    return {{.bytes = first.bytes, .data = nullptr},
            {.bytes = second.bytes, .data = nullptr},
            {.bytes = {}, .data = &rows}};
  }
};

void expect_rows(const Row* rows, const std::vector<std::byte>& blob) {
  for (int k = 0; k < 2; ++k) {
    int64_t written = 0;
    void* argument = &written;
    const TilewrightCall call{
        .arguments = &argument, .workspace = nullptr, .pool = nullptr, .threads = 1, .reserved = 0};
    EXPECT_EQ(rows[k].function(&call), 0);
    EXPECT_EQ(written, k == 0 ? 11 : 22);
    EXPECT_STREQ(rows[k].text, k == 0 ? "one" : "two");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(rows[k].blob) % 4096, static_cast<uintptr_t>(k));
    EXPECT_EQ(std::memcmp(rows[k].blob, blob.data(), blob.size() - 1), 0);
  }
}

TEST(Link, LibraryContainsItsObjectsAndExportsNamedSymbols) {
  const TemporaryFolder folder = make_scratch_folder("link_test-").value();
  Inputs inputs;
  inputs.blob[1] = std::byte{7};
  const fs::path path = folder / "x.so";
  const Status linked = link_shared(inputs.list(), {.soname = {}, .exported = {"rows"}}, path);
  ASSERT_TRUE(linked.has_value()) << linked.error().message;

  void* library = dlopen(path.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto* rows = static_cast<const Row*>(dlsym(library, "rows"));
  ASSERT_NE(rows, nullptr);
  expect_rows(rows, inputs.blob);
  EXPECT_EQ(dlsym(library, "tilewright_first"), nullptr);
  dlclose(library);
}

TEST(Link, OutputDoesNotDependOnPaths) {
  const TemporaryFolder folder = make_scratch_folder("link_test-").value();
  const TemporaryFolder elsewhere = make_scratch_folder("link_test-").value();
  const Inputs inputs;
  const SharedLibraryOptions options{.soname = {}, .exported = {"rows"}};
  ASSERT_TRUE(link_shared(inputs.list(), options, folder / "x.so").has_value());
  ASSERT_TRUE(link_shared(inputs.list(), options, elsewhere / "x.so").has_value());
  const auto bytes = read_file(folder / "x.so");
  EXPECT_EQ(bytes, read_file(elsewhere / "x.so"));
  EXPECT_EQ(bytes->find("link_test"), std::string::npos);  // no path of the build

  ASSERT_TRUE(link_relocatable(inputs.list(), folder / "x.o").has_value());
  ASSERT_TRUE(link_relocatable(inputs.list(), elsewhere / "x.o").has_value());
  EXPECT_EQ(read_file(folder / "x.o"), read_file(elsewhere / "x.o"));
}

// One object made of several links like the separate objects.
TEST(Link, ARelocatableObjectCanBeLinkedAgain) {
  const TemporaryFolder folder = make_scratch_folder("link_test-").value();
  const Inputs inputs;
  ASSERT_TRUE(link_relocatable(inputs.list(), folder / "x.o").has_value());
  const auto bytes = read_file(folder / "x.o");
  ASSERT_TRUE(bytes.has_value());
  const std::vector<uint8_t> object(bytes->begin(), bytes->end());
  const LinkInput input{.bytes = object, .data = nullptr};
  const Status linked =
      link_shared({&input, 1}, {.soname = {}, .exported = {"rows"}}, folder / "y.so");
  ASSERT_TRUE(linked.has_value()) << linked.error().message;
  void* library = dlopen((folder / "y.so").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  expect_rows(static_cast<const Row*>(dlsym(library, "rows")), inputs.blob);
  dlclose(library);
}

// References to a symbol go to its wrapper, and those of the wrapper to the symbol.
TEST(Link, AWrappedSymbolIsReachedThroughItsWrapper) {
  const TemporaryFolder folder = make_scratch_folder("link_test-").value();
  // f returns 1 and its wrapper 2. The rows refer to f and to __real_f.
  ElfObject functions(linked_machine());
  const auto code = functions.add_section(".text", ElfObject::Kind::Code, 16);
  const uint8_t one[] = {0xb8, 1, 0, 0, 0, 0xc3};  // mov $1, %eax; ret
  functions.define("f", code, functions.append(code, one, sizeof(one), 16), sizeof(one));
  const uint8_t two[] = {0xb8, 2, 0, 0, 0, 0xc3};
  functions.define("__wrap_f", code, functions.append(code, two, sizeof(two), 16), sizeof(two));
  ElfObject rows(linked_machine());
  const auto data = rows.add_section(".data.rel.ro", ElfObject::Kind::Pointers, 16);
  const void* nulls[2] = {};
  const int64_t at = rows.append(data, &nulls, sizeof(nulls), 16);
  rows.point_to_symbol(data, at, "f");
  rows.point_to_symbol(data, at + 8, "__real_f");
  rows.define("rows", data, at, sizeof(nulls));
  const LinkInput inputs[] = {{.bytes = {}, .data = &rows}, {.bytes = {}, .data = &functions}};
  const std::vector<std::string> wrapped = {"f"};
  ASSERT_TRUE(link_relocatable(inputs, folder / "x.o", wrapped).has_value());
  const auto bytes = read_file(folder / "x.o");
  const std::vector<uint8_t> linked(bytes->begin(), bytes->end());
  const LinkInput once{.bytes = linked, .data = nullptr};
  ASSERT_TRUE(link_shared({&once, 1}, {.soname = {}, .exported = {"rows"}}, folder / "once.so")
                  .has_value());
  const Status direct = link_shared(
      inputs, {.soname = {}, .exported = {"rows"}, .wrapped = wrapped}, folder / "direct.so");
  ASSERT_TRUE(direct.has_value()) << direct.error().message;
  for (const char* name : {"once.so", "direct.so"}) {
    void* library = dlopen((folder / name).c_str(), RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    int (*const* called)() = static_cast<int (**)()>(dlsym(library, "rows"));
    EXPECT_EQ(called[0](), 2) << name;
    EXPECT_EQ(called[1](), 1) << name;
    dlclose(library);
  }
}

TEST(Link, FailuresAreErrorsAndLeaveNoFiles) {
  const TemporaryFolder folder = make_scratch_folder("link_test-").value();
  const Inputs inputs;
  std::vector<LinkInput> some = inputs.list();
  some.pop_back();
  ElfObject wanting(linked_machine());
  const auto data = wanting.add_section(".data.rel.ro", ElfObject::Kind::Pointers, 16);
  const void* null = nullptr;
  wanting.point_to_symbol(data, wanting.append(data, &null, sizeof(null), 8), "nobody_has_this");
  wanting.define("rows", data, 0, sizeof(null));
  some.push_back({.bytes = {}, .data = &wanting});
  const Status unresolved =
      link_shared(some, {.soname = {}, .exported = {"rows"}}, folder / "x.so");
  ASSERT_FALSE(unresolved.has_value());
  EXPECT_THAT(unresolved.error().message, HasSubstr("nobody_has_this"));
  EXPECT_TRUE(fs::is_empty(folder / "."));

  const std::vector<uint8_t> nonsense = {1, 2, 3};
  const LinkInput bad{.bytes = nonsense, .data = nullptr};
  EXPECT_FALSE(link_relocatable({&bad, 1}, folder / "x.o").has_value());
  EXPECT_FALSE(link_relocatable(inputs.list(), folder / "nowhere/x.o").has_value());
  EXPECT_TRUE(link_relocatable(inputs.list(), folder / "x.o").has_value());  // it can run again
}

// Files may not grow beyond a limit meanwhile.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

// All inputs fit on the disk, the result does not: no signal, no crash, no remaining files.
TEST(Link, FullDiskIsAnError) {
  const TemporaryFolder folder = make_scratch_folder("link_test-").value();
  const Inputs inputs;
  {
    const FileSizeLimit limit(60'000);
    for (const Status& done :
         {link_shared(inputs.list(), {.soname = {}, .exported = {"rows"}}, folder / "x.so"),
          link_relocatable(inputs.list(), folder / "x.o")}) {
      ASSERT_FALSE(done.has_value());
      EXPECT_EQ(done.error().kind, ErrorKind::Io);
      EXPECT_THAT(done.error().message, HasSubstr("cannot be linked there"));
    }
  }
  EXPECT_TRUE(fs::is_empty(folder / "."));
  EXPECT_TRUE(link_relocatable(inputs.list(), folder / "x.o").has_value());
}

TEST(Link, FoldersOfKilledProcessesAreRemoved) {
  const TemporaryFolder folder = make_scratch_folder("link_test-").value();
  const Inputs inputs;
  const auto past = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const char* name : {".tilewright-link-stale", ".tilewright-link-used", "other"}) {
    fs::create_directory(folder / name);
    ASSERT_TRUE(write_file_atomically(folder / name / "0.o", "object").has_value());
    fs::last_write_time(folder / name, past);
  }
  fs::create_directory(folder / ".tilewright-link-young");
  const int used = open((folder / ".tilewright-link-used").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(used, LOCK_EX), 0);
  EXPECT_TRUE(link_relocatable(inputs.list(), folder / "x.o").has_value());
  close(used);
  EXPECT_FALSE(fs::exists(folder / ".tilewright-link-stale"));
  EXPECT_TRUE(fs::exists(folder / ".tilewright-link-used"));
  EXPECT_TRUE(fs::exists(folder / ".tilewright-link-young"));
  EXPECT_TRUE(fs::exists(folder / "other"));
  EXPECT_TRUE(fs::exists(folder / "x.o"));
}

}  // namespace
}  // namespace tilewright::codegen
