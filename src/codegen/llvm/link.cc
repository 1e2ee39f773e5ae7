#include "codegen/llvm/link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"

LLD_HAS_DRIVER(elf)

// Pointers to symbols of the last link, which LLD 19 does not reset though it frees what they point
// to: the next link writes there unless it has such a symbol itself. Declared as they are there.
// NOLINTBEGIN(readability-identifier-naming)
namespace lld::elf {
class Defined;
struct ElfSym {
  static Defined* globalOffsetTable;
  static Defined* relaIpltStart;
  static Defined* relaIpltEnd;
  static Defined* tlsModuleBase;
};
}  // namespace lld::elf
// NOLINTEND(readability-identifier-naming)

namespace tilewright::codegen {
namespace {

namespace fs = std::filesystem;

// What code of ours may use of the C library: the run time (runtime/abi) and kernels. Names without
// versions, so that every version of the library will do; of what has several, all are the same to
// us. Older ones have threads and dladdr in libraries of their own.
constexpr std::array<std::string_view, 3> kLibraries = {"libc.so.6", "libpthread.so.0",
                                                        "libdl.so.2"};
constexpr std::string_view kFunctions[] = {"__errno_location",
                                           "__stack_chk_fail",
                                           "__tls_get_addr",
                                           "aligned_alloc",
                                           "calloc",
                                           "clock_gettime",
                                           "close",
                                           "dladdr",
                                           "free",
                                           "lseek",
                                           "lseek64",
                                           "madvise",
                                           "malloc",
                                           "memcmp",
                                           "memcpy",
                                           "memmove",
                                           "memset",
                                           "mmap",
                                           "mmap64",
                                           "munmap",
                                           "open",
                                           "open64",
                                           "pread",
                                           "pread64",
                                           "pthread_create",
                                           "pthread_join",
                                           "pthread_mutex_lock",
                                           "pthread_mutex_unlock",
                                           "readlink",
                                           "snprintf",
                                           "strcmp",
                                           "strcpy",
                                           "strcspn",
                                           "strerror",
                                           "strlen",
                                           "strrchr",
                                           "syscall",
                                           "vsnprintf"};

std::unexpected<Error> system_error(const fs::path& path, std::string_view what) {
  return fail(ErrorKind::Io, fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

// A folder of its own, removed with what is in it.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make_beside(const fs::path& file) {
    const fs::path folder = file.parent_path();
    std::string path = (folder / ".tilewright-link-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) {
      return system_error(folder.empty() ? "." : folder, "a folder cannot be made there");
    }
    return ScratchFolder(path);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  fs::path operator/(std::string_view name) const { return path_ / name; }

 private:
  explicit ScratchFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

Status write_bytes(const fs::path& path, std::span<const uint8_t> bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return system_error(path, "cannot be written");
  while (!bytes.empty()) {
    const ssize_t done = ::write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      const auto error = system_error(path, "cannot be written");
      close(file);
      return error;
    }
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return close(file) == 0 ? Status{} : system_error(path, "cannot be written");
}

// Runs the linker; its words are the error.
Status run_linker(const std::vector<std::string>& arguments) {
  static std::mutex mutex;
  static bool usable = true;
  const std::lock_guard lock(mutex);
  if (!usable) return fail(ErrorKind::Build, "the linker crashed before and cannot run again");
  // One thread: no pool of the linker's stays behind in this process.
  std::vector<const char*> plain = {"ld.lld", "--threads=1"};
  plain.reserve(arguments.size() + 2);
  for (const std::string& argument : arguments) plain.push_back(argument.c_str());
  std::string words;
  llvm::raw_string_ostream stream(words);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  const lld::Result result = lld::lldMain(plain, stream, stream, drivers);
  usable = result.canRunAgain;
  lld::elf::ElfSym::globalOffsetTable = nullptr;
  lld::elf::ElfSym::relaIpltStart = nullptr;
  lld::elf::ElfSym::relaIpltEnd = nullptr;
  lld::elf::ElfSym::tlsModuleBase = nullptr;
  if (result.retCode == 0) return {};
  return fail(ErrorKind::Build, "linking: " + words);
}

// The inputs as files, in order.
Status write_inputs(std::span<const LinkInput> inputs, const ScratchFolder& folder,
                    std::vector<std::string>& arguments) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    const fs::path path = folder / fmt::format("{}.o", k);
    const LinkInput& input = inputs[k];
    if (Status done =
            input.data != nullptr ? input.data->write(path) : write_bytes(path, input.bytes);
        !done) {
      return done;
    }
    arguments.push_back(path.string());
  }
  return {};
}

// A library that has nothing but its name, and one of them the functions: enough to be linked with.
Status make_system_libraries(const ScratchFolder& folder, std::vector<std::string>& arguments) {
  for (const std::string_view name : kLibraries) {
    ElfObject object;
    const ElfObject::Section code = object.add_section(".text", ElfObject::Kind::Code, 16);
    object.append(code, "\xc3", 1, 1);
    if (name == kLibraries.front()) {
      for (const std::string_view function : kFunctions) {
        object.define(std::string(function), code, 0, 1);
      }
    }
    const fs::path input = folder / fmt::format("{}.o", name);
    const fs::path library = folder / name;
    if (Status done = object.write(input); !done) return done;
    if (Status done = run_linker(
            {"-shared", "-soname", std::string(name), "-o", library.string(), input.string()});
        !done) {
      return done;
    }
    arguments.push_back(library.string());
  }
  return {};
}

Status replace(const fs::path& made, const fs::path& wanted) {
  if (rename(made.c_str(), wanted.c_str()) != 0) return system_error(wanted, "cannot be replaced");
  return {};
}

}  // namespace

Status link_shared(std::span<const LinkInput> inputs, const SharedLibraryOptions& options,
                   const fs::path& library) {
  const Result<ScratchFolder> folder = ScratchFolder::make_beside(library);
  if (!folder) return std::unexpected(folder.error());
  std::string script = "{ global: ";
  for (const std::string& symbol : options.exported) script += symbol + "; ";
  script += "local: *; };\n";
  const fs::path script_path = *folder / "exports";
  if (Status done = write_file_atomically(script_path, script); !done) return done;

  const fs::path made = *folder / "made.so";
  std::vector<std::string> arguments = {
      "-shared",
      "--eh-frame-hdr",
      "--hash-style=gnu",
      "--build-id=none",
      "--no-undefined",
      "--gc-sections",
      "-z",
      "now",
      "-z",
      "relro",
      "-z",
      "noexecstack",
      "--version-script=" + script_path.string(),
      "-soname",
      options.soname.empty() ? library.filename().string() : options.soname,
      "-o",
      made.string()};
  if (Status done = write_inputs(inputs, *folder, arguments); !done) return done;
  if (Status done = make_system_libraries(*folder, arguments); !done) return done;
  if (Status done = run_linker(arguments); !done) return done;
  return replace(made, library);
}

Status link_relocatable(std::span<const LinkInput> inputs, const fs::path& object) {
  const Result<ScratchFolder> folder = ScratchFolder::make_beside(object);
  if (!folder) return std::unexpected(folder.error());
  const fs::path made = *folder / "made.o";
  std::vector<std::string> arguments = {"-r", "-o", made.string()};
  if (Status done = write_inputs(inputs, *folder, arguments); !done) return done;
  if (Status done = run_linker(arguments); !done) return done;
  return replace(made, object);
}

}  // namespace tilewright::codegen
