#include "deploy/export_c.h"

#include <fmt/format.h>

#include <cstring>

#include "base/atomic_file.h"
#include "base/check.h"
#include "codegen/c/emit_c.h"
#include "deploy/export_parts.h"
#include "deploy/runtime_text.h"
#include "deploy/table.h"

namespace tilewright::deploy {
namespace {

namespace fs = std::filesystem;

std::string c_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {
      result += '\\';
      result += c;
    } else if (letter < 32 || letter >= 127) {
      result += fmt::format("\\{:03o}", letter);
    } else {
      result += c;
    }
  }
  return result + '"';
}

class CText {
 public:
  CText(const Program& program, AtomicFile& file) : program_(program), file_(file) {}

  // Kernels include the header by the name in the Program.
  void kernels(const std::string& header) {
    const std::string known = fmt::format("#include \"{}.h\"", program_.name);
    const std::string& source = program_.c.source;
    const size_t at = source.find(known);
    CHECK(at != std::string::npos, "the source does not include {}", known);
    file_.append(fmt::format("/* The model {}: compiled by tilewright. */\n", program_.name));
    file_.append("#define _GNU_SOURCE 1\n");
    file_.append(std::string_view(source).substr(0, at));
    file_.append(kernel_abi_text());
    file_.append(fmt::format("\n#include \"{}\"", header));
    // Kernels call this instead of tilewright_parallel_for (runtime/abi/thread_pool.h).
    file_.append(R"(

static __attribute__((unused)) int32_t tilewright_kernel_parallel_for(
    void* pool, int32_t threads, int64_t iterations, TilewrightTask task, void* context);
#define tilewright_parallel_for tilewright_kernel_parallel_for
)");
    file_.append(std::string_view(source).substr(at + known.size()));
    file_.append("\n#undef tilewright_parallel_for\n");
  }

  void run_time() {
    file_.append("\n#define TILEWRIGHT_RUNTIME_LINKAGE static __attribute__((unused))\n");
    file_.append(runtime_text());
  }

  void constants() {
    const auto bytes = static_cast<size_t>(program_.constants.size());
    const auto* words = program_.constants.as<const uint64_t>();
    file_.append("\nstatic const _Alignas(64) uint64_t tw_constants[] = {");
    std::string line;
    for (size_t k = 0; k < bytes / sizeof(uint64_t); ++k) {
      line += k % 5 == 0 ? "\n" : "";
      fmt::format_to(std::back_inserter(line), "{:#x},", words[k]);
      if (line.size() < 1 << 16) continue;
      file_.append(line);
      line.clear();
    }
    file_.append(line + "\n};\n");
  }

  void table(const std::string& weights_file) {
    const TableRows rows = table_rows(program_);
    // According to the compiler of the source, not the target: it may compile for fewer features.
    std::string text =
        fmt::format("\nstatic const char tw_features[] = {}    ;\n", codegen::c_enabled_features());
    text += kernel_rows();
    text += "static const TilewrightTableStep tw_steps[] = {\n";
    for (const TilewrightTableStep& step : rows.steps) {
      text += fmt::format("    {{{}, {}, {}, 0}},\n", step.kernel, step.first_argument,
                          step.argument_count);
    }
    text += "    {0, 0, 0, 0}};\nstatic const TilewrightTableArgument tw_arguments[] = {\n";
    for (const TilewrightTableArgument& row : rows.arguments) {
      text += fmt::format("    {{{}, {}, {}}},\n", row.home, row.index, row.offset);
    }
    text += "    {0, 0, 0}};\n" + facts_rows(rows.facts);
    text += table_struct(rows, weights_file);
    file_.append(text);
  }

  void api() {
    std::string text = infos("tw_inputs", program_.inputs) + infos("tw_outputs", program_.outputs);
    text += "static const char* const tw_titles[] = {\n";
    for (const Step& step : program_.steps) text += fmt::format("    {},\n", c_string(step.title));
    text += "    0};\n";
    text += fmt::format(
        "\nconst TilewrightModelApi {}_model = {{\n"
        "    .version = {}, .threads = {}, .name = {},\n"
        "    .input_count = {}, .output_count = {}, .step_count = {},\n"
        "    .inputs = tw_inputs, .outputs = tw_outputs, .step_titles = tw_titles,\n"
        "    .create = tilewright_model_create, .destroy = tilewright_model_destroy,\n"
        "    .error = tilewright_model_error, .run = tilewright_model_run,\n"
        "    .run_dlpack = tilewright_model_run_dlpack, .run_timed = tilewright_model_run_timed,\n"
        "    .memory = tilewright_model_memory, .table = &tw_table}};\n",
        program_.name, TILEWRIGHT_MODEL_VERSION, program_.target.threads(), c_string(program_.name),
        program_.inputs.size(), program_.outputs.size(), program_.steps.size());
    file_.append(text);
  }

