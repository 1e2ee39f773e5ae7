#include "codegen/llvm/link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lld/Common/Driver.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/system_error.h"
#include "base/temporary_folder.h"

LLD_HAS_DRIVER(elf)

// Pointers to symbols of the last link, which LLD 19 does not reset although it frees the symbols:
// the next link writes there unless it defines such a symbol itself. Declared as in LLD.
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

// The functions of the C library that the runtime (runtime/abi) and kernels may use. Names have no
// versions, so any version of the library works; where several versions exist, their differences do
// not matter here. Older C libraries have threads and dladdr in separate libraries.
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
                                           "getcwd",
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
                                           "pthread_sigmask",
                                           "readlink",
                                           "sigdelset",
                                           "sigfillset",
                                           "snprintf",
                                           "strcmp",
                                           "strcpy",
                                           "strcspn",
                                           "strerror",
                                           "strlen",
                                           "strrchr",
                                           "syscall",
                                           "vsnprintf"};

std::unexpected<Error> file_error(const fs::path& path, std::string_view what) {
  const int code = errno;
  return system_error(fmt::format("{}: {}", path.string(), what), code);
}

constexpr uintmax_t kHugePage = uintmax_t{2} << 20U;
constexpr std::string_view kScratchName = ".tilewright-link-";

// The lock of a folder during its lifetime; not held if another process has it.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : file_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
        held_(file_ && flock(file_.get(), LOCK_EX | LOCK_NB) == 0) {}
  bool held() const { return held_; }

 private:
  Descriptor file_;
  bool held_;
};

// Folders of processes that were killed while linking: their lock is free. A recent folder may
// belong to a process that has not locked it yet.
void remove_stale(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end;
       at.increment(error)) {
    if (!at->path().filename().string().starts_with(kScratchName)) continue;
    std::error_code unknown;
    const auto made = fs::last_write_time(at->path(), unknown);
    if (unknown || fs::file_time_type::clock::now() - made < std::chrono::minutes(1)) continue;
    const FolderLock lock(at->path());
    if (lock.held()) fs::remove_all(at->path(), unknown);
  }
}

// A folder next to the output; its lock marks it as in use.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make_next_to(const fs::path& file) {
    const fs::path folder = file.parent_path();
    remove_stale(folder);
    TemporaryFolder made = TRY(TemporaryFolder::make(folder, kScratchName));
    return ScratchFolder(std::move(made));
  }
  fs::path operator/(std::string_view name) const { return folder_ / name; }
  fs::path input(size_t index) const { return folder_ / fmt::format("{}.o", index); }
  void remove_inputs(size_t count) const {
    std::error_code ignored;
    for (size_t k = 0; k < count; ++k) fs::remove(input(k), ignored);
  }

  // An error unless the disk has room for the output of these input files: the linker writes
  // through a mapping, where a full disk is a signal.
  Status check_room() const {
    std::error_code error;
    uintmax_t bytes = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path(), error)) {
      const uintmax_t size = entry.file_size(error);
      bytes += error ? 0 : size;
    }
    const fs::path path = folder_ / "room";
    const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file) return file_error(path, "cannot be written");
    // Segments start at pages, a large blob at a huge page.
    constexpr uintmax_t kSegments = (uintmax_t{64} << 10U) + kHugePage;
    const bool full = fallocate(file.get(), 0, 0, static_cast<off_t>(bytes + kSegments)) != 0 &&
                      errno != EOPNOTSUPP && errno != ENOSYS;
    const fs::path parent = folder_.path().parent_path();
    const Status room = full ? file_error(parent.empty() ? "." : parent,
                                          fmt::format("{} bytes cannot be linked there", bytes))
                             : Status{};
    unlink(path.c_str());
    return room;
  }

 private:
  explicit ScratchFolder(TemporaryFolder folder)
      : lock_(folder.path()), folder_(std::move(folder)) {}
  FolderLock lock_;  // destroyed after the folder
  TemporaryFolder folder_;
};

Status write_bytes(const fs::path& path, std::span<const uint8_t> bytes) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file || !write_all(file, std::as_bytes(bytes)) || file.close() != 0) {
    return file_error(path, "cannot be written");
  }
  return {};
}

// Runs the linker; its messages are the error.
Status run_linker(const std::vector<std::string>& arguments) {
  static std::mutex mutex;
  static bool usable = true;
  const std::lock_guard lock(mutex);
  if (!usable) return fail(ErrorKind::Build, "the linker crashed before and cannot run again");
  // One thread, so that no thread pool of the linker remains in this process.
  std::vector<const char*> plain = {"ld.lld", "--threads=1"};
  plain.reserve(arguments.size() + 2);
  for (const std::string& argument : arguments) plain.push_back(argument.c_str());
  std::string words;
  llvm::raw_string_ostream stream(words);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  llvm::CrashRecoveryContext::Enable();  // a disk that fills up during the link is a SIGBUS
  const lld::Result result = lld::lldMain(plain, stream, stream, drivers);
  llvm::CrashRecoveryContext::Disable();
  usable = result.canRunAgain;
  lld::elf::ElfSym::globalOffsetTable = nullptr;
  lld::elf::ElfSym::relaIpltStart = nullptr;
  lld::elf::ElfSym::relaIpltEnd = nullptr;
  lld::elf::ElfSym::tlsModuleBase = nullptr;
  if (result.retCode == 0) return {};
  if (!usable) return fail(ErrorKind::Io, "the linker crashed; is the disk full? " + words);
  return fail(ErrorKind::Build, "linking: " + words);
}

