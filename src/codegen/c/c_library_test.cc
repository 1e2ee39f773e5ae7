#include "codegen/c/c_library.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "codegen/c/back_end.h"
#include "codegen/microkernel_testing.h"
#include "runtime/host/loaders.h"
#include "runtime/host/thread_pool.h"

namespace tilewright::codegen {
namespace {

using namespace ir;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

// io[i] = io[i] + worker's copy of it, in parallel.
Function doubled() {
  const Expr i = var("i"), zero = int_imm(0);
  return {.name = "doubled",
          .buffers = {{.name = "io", .element = kF32, .shape = {9}},
                      {.name = "mine", .element = kF32, .shape = {1}, .scope = Scope::Thread}},
          .arguments = {0},
          .argument_written = {true},
          .body = make_for(
              i, int_imm(9), ForKind::Parallel,
              make_allocate(1, make_block({make_store(1, {zero}, load(Scalar::F32, 0, {i})),
                                           make_store(0, {i},
                                                      load(Scalar::F32, 0, {i}) +
                                                          load(Scalar::F32, 1, {zero}))})))};
}

// A folder with the two files, removed at the end; compiles and runs by command.
class Files {
 public:
  explicit Files(const CSource& source) {
    write("kernels.h", source.header);
    write("kernels.c", source.source);
  }

  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomically(folder_ / name, text).has_value());
  }
  int run(const std::string& command) const {
    return std::system(
        fmt::format("cd '{}' && {}", folder_.path().native(), command).c_str());  // NOLINT
  }
  std::string read(const std::string& name) const { return read_file(folder_ / name).value_or(""); }

 private:
  TemporaryFolder folder_ = make_scratch_folder("tilewright-c-files-").value();
};

TEST(CLibrary, ProbeWorks) {
  const Status status = probe(c_back_end());
  EXPECT_TRUE(status.has_value()) << status.error().message;
}

TEST(CLibrary, RunsOnThePoolOfTheCaller) {
  const Function f = doubled();
  const Result<CLibrary> library = CLibrary::build({&f, 1}, host_target(2));
  ASSERT_TRUE(library.has_value()) << library.error().message;
  const runtime::Kernel& kernel = library->kernels()[0];
  EXPECT_EQ(kernel.workspace_bytes(2), 2 * library->source().kernels[0].thread_workspace);
  std::vector<char> workspace(static_cast<size_t>(kernel.workspace_bytes(2)));
  float io[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  void* arguments[] = {io};
  runtime::ThreadPool pool({.threads = 2, .pin = false});
  EXPECT_EQ(kernel({arguments, workspace.data(), &pool, 2, 0}), TILEWRIGHT_STATUS_OK);
  EXPECT_EQ(io[8], 18);
  // If the pool cannot run the loop, the kernel fails.
  EXPECT_EQ(kernel({arguments, workspace.data(), &pool, 0, 0}), TILEWRIGHT_STATUS_PARALLEL_FAILED);
}

// Altered or truncated files are never mapped, so loading them cannot crash the process.
TEST(CLibrary, DamagedLibrariesAreErrors) {
  const Function f = doubled();
  const auto source = emit_c({&f, 1}, host_target(1));
  ASSERT_TRUE(source.has_value()) << source.error().message;
  const auto artifacts = compile_c(*source, host_target(1));
  ASSERT_TRUE(artifacts.has_value()) << artifacts.error().message;
  const runtime::Artifact& good = artifacts->front();
  const runtime::Loader& loader = **runtime::loader_of(good.kind);
  ASSERT_TRUE(loader.load(good).has_value());
  for (size_t at = 0; at < good.bytes.size(); at += 61) {
    runtime::Artifact bad = good;
    bad.bytes[at] ^= 0xff;
    const auto altered = loader.load(bad);
    ASSERT_FALSE(altered.has_value()) << at;
    EXPECT_EQ(altered.error().kind, ErrorKind::Build);
    bad.bytes = {good.bytes.begin(), good.bytes.begin() + static_cast<std::ptrdiff_t>(at)};
    EXPECT_FALSE(loader.load(bad).has_value()) << at;
  }
}

TEST(CLibrary, CompilerFailuresAreReported) {
  const Function f = doubled();
  const auto missing = CLibrary::build({&f, 1}, host_target(1), {.compiler = "no-such-compiler"});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(missing.error().message, "cannot start no-such-compiler: No such file or directory");
  const auto flag = CLibrary::build({&f, 1}, host_target(1), {.flags = {"-fno-such-flag"}});
  ASSERT_FALSE(flag.has_value());
  EXPECT_EQ(flag.error().kind, ErrorKind::Build);
  EXPECT_THAT(flag.error().message, HasSubstr("-fno-such-flag"));
  const auto fast = CLibrary::build({&f, 1}, host_target(1), {.flags = {"-ffast-math"}});
  ASSERT_FALSE(fast.has_value());
  EXPECT_THAT(fast.error().message, HasSubstr("compile without -ffast-math"));
}

// It is not the compiler that is missing.
TEST(CLibrary, MissingTemporaryFolderIsAnError) {
  const Function f = doubled();
  const char* const before = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): one thread
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/no/such/folder", 1);
  const auto library = CLibrary::build({&f, 1}, host_target(1));
  const Status probed = probe(c_back_end());
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
  ASSERT_FALSE(library.has_value());
  EXPECT_EQ(library.error().kind, ErrorKind::Io);
  EXPECT_THAT(library.error().message, HasSubstr("set TMPDIR"));
  ASSERT_FALSE(probed.has_value());
  EXPECT_EQ(probed.error().kind, ErrorKind::Io);
  EXPECT_THAT(probed.error().message, HasSubstr("set TMPDIR"));
}