 private:
  std::string kernel_rows() const {
    std::string text = "static const TilewrightTableKernel tw_kernels[] = {\n";
    for (size_t k = 0; k < program_.c.kernels.size(); ++k) {
      const codegen::CKernelInfo& kernel = program_.c.kernels[k];
      const int64_t tuned_ns = program_.kernels[k].tuned_ns;
      text += fmt::format("    {{{}, {}, {}, {}}},\n", kernel.symbol, kernel.shared_workspace,
                          kernel.thread_workspace, tuned_ns);
    }
    return text + "    {0, 0, 0, 0}};\n";
  }

  static std::string facts_rows(const std::vector<TilewrightTableFacts>& rows) {
    std::string text = "static const TilewrightTableFacts tw_facts[] = {\n";
    for (const TilewrightTableFacts& row : rows) {
      text += fmt::format(
          "    {{{:.17g}, {}, {}, {}, {{{:#x}u, {:#x}u}}, {{{:#x}u, {:#x}u}}, {}, 0}},\n", row.flop,
          row.constant_bytes, row.read_bytes, row.written_bytes, row.task[0], row.task[1],
          row.program[0], row.program[1], row.elementwise);
    }
    return text + "    {0, 0, 0, 0, {0, 0}, {0, 0}, 0, 0}};\n";
  }

  std::string table_struct(const TableRows& rows, const std::string& weights_file) const {
    const bool external = !weights_file.empty();
    const Hash128 hash = external ? hash_of_constants(program_) : Hash128{};
    return fmt::format(
        "static const TilewrightModelTable tw_table = {{\n"
        "    .version = {}, .denormals = {}, .cpu_features = tw_features,\n"
        "    .kernel_count = {}, .argument_count = {},\n"
        "    .kernels = tw_kernels, .steps = tw_steps, .arguments = tw_arguments,\n"
        "    .arena_bytes = {}, .constant_bytes = {}, .constants = {},\n"
        "    .weights_file = {}, .weights_hash = {{{:#x}u, {:#x}u}}, .facts = tw_facts}};\n",
        TILEWRIGHT_TABLE_VERSION, keeps_denormals(program_) ? 1 : 0, program_.kernels.size(),
        rows.arguments.size(), program_.arena_bytes, program_.constants.size(),
        external || program_.constants.size() == 0 ? "0" : "tw_constants",
        external ? c_string(weights_file) : "0", hash.high, hash.low);
  }

  static std::string infos(std::string_view name, const std::vector<ProgramTensor>& tensors) {
    std::string shapes = fmt::format("static const int64_t {}_shapes[] = {{", name);
    std::string text = fmt::format("static const TilewrightTensorInfo {}[] = {{\n", name);
    size_t first = 0;
    for (const ProgramTensor& tensor : tensors) {
      const TilewrightTensorInfo info = plain_info(tensor);
      text +=
          fmt::format("    {{{}, {{{}, {}, 1}}, {}, {}_shapes + {}, {}}},\n", c_string(tensor.name),
                      info.type.code, info.type.bits, info.rank, name, first, info.bytes);
      for (const int64_t extent : tensor.type.shape) shapes += fmt::format("{}, ", extent);
      first += tensor.type.shape.size();
    }
    // The last row uses the shapes if there are none.
    return shapes + "0};\n" + text +
           fmt::format("    {{0, {{0, 0, 0}}, 0, {}_shapes, 0}}}};\n", name);
  }

  const Program& program_;
  AtomicFile& file_;
};

}  // namespace

Status export_c(const Program& program, const fs::path& c, const ExportOptions& options) {
  if (program.c.source.empty()) {
    return fail(ErrorKind::BadInput, "the model was compiled without C source");
  }
  if (!options.external_weights && program.constants.size() > kMaxEmbeddedInC) {
    return fail(ErrorKind::Unsupported,
                fmt::format("{} MB of weights are too many for a C source; write them to a file "
                            "next to it",
                            program.constants.size() >> 20),
                {{"external_weights", ""}});
  }
  Companions companions;
  if (options.external_weights) {
    TRY(companions.add_weights(program, c));
  }
  TRY(companions.add_header(program, c));
  AtomicFile file = TRY(AtomicFile::create(c));
  CText text(program, file);
  text.kernels(fs::path(c).replace_extension(".h").filename().string());
  text.run_time();
  if (!options.external_weights && program.constants.size() > 0) text.constants();
  text.table(companions.weights_file());
  text.api();
  TRY(file.finish());
  return companions.finish();
}

}  // namespace tilewright::deploy
