// ./dev bench deploy: compares measured and deployed times. For 20 kernels with schedules written
// by hand, default and random ones, the time of the record (a Session, the ordinary protocol) is
// compared with the time of the same object in a shared library, called by a plain C program
// (deploy_caller.c) with separate memory. The two alternate; each time is the median over the
// turns. With --full there are more turns, and the C program also runs with huge pages. At the end,
// a compiled model with denormal activations is compared with the same model without.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>

#include "base/quantile.h"
#include "base/temporary_folder.h"
#include "bench/measuring.h"
#include "bench/rows.h"
#include "codegen/back_ends/build_kernel.h"
#include "deploy/compile_model.h"
#include "deploy/plan_workload.h"
#include "deploy/runner.h"
#include "heuristic/default_trace.h"
#include "layout/repack.h"
#include "measure/model_arrays.h"
#include "measure/shared_operands.h"
#include "oracle/draw_inputs.h"
#include "runtime/host/timer.h"
#include "schedule/apply.h"
#include "space/random_trace.h"
#include "task/parse.h"

namespace tilewright::bench {
namespace {

constexpr double kMedianBar = 3;  // percent
constexpr double kFarBar = 7;
constexpr int64_t kNearBar = 18;  // of 20
constexpr double kSliceSeconds = 0.2;
constexpr double kDenormalBar = 1.1;  // times the model without denormals

struct Case {
  const char* what;
  enum { Hand, Default, Random } how;
};
constexpr Case kCases[] = {
    {"GMM2", Case::Hand},    {"GMM3", Case::Hand},    {"C1D3", Case::Hand},
    {"C2D2", Case::Hand},    {"C2D3", Case::Hand},    {"C3D2", Case::Hand},
    {"CBR1", Case::Hand},    {"DEP0", Case::Hand},    {"DIL2", Case::Hand},
    {"GRP2", Case::Hand},    {"NRM3", Case::Hand},    {"SFM2", Case::Hand},
    {"T2D1", Case::Hand},    {"TBS0", Case::Hand},    {"GMM1", Case::Default},
    {"C2D1", Case::Default}, {"SFM1", Case::Default}, {"GMM2", Case::Random},
    {"C2D2", Case::Random},  {"DEP0", Case::Random},
};
constexpr const char* kHow[] = {"hand", "default", "random"};

void write(const std::string& path, const void* bytes, size_t count) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
  file.close();
  CHECK(file.good(), "cannot write {}", path);
}

// The kernel as a shared library and its operands as files: the words of deploy_caller after
// MEMORY.
std::vector<std::string> export_library(const Task& task, const schedule::Trace& trace,
                                        const TemporaryFolder& folder) {
  const schedule::LoopTree initial = must(schedule::initial_tree(task.workload));
  const schedule::LoopTree tree = must(schedule::apply_or_explain(initial, trace));
  const runtime::Artifact object = must(codegen::build_artifact(task, tree, trace));
  const std::string object_file = folder / "kernel.o";
  const std::string library = folder / "kernel.so";
  write(object_file, object.bytes.data(), object.bytes.size());
  const std::string link = fmt::format("{} -shared -o {} {} {}", TILEWRIGHT_LINKER, library,
                                       object_file, TILEWRIGHT_LIBRARIES);
  CHECK(std::system(link.c_str()) == 0, "cannot link: {}", link);

  measure::SharedOperands operands = must(measure::SharedOperands::create(task.workload));
  must(oracle::draw_inputs(task.workload, 1, operands.sections()));
  std::vector<std::string> words = {library, object.entry, std::to_string(task.target.threads()),
                                    std::to_string(object.workspace_bytes(task.target.threads()))};
  for (size_t k = 0; k < task.workload.operands.size(); ++k) {
    const Operand& operand = task.workload.operands[k];
    const std::span<const std::byte> bytes = operands.operand(k);
    if (operand.role == Role::Output) {
      words.push_back(fmt::format(":{}", bytes.size()));
      continue;
    }
    words.push_back(folder / fmt::format("operand{}", k));
    const auto buffer = static_cast<schedule::BufferIndex>(operand.tensor);
    if (tree.buffer(buffer).packed_for == schedule::kNone) {
      write(words.back(), bytes.data(), bytes.size());
      continue;
    }
    const te::Tensor& tensor = task.workload.dag->tensor(operand.tensor);
    const layout::Layout layout = schedule::layout_of(tree, buffer);
    std::vector<std::byte> packed(layout::bytes_of(tensor, layout));
    layout::repack(tensor, layout, bytes.data(), packed.data());
    write(words.back(), packed.data(), packed.size());
  }
  return words;
}

// The C program, controlled over pipes.
class Caller {
 public:
  Caller(const char* memory, const std::vector<std::string>& words) {
    std::vector<std::string> all = {(worker_folder() / "bench/bench_deploy_caller").string(),
                                    memory};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> raw;
    raw.reserve(all.size() + 1);
    for (std::string& word : all) raw.push_back(word.data());
    raw.push_back(nullptr);
    int to[2];
    int from[2];
    CHECK(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0, "no pipes");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(to[0], 0);
      dup2(from[1], 1);
      execv(raw[0], raw.data());
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    to_ = fdopen(to[1], "w");
    from_ = fdopen(from[0], "r");
  }
  ~Caller() {
    std::fclose(to_);
    std::fclose(from_);
    waitpid(pid_, nullptr, 0);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  double slice_ns() {
    std::fprintf(to_, "slice %f\n", kSliceSeconds);
    std::fflush(to_);
    double ns = 0;
    int samples = 0;
    CHECK(std::fscanf(from_, "%lf %d", &ns, &samples) == 2, "the C program ended");
    return ns;
  }

 private:
  int pid_ = 0;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
};

double record_ns(measure::Session& session, const schedule::Trace& trace) {
  const record::Verdict verdict = measure_all(session, {trace})[0].attempt.verdict;
  CHECK(verdict.kind == record::VerdictKind::Timed, "{} {}", text_of(verdict.kind), verdict.text);
  return verdict.latency_ns;
}

schedule::Trace trace_of(const Case& c, const Task& task, measure::Session& session) {
  if (c.how == Case::Hand) return hand_trace(c.what);
  if (c.how == Case::Default) return must(heuristic::default_trace(task.workload, task.target));
  Rng rng(5);  // the fastest of several, as would be deployed
  const auto drawn = space::random_traces(task, 24, rng);
  const auto answers = measure_all(session, drawn);
  const schedule::Trace* best = nullptr;
  double best_ns = 0;
  for (size_t k = 0; k < drawn.size(); ++k) {
    const record::Verdict& verdict = answers[k].attempt.verdict;
    if (verdict.kind != record::VerdictKind::Timed) continue;
    if (best != nullptr && verdict.latency_ns >= best_ns) continue;
    best = &drawn[k];
    best_ns = verdict.latency_ns;
  }
  CHECK(best != nullptr, "none of the random schedules of {} was timed", c.what);
  return *best;
}

struct Outcome {
  double record_ns, deployed_ns, huge_ns;  // huge_ns: 0 if not requested
};

Outcome run_case(const Case& c, bool full) {
  const Task task = task_of(c.what);
  ScratchStore scratch("deploy");
  measure::SessionOptions options = session_options("bench deploy");
  options.recall = record::Recall::None;
  options.measure.censor_multiple = 1e9;  // all of them are timed
  measure::Session session = must(measure::Session::start(task, scratch.store(), options));
  const schedule::Trace trace = trace_of(c, task, session);
  const TemporaryFolder folder = must(TemporaryFolder::make(worker_folder(), "bench-deploy-"));
  const std::vector<std::string> words = export_library(task, trace, folder);
  Caller plain("plain", words);
  std::optional<Caller> huge;
  if (full) huge.emplace("huge", words);
  std::vector<double> records;
  std::vector<double> calls;
  std::vector<double> huge_calls;
  for (int turn = 0; turn < (full ? 9 : 5); ++turn) {
    records.push_back(record_ns(session, trace));
    calls.push_back(plain.slice_ns());
    if (huge) huge_calls.push_back(huge->slice_ns());
  }
  return {median_of(records), median_of(calls), huge ? median_of(huge_calls) : 0};
}

// Attention that hides half of the keys by scores of `hidden`; at -100 their weights are denormal
// (4e-44), and so are their products with the values.
class MaskedAttention {
 public:
  MaskedAttention(const TilewrightModelApi& api, float hidden)
      : api_(api), arrays_(measure::random_arrays(api, 1)) {
    const float key = hidden / std::sqrt(static_cast<float>(kDimension));
    fill(0, [](int64_t) { return 1.0F; });
    fill(1, [key](int64_t k) { return k / kDimension % 2 == 0 ? 0.0F : key; });
  }

