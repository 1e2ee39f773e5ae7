#include "deploy/export.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>

#include "base/file.h"
#include "base/sanitizer.h"
#include "deploy/export_c.h"
#include "deploy/model_header.h"
#include "deploy/plans_testing.h"
#include "runtime/host/model_library.h"

namespace tilewright::deploy {
namespace {

using graph::Constant;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

void expect_right(const TilewrightModelApi& api, const ModelPlan& plan,
                  const char* weights = nullptr) {
  const TilewrightModelOptions options{.threads = 0, .flags = 0, .weights_path = weights};
  TilewrightModel* model = nullptr;
  ASSERT_EQ(api.create(&api, &options, &model), 0) << api.error(nullptr);
  const Constant x = random_constant({1, 14, 14, 16}, 9);
  const std::vector<float> expected = small_model_result(plan, x);
  std::vector<float> out(expected.size());
  const void* inputs[] = {x.bytes().data()};
  void* outputs[] = {out.data()};
  ASSERT_EQ(api.run(model, inputs, outputs), 0) << api.error(model);
  expect_near(out, expected);
  api.destroy(model);
}

TEST(ExportShared, LibraryIsSelfContained) {
  const TestFolder folder;
  const ModelPlan plan = small_model();
  const Status done = export_shared(must_compile(plan, {.name = "small"}), folder / "m.so");
  ASSERT_TRUE(done.has_value()) << done.error().message;
  const auto library = runtime::ModelLibrary::open(folder / "m.so");
  ASSERT_TRUE(library.has_value()) << library.error().message;
  EXPECT_STREQ(library->api().name, "small");
  void* handle = dlopen((folder / "m.so").c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(dlsym(handle, "small_model"), &library->api());
  EXPECT_EQ(dlsym(handle, "tilewright_model_create"), nullptr);
  dlclose(handle);
  expect_right(library->api(), plan);
  expect_right(library->api(), plan);
}

// Threads end with the last instance, so the library can go.
TEST(ExportShared, CanBeClosedAndOpenedAgain) {
  const TestFolder folder;
  const ModelPlan plan = small_model();
  ASSERT_TRUE(export_shared(must_compile(plan), folder / "m.so").has_value());
  for (int round = 0; round < 3; ++round) {
    const auto library = runtime::ModelLibrary::open(folder / "m.so");
    ASSERT_TRUE(library.has_value()) << library.error().message;
    expect_right(library->api(), plan);
  }
}

// Nothing of a closed library is called in a child, and a library may be closed in one.
TEST(ExportShared, AProcessMayForkBeforeAndAfterItIsClosed) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer does not support threads and fork";
  const TestFolder folder;
  const ModelPlan plan = small_model();
  ASSERT_TRUE(export_shared(must_compile(plan), folder / "m.so").has_value());
  const auto fork_and = [](const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);  // ends a child that hangs
      work();
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  };
  {
    std::optional library = runtime::ModelLibrary::open(folder / "m.so");
    ASSERT_TRUE(library->has_value()) << library->error().message;
    const TilewrightModelOptions options{.threads = 2, .flags = 0, .weights_path = nullptr};
    TilewrightModel* model = nullptr;
    const TilewrightModelApi& api = (*library)->api();
    ASSERT_EQ(api.create(&api, &options, &model), 0) << api.error(nullptr);
    fork_and([&] {
      expect_right(api, plan);
      api.destroy(model);
      library.reset();
      fork_and([] {});
    });
    expect_right(api, plan);
    api.destroy(model);
  }
  fork_and([&] {
    const auto library = runtime::ModelLibrary::open(folder / "m.so");
    ASSERT_TRUE(library.has_value()) << library.error().message;
    expect_right(library->api(), plan);
  });
}

TEST(ExportShared, WeightsInASeparateFile) {
  const TestFolder folder;
  const ModelPlan plan = small_model();
  const Program program = must_compile(plan);
  ASSERT_TRUE(export_shared(program, folder / "m.so", {.external_weights = true}).has_value());
  EXPECT_EQ(fs::file_size(folder / "m.weights"),
            static_cast<uintmax_t>(4096 + program.constants.size()));
  ASSERT_TRUE(export_shared(program, folder / "embedded.so").has_value());
  EXPECT_LT(fs::file_size(folder / "m.so"), fs::file_size(folder / "embedded.so"));
  {
    const auto library = runtime::ModelLibrary::open(folder / "m.so");
    ASSERT_TRUE(library.has_value()) << library.error().message;
    const TilewrightModelApi* api = &library->api();
    expect_right(*api, plan);
    fs::create_directory(folder / "elsewhere");
    fs::rename(folder / "m.weights", folder / "elsewhere/w");
    TilewrightModel* model = nullptr;
    EXPECT_EQ(api->create(api, nullptr, &model), TILEWRIGHT_MODEL_NO_WEIGHTS);
    EXPECT_THAT(api->error(nullptr), HasSubstr("m.weights cannot be opened"));
    expect_right(*api, plan, (folder / "elsewhere/w").c_str());
  }
  const auto expect_refused = [&](const char* text) {
    const auto library = runtime::ModelLibrary::open(folder / "m.so");
    ASSERT_TRUE(library.has_value()) << library.error().message;
    const auto instance = runtime::make_instance(library->api(), {});
    ASSERT_FALSE(instance.has_value());
    EXPECT_EQ(instance.error().kind, ErrorKind::Io);
    EXPECT_THAT(instance.error().message, HasSubstr(text));
  };
  const std::string good = *read_file(folder / "elsewhere/w");
  const auto write = [&](const std::string& bytes) {
    ASSERT_TRUE(write_file_atomically(folder / "m.weights", bytes).has_value());
  };
  write(good.substr(0, good.size() - 1));
  expect_refused("cut short");
  write("nothing");
  expect_refused("no file of weights");
  std::string other = good;
  other[24] ^= 1;  // of the hash
  write(other);
  expect_refused("another model");
  other = good;
  other[8] = 9;
  write(other);
  expect_refused("another version");
}

// A library may be opened by a relative path, and the program be elsewhere later.
TEST(ExportShared, WeightsAreFoundFromAnotherFolder) {
  const TestFolder folder;
  const ModelPlan plan = small_model();
  ASSERT_TRUE(export_shared(must_compile(plan), folder / "m.so", {.external_weights = true}));
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const auto library = runtime::ModelLibrary::open("m.so");
  fs::current_path(before);
  ASSERT_TRUE(library.has_value()) << library.error().message;
  expect_right(library->api(), plan);
}

TEST(ExportShared, WeightsThatAreNotARegularFileAreAnError) {
  const TestFolder folder;
  ASSERT_TRUE(
      export_shared(must_compile(small_model()), folder / "m.so", {.external_weights = true}));
  fs::remove(folder / "m.weights");
  ASSERT_EQ(mkfifo((folder / "m.weights").c_str(), 0600), 0);
  const auto library = runtime::ModelLibrary::open(folder / "m.so");
  ASSERT_TRUE(library.has_value()) << library.error().message;
  const auto instance = runtime::make_instance(library->api(), {});
  ASSERT_FALSE(instance.has_value());
  EXPECT_THAT(instance.error().message, HasSubstr("no file of weights"));
}

// The loader would map beyond the end of the file.
TEST(ModelLibrary, TruncatedFileIsAnError) {
  const TestFolder folder;
  ASSERT_TRUE(export_shared(must_compile(small_model()), folder / "m.so"));
  const std::string whole = *read_file(folder / "m.so");
  for (const size_t bytes : {size_t{10}, size_t{100}, size_t{5000}, whole.size() / 2}) {
    const fs::path cut = folder / ("cut" + std::to_string(bytes) + ".so");
    ASSERT_TRUE(write_file_atomically(cut, std::string_view(whole).substr(0, bytes)));
    const auto library = runtime::ModelLibrary::open(cut);
    ASSERT_FALSE(library.has_value()) << bytes;
    EXPECT_THAT(library.error().message, HasSubstr("cut short")) << bytes;
  }
}

TEST(ModelLibrary, OtherFilesAreErrors) {
  const TestFolder folder;
  const auto missing = runtime::ModelLibrary::open(folder / "m.so");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, ErrorKind::Io);
  ASSERT_TRUE(write_file_atomically(folder / "m.so", "nonsense").has_value());
  EXPECT_FALSE(runtime::ModelLibrary::open(folder / "m.so").has_value());
  const auto other = runtime::ModelLibrary::open("libc.so.6");
  ASSERT_FALSE(other.has_value());
}