void add_wrapped(std::span<const std::string> symbols, std::vector<std::string>& arguments) {
  for (const std::string& symbol : symbols) arguments.push_back("--wrap=" + symbol);
}

// The inputs as files, in order.
Status write_inputs(std::span<const LinkInput> inputs, const ScratchFolder& folder,
                    std::vector<std::string>& arguments) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    const fs::path path = folder.input(k);
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

// A library with only its name, and one of them with the functions: enough to link against.
Status make_system_libraries(const ScratchFolder& folder, std::vector<std::string>& arguments) {
  for (const std::string_view name : kLibraries) {
    ElfObject object(linked_machine());
    const ElfObject::Section code = object.add_section(".text", ElfObject::Kind::Code, 16);
    object.append(code, "\xc3", 1, 1);
    if (name == kLibraries.front()) {
      for (const std::string_view function : kFunctions) {
        object.define(std::string(function), code, 0, 1);
      }
    }
    const fs::path input = folder / fmt::format("{}.o", name);
    const fs::path library = folder / name;
    TRY(object.write(input));
    if (Status done = run_linker(
            {"-shared", "-soname", std::string(name), "-o", library.string(), input.string()});
        !done) {
      return done;
    }
    arguments.push_back(library.string());
  }
  return {};
}

// Copies `made` to `copy`. The linker writes through a mapping, so the system caches the file in
// small pages. Writes of whole huge pages from memory are cached in huge pages, which a process
// that maps the file then gets.
Status write_by_huge_pages(const fs::path& made, const fs::path& copy) {
  const Descriptor from(open(made.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from) return file_error(made, "cannot be read");
  Descriptor to(open(copy.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0777));
  if (!to) return file_error(copy, "cannot be written");
  std::vector<std::byte> block(4 * kHugePage);
  while (true) {
    const ssize_t bytes = read(from.get(), block.data(), block.size());
    if (bytes < 0) return file_error(made, "cannot be read");
    if (bytes == 0) break;
    if (!write_all(to, std::span(block).first(static_cast<size_t>(bytes)))) {
      return file_error(copy, "cannot be written");
    }
  }
  if (to.close() != 0) return file_error(copy, "cannot be written");
  return {};
}

Status replace(const fs::path& made, const fs::path& wanted) {
  if (rename(made.c_str(), wanted.c_str()) != 0) return file_error(wanted, "cannot be replaced");
  return {};
}

}  // namespace

const ElfMachine& linked_machine() {
  static constexpr ElfMachine kMachine = {.id = llvm::ELF::EM_X86_64,
                                          .pointer = llvm::ELF::R_X86_64_64,
                                          .large_flag = llvm::ELF::SHF_X86_64_LARGE};
  return kMachine;
}

Status link_shared(std::span<const LinkInput> inputs, const SharedLibraryOptions& options,
                   const fs::path& library) {
  const ScratchFolder folder = TRY(ScratchFolder::make_next_to(library));
  std::string script = "{ global: ";
  for (const std::string& symbol : options.exported) script += symbol + "; ";
  script += "local: *; };\n";
  const fs::path script_path = folder / "exports";
  TRY(write_file_atomically(script_path, script));

  const fs::path made = folder / "made.so";
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
  add_wrapped(options.wrapped, arguments);
  TRY(write_inputs(inputs, folder, arguments));
  TRY(make_system_libraries(folder, arguments));
  TRY(folder.check_room());
  TRY(run_linker(arguments));
  std::error_code error;
  if (fs::file_size(made, error) < kHugePage || error) return replace(made, library);
  folder.remove_inputs(inputs.size());  // makes room for the second file
  const fs::path again = folder / "again.so";
  TRY(write_by_huge_pages(made, again));
  return replace(again, library);
}

Status link_relocatable(std::span<const LinkInput> inputs, const fs::path& object,
                        std::span<const std::string> wrapped) {
  const ScratchFolder folder = TRY(ScratchFolder::make_next_to(object));
  const fs::path made = folder / "made.o";
  std::vector<std::string> arguments = {"-r", "-o", made.string()};
  add_wrapped(wrapped, arguments);
  TRY(write_inputs(inputs, folder, arguments));
  TRY(folder.check_room());
  TRY(run_linker(arguments));
  return replace(made, object);
}

}  // namespace tilewright::codegen