  double run_ns(TilewrightModel* model) {
    const int64_t begin = runtime::now_ns();
    const int32_t code =
        api_.run(model, arrays_.input_pointers.data(), arrays_.output_pointers.data());
    const auto ns = static_cast<double>(runtime::now_ns() - begin);
    CHECK(code == TILEWRIGHT_MODEL_OK, "{}", api_.error(model));
    return ns;
  }

  static constexpr int64_t kDimension = 64;

 private:
  template <class Value>
  void fill(size_t input, Value&& value) {
    auto* const data = arrays_.inputs[input].as<float>();
    const int64_t elements = api_.inputs[input].bytes / static_cast<int64_t>(sizeof(float));
    for (int64_t k = 0; k < elements; ++k) data[k] = value(k);
  }

  const TilewrightModelApi& api_;
  measure::ModelArrays arrays_;
};

struct DenormalTimes {
  double usual_ns, denormal_ns;
};

DenormalTimes time_denormals(bool kept) {
  const Workload workload = must(parse_workload(
      fmt::format("attention:b=1,heads=12,seq=128,dim={}", MaskedAttention::kDimension),
      {.denormals = kept}));
  const deploy::ModelPlan plan = deploy::plan_workload(workload, {});
  const Target target = host_target(2);
  const auto choices = must(deploy::choose_schedules(plan, target, nullptr));
  const deploy::Program program = must(deploy::compile_model(plan, choices, target));
  const deploy::Runner runner = must(deploy::Runner::load(program));
  MaskedAttention usual(runner.api(), -1);
  MaskedAttention denormal(runner.api(), -100);
  std::vector<double> usual_ns, denormal_ns;
  for (int turn = 0; turn < 300; ++turn) {
    usual_ns.push_back(usual.run_ns(runner.model()));
    denormal_ns.push_back(denormal.run_ns(runner.model()));
  }
  return {median_of(usual_ns), median_of(denormal_ns)};
}

double add_denormals(Rows& rows) {
  const DenormalTimes flushed = time_denormals(false);
  const DenormalTimes kept = time_denormals(true);
  const double ratio = flushed.denormal_ns / flushed.usual_ns;
  const double kept_ratio = kept.denormal_ns / kept.usual_ns;
  fmt::print(
      "\nattention, us: {:.1f}, with denormal weights {:.1f} ({:.2f} x); with denormals kept "
      "{:.1f} and {:.1f} ({:.2f} x)\n",
      flushed.usual_ns * 1e-3, flushed.denormal_ns * 1e-3, ratio, kept.usual_ns * 1e-3,
      kept.denormal_ns * 1e-3, kept_ratio);
  rows.add("denormals", "usual_us", flushed.usual_ns * 1e-3);
  rows.add("denormals", "denormal_us", flushed.denormal_ns * 1e-3);
  rows.add("denormals", "ratio", ratio);
  rows.add("denormals", "ratio_if_kept", kept_ratio);
  return ratio;
}

}  // namespace

int run(const Flags& flags, Rows& rows) {
  std::vector<double> differences;
  fmt::print("{:<16}{:>12}{:>14}{:>12}{}\n", "kernel", "record us", "deployed us", "difference",
             flags.full ? "    with huge pages us" : "");
  for (const Case& c : kCases) {
    const std::string name = fmt::format("{}/{}", c.what, kHow[c.how]);
    const Outcome outcome = run_case(c, flags.full);
    const double percent = 100 * (outcome.deployed_ns / outcome.record_ns - 1);
    fmt::print("{:<16}{:>12.1f}{:>14.1f}{:>+10.1f} %", name, outcome.record_ns * 1e-3,
               outcome.deployed_ns * 1e-3, percent);
    if (flags.full) {
      fmt::print("{:>14.1f}{:>+10.1f} %", outcome.huge_ns * 1e-3,
                 100 * (outcome.huge_ns / outcome.record_ns - 1));
    }
    fmt::print("\n");
    std::fflush(stdout);
    differences.push_back(std::abs(percent));
    rows.add(name, "record_us", outcome.record_ns * 1e-3);
    rows.add(name, "deployed_us", outcome.deployed_ns * 1e-3);
    rows.add(name, "difference_percent", percent);
  }
  const auto near = std::count_if(differences.begin(), differences.end(),
                                  [](double percent) { return percent <= kFarBar; });
  rows.add("deploy", "median_difference_percent", median_of(differences));
  rows.add("deploy", "within_7_percent", near);
  const double denormals = add_denormals(rows);
  fmt::print("\n");
  print_verdict("difference, median", median_of(differences), kMedianBar, "%");
  print_floor(fmt::format("within {} %, of {}", kFarBar, std::size(kCases)),
              static_cast<double>(near), static_cast<double>(kNearBar), "");
  print_verdict("a model with denormal activations", denormals, kDenormalBar, "x");
  return 0;
}

}  // namespace tilewright::bench