TEST(Export, IsReproducible) {
  const TestFolder folder;
  fs::create_directory(folder / "a");
  fs::create_directory(folder / "b");
  for (const bool external : {false, true}) {
    for (const std::string where : {"a", "b"}) {
      // Compiled again each time, with another number of jobs.
      const Program program =
          must_compile(small_model(), {.c_source = true, .jobs = where == "a" ? 1 : 3});
      const ExportOptions options{.external_weights = external};
      ASSERT_TRUE(export_shared(program, folder / (where + "/m.so"), options).has_value());
      ASSERT_TRUE(export_object(program, folder / (where + "/m.o"), options).has_value());
      ASSERT_TRUE(export_c(program, folder / (where + "/m.c"), options).has_value());
    }
    for (const std::string file : {"m.so", "m.o", "m.c", "m.h", "m.weights"}) {
      if (!external && file == "m.weights") continue;
      const auto a = read_file(folder / ("a/" + file));
      const auto b = read_file(folder / ("b/" + file));
      ASSERT_TRUE(a.has_value() && b.has_value()) << file;
      EXPECT_TRUE(*a == *b) << file;
      EXPECT_THAT(*a, Not(HasSubstr("/tilewright-"))) << file;  // no path of the build
    }
  }
}

TEST(Export, ErrorsNameTheFile) {
  const TestFolder folder;
  const Program program = must_compile(small_model());
  const Status no_c = export_c(program, folder / "m.c");
  ASSERT_FALSE(no_c.has_value());
  EXPECT_THAT(no_c.error().message, HasSubstr("without C source"));
  const fs::path nowhere = folder / "nowhere/m.so";
  for (const Status& status : {export_shared(program, nowhere), export_object(program, nowhere),
                               export_shared(program, nowhere, {.external_weights = true})}) {
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().kind, ErrorKind::Io);
    EXPECT_THAT(status.error().message, HasSubstr("nowhere"));
  }
}