// The two files and a main function are a program; parallel loops run in order.
TEST(CLibrary, FilesCompileWithoutTheRepository) {
  const Function f = doubled();
  const Result<CSource> source = emit_c({&f, 1}, make_target({}, 1));
  ASSERT_TRUE(source.has_value());
  const Files files(*source);
  files.write("main.c", R"(#include "kernels.h"
int main(void) {
  static char workspace[TILEWRIGHT_DOUBLED_SHARED_WORKSPACE + 3 * TILEWRIGHT_DOUBLED_THREAD_WORKSPACE];
  float io[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  void* arguments[] = {io};
  TilewrightCall call = {.arguments = arguments, .workspace = workspace, .threads = 3};
  if (tilewright_doubled(&call) != TILEWRIGHT_STATUS_OK || io[8] != 18) return 1;
  call.threads = 0;
  return tilewright_doubled(&call) != TILEWRIGHT_STATUS_PARALLEL_FAILED;
}
)");
  const std::string strict = " -Wall -Wextra -Werror ";
  for (const char* standard : {"-std=c11", "-std=gnu17"}) {
    ASSERT_EQ(files.run("gcc " + std::string(standard) + strict + "main.c kernels.c -o main"), 0);
    EXPECT_EQ(files.run("./main"), 0);
  }
  EXPECT_EQ(files.run("g++ -fsyntax-only -x c++" + strict + "kernels.h"), 0);
}

// The tile of sums stays in registers and is updated by fused instructions of whole vectors.
TEST(CLibrary, CompilersKeepVectorOperations) {
  const Function f = make_microkernel({.rows = 14, .columns = 2, .lanes = 16, .unroll = 1});
  const Target target = *parse_target("x86-64-v4;threads=1");
  const Result<CSource> source = emit_c({&f, 1}, target);
  ASSERT_TRUE(source.has_value());
  const Files files(*source);
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (files.run(fmt::format("command -v {} > /dev/null", compiler)) != 0) {
      GTEST_SKIP() << compiler << " is not installed";
    }
    ASSERT_EQ(files.run(fmt::format("{} -O2 {} -S kernels.c", compiler,
                                    fmt::join(c_target_flags(target), " "))),
              0);
    const std::string assembly = files.read("kernels.s");
    int fused = 0;
    for (size_t at = assembly.find("vfmadd"); at != std::string::npos;
         at = assembly.find("vfmadd", at + 1)) {
      const std::string line = assembly.substr(at, assembly.find('\n', at) - at);
      fused += line.find("zmm") != std::string::npos ? 1 : 0;
      EXPECT_EQ(line.find("ss\t"), std::string::npos) << line;
    }
    EXPECT_EQ(fused, 28) << compiler;
  }
}

}  // namespace
}  // namespace tilewright::codegen