// Objects and sources of one name share the header.
TEST(Export, HeaderIsTheSameForAllForms) {
  const TestFolder folder;
  const Program program = must_compile(small_model(), {.name = "net", .c_source = true});
  ASSERT_TRUE(export_c(program, folder / "net.c"));
  const auto of_source = read_file(folder / "net.h");
  ASSERT_TRUE(export_object(program, folder / "net.o"));
  EXPECT_EQ(read_file(folder / "net.h"), of_source);
  const std::string source = *read_file(folder / "net.c");
  const size_t interface = source.find("typedef struct TilewrightCall");
  EXPECT_NE(interface, std::string::npos);
  EXPECT_LT(interface, source.find("#include \"net.h\""));
}

// The path of the file is a folder: no companion file is left.
TEST(Export, FailedExportLeavesNoOtherFiles) {
  const TestFolder folder;
  const Program program = must_compile(small_model(), {.name = "net", .c_source = true});
  for (const auto& [name, write] :
       {std::pair("net.so", &export_shared), {"net.o", &export_object}, {"net.c", &export_c}}) {
    fs::create_directories(folder / name / "full");
    EXPECT_FALSE(write(program, folder / name, {.external_weights = true}).has_value()) << name;
    EXPECT_TRUE(fs::is_directory(folder / name / "full")) << name;
    fs::remove_all(folder / name);
    EXPECT_TRUE(fs::is_empty(folder / ""))
        << name << " leaves " << fs::directory_iterator(folder / "")->path();
  }
}

// The path of a companion file is a folder: the existing file is kept.
TEST(Export, FailedExportKeepsTheExistingFile) {
  const TestFolder folder;
  const Program program = must_compile(small_model(), {.name = "net"});
  ASSERT_TRUE(write_file_atomically(folder / "net.so", "old").has_value());
  fs::create_directories(folder / "net.weights");
  EXPECT_FALSE(export_shared(program, folder / "net.so", {.external_weights = true}).has_value());
  EXPECT_EQ(read_file(folder / "net.so"), "old");
}

TEST(Export, SymbolicLinksAreKept) {
  const TestFolder folder;
  const Program program = must_compile(small_model(), {.name = "net"});
  fs::create_directories(folder / "other");
  fs::create_symlink("other/net.weights", folder / "net.weights");
  ASSERT_TRUE(export_shared(program, folder / "net.so", {.external_weights = true}).has_value());
  EXPECT_TRUE(fs::is_symlink(folder / "net.weights"));
  EXPECT_TRUE(fs::is_regular_file(folder / "other/net.weights"));
}

// For any names, macros differ and comments are closed correctly.
TEST(ModelHeader, NamesOfAnyBytes) {
  Program program;
  program.name = "net";
  for (const char* name : {"a_b_2", "a b", "a_b", "x/*y*/z", "bad \xFF name"}) {
    program.inputs.push_back({.name = name, .type = f32({1})});
  }
  const std::string header = model_header(program, "net.h");
  EXPECT_THAT(header, HasSubstr("NET_INPUT_A_B_2 0 "));
  EXPECT_THAT(header, HasSubstr("NET_INPUT_A_B 1 "));
  EXPECT_THAT(header, HasSubstr("NET_INPUT_A_B_2_2 2 "));
  EXPECT_THAT(header, HasSubstr("/* x/ y* z: f32[1]"));
  EXPECT_THAT(header, HasSubstr("/* bad ? name: f32[1]"));
}

TEST(Export, TheHeaderNamesInputsAndOutputs) {
  const TestFolder folder;
  ASSERT_TRUE(export_object(must_compile(small_model(), {.name = "net"}), folder / "net.o"));
  const auto header = read_file(folder / "net.h");
  ASSERT_TRUE(header.has_value());
  EXPECT_THAT(*header, HasSubstr("extern const TilewrightModelApi net_model;"));
  EXPECT_THAT(*header, HasSubstr("#define NET_INPUT_X 0 /* x: f32[1,14,14,16], 12544 bytes */"));
  EXPECT_THAT(*header, HasSubstr("#define NET_OUTPUT_Y 0"));
  EXPECT_THAT(*header, Not(HasSubstr("#include \"")));
}

}  // namespace
}  // namespace tilewright::deploy
