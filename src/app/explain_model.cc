#include "app/explain_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "app/bench.h"
#include "app/explained_program.h"
#include "app/model_choice.h"
#include "base/quantile.h"
#include "runtime/host/model_library.h"

namespace tilewright::app {
namespace {

constexpr double kRatesShare = 1.0 / 6;  // of the seconds of the model, before and after it
constexpr double kAtLimit = 0.9;         // share of the limit from which on a kernel is at it
constexpr double kBeyond = 1.1;          // share of the limit beyond which that does not hold
constexpr double kClose = 0.7;           // share of a ceiling from which on it may be the limit
constexpr double kNoticed = 0.001;  // share of the kernels' time from which on a loss is listed
constexpr double kSlower = 1.25;    // times the tuned time
// The most similar first.
constexpr std::array kByLikenessToAModel = {record::CachePolicy::InModel,
                                            record::CachePolicy::WeightsCold,
                                            record::CachePolicy::Cold, record::CachePolicy::Warm};
constexpr size_t kFewTrials = 200;  // the default budget of a task
// A call on several threads that takes less than the first has started none; from the second on,
// their start is negligible.
constexpr double kMinStartNs = 1'000, kShortNs = 10'000;

Status check_options(const ExplainModelOptions& options) {
  if (is_library(options.library)) return {};
  return fail(ErrorKind::BadInput, fmt::format("{} is not a compiled model", options.library), {},
              {{"compile", options.library, "makes one"}});
}

// The attempt with that program that was measured most like in a model, among those the fastest,
// and the number of attempts at its task. All are of one back end.
struct FoundAttempts {
  size_t count = 0;
  std::optional<record::Attempt> best;
};
Result<FoundAttempts> find_attempts(record::Store& store, Hash128 task, Hash128 program,
                                    std::string_view back_end) {
  const auto order_of = [](const record::Attempt& one) {
    const auto at = std::ranges::find(kByLikenessToAModel, one.protocol.cache);
    return std::pair(at - kByLikenessToAModel.begin(), one.verdict.latency_ns);
  };
  FoundAttempts found;
  TRY(store.for_each_attempt(task, [&](const record::Attempt& one) {
    if (one.protocol.back_end != back_end) return true;
    ++found.count;
    const bool timed = one.verdict.kind == record::VerdictKind::Timed;
    if (!timed || one.program != program) return true;
    if (!found.best || order_of(one) < order_of(*found.best)) found.best = one;
    return true;
  }));
  return found;
}

// Explains kernels by their records.
class RecordReader {
 public:
  RecordReader(record::Store& store, feature::Ceilings ceilings, std::string_view back_end)
      : store_(store),
        ceilings_(std::move(ceilings)),
        back_end_(back_end),
        machine_(detect_machine()) {}

  Result<KernelRecords> read(Hash128 task, Hash128 program, double call_ns) {
    const FoundAttempts found = TRY(find_attempts(store_, task, program, back_end_));
    KernelRecords records{.trials = found.count, .attempt = {}};
    if (!found.best) return records;
    records.attempt = found.best->id();
    const std::optional<record::StoredTask> stored = TRY(store_.find_task(task));
    if (!stored) return records;
    const Result<Task> parsed = record::task_of(*stored);
    const Result<schedule::Trace> trace = schedule::trace_from_text(found.best->trace);
    if (!parsed || !trace) return records;
    // In a model, the kernel before has just written the operands.
    Result<ExplainedProgram> explained = explain_program(
        *parsed, *trace, machine_,
        {.ceilings = ceilings_, .latency_ns = call_ns, .calls = feature::Calls::Warm});
    if (!explained) return records;
    for (feature::Share& share : explained->shares) {
      if (share.share < kClose || share.share > kBeyond)
        share.share = 0;  // no limit, or none that holds
    }
    records.limits = feature::likely_limits(explained->traffic, explained->facts, parsed->target,
                                            explained->shares);
    return records;
  }

 private:
  record::Store& store_;
  feature::Ceilings ceilings_;
  std::string back_end_;
  Machine machine_;
};

// Empty after a stop.
Result<std::optional<BenchedModel>> time_model(const ExplainModelOptions& options,
                                               const StopToken& stop) {
  BenchListener silent;
  BenchOutcome outcome = TRY(bench({.what = {options.library},
                                    .target = {.target = {}, .threads = options.threads},
                                    .records = kNoRecords,
                                    .inputs = options.inputs,
                                    .random_seed = options.random_seed,
                                    .seconds = options.seconds},
                                   silent, stop));
  if (stop.requested() || outcome.models.empty()) return std::nullopt;
  return std::move(outcome.models.front());
}

Hash128 hash_of(const uint64_t (&words)[2]) { return {words[0], words[1]}; }

// The first kernels of the list, with their records and remedies.
Result<std::vector<ExplainedKernel>> explain_kernels(const TilewrightModelApi& api,
                                                     const std::vector<KernelLoss>& losses,
                                                     int threads, RecordReader* reader) {
  std::vector<ExplainedKernel> kernels;
  for (const KernelLoss& loss : losses) {
    const TilewrightTableFacts& facts = api.table->facts[loss.kernel];
    ExplainedKernel kernel{
        .loss = loss,
        .task = hash_of(facts.task),
        .tuned_ns = static_cast<double>(api.table->kernels[loss.kernel].tuned_ns),
        .records = {},
        .remedies = {}};
    if (reader != nullptr) {
      const double call_ns = kernel.loss.ns / static_cast<double>(kernel.loss.calls);
      kernel.records = TRY(reader->read(kernel.task, hash_of(facts.program), call_ns));
    }
    kernel.remedies = remedies_of(kernel, {.threads = threads,
                                           .as_tuned = threads == api.threads,
                                           .elementwise = facts.elementwise != 0});
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

void add_sums(const std::vector<KernelLoss>& losses, ExplainedModel* model) {
  model->kernel_count = losses.size();
  for (const KernelLoss& loss : losses) {
    model->kernels_ns += loss.ns;
    model->limit_ns += loss.limit_ns();
    model->lost_ns += loss.lost_ns();
    model->beyond += loss.of_limit() > kBeyond ? 1 : 0;
  }
}

// The kernels to explain: at most `count`, and none whose loss is negligible.
void keep_largest(size_t count, double kernels_ns, std::vector<KernelLoss>* losses) {
  losses->resize(std::min(losses->size(), count));
  std::erase_if(*losses,
                [&](const KernelLoss& loss) { return loss.lost_ns() < kNoticed * kernels_ns; });
}

}  // namespace

std::vector<Remedy> remedies_of(const ExplainedKernel& kernel, const RemedyFacts& facts) {
  using enum Remedy;
  const KernelLoss& loss = kernel.loss;
  if (loss.of_limit() >= kAtLimit) {
    return {loss.limit.what == kFmaLimit ? FewerFlop : FewerBytes};
  }
  const bool tuned = kernel.tuned_ns > 0;
  std::vector<Remedy> out;
  const auto add_if = [&](bool applies, Remedy remedy) {
    if (applies) out.push_back(remedy);
  };
  add_if(!tuned, kernel.records.trials > 0 ? Compile : Tune);
  const double call_ns = loss.ns / static_cast<double>(loss.calls);
  add_if(facts.threads > 1 && call_ns > kMinStartNs && call_ns < kShortNs, FewerThreads);
  add_if(facts.elementwise, Fuse);
  add_if(tuned && facts.as_tuned && call_ns > kSlower * kernel.tuned_ns, SlowerThanTuned);
  add_if(tuned && kernel.records.trials > 0 && kernel.records.trials < kFewTrials, TuneLonger);
  add_if(!kernel.records.limits.empty(), Loops);
  add_if(out.empty(), NothingKnown);
  return out;
}

double ExplainedModel::listed_ns() const {
  double sum_ns = 0;
  for (const ExplainedKernel& kernel : kernels) sum_ns += kernel.loss.lost_ns();
  return sum_ns;
}

Result<ExplainedModel> explain_measured(const TilewrightModelApi& api, MeasuredModel measured,
                                        const std::string& records, size_t count,
                                        std::string_view back_end) {
  std::vector<KernelLoss> losses = kernel_losses(api, measured.steps_ns, measured.rates);
  ExplainedModel model{.name = api.name,
                       .threads = measured.threads,
                       .compiled_threads = api.threads,
                       .rates = std::move(measured.rates),
                       .run_ns = measured.run_ns,
                       .kernels = {}};
  add_sums(losses, &model);
  keep_largest(count, model.kernels_ns, &losses);
  std::optional<record::Store> store = TRY(open_records(records));
  std::optional<RecordReader> reader;
  if (store) reader.emplace(*store, ceilings_of(model.rates), back_end);
  model.kernels = TRY(explain_kernels(api, losses, model.threads, reader ? &*reader : nullptr));
  return model;
}

Result<std::optional<ExplainedModel>> explain_model(const ExplainModelOptions& options,
                                                    const StopToken& stop) {
  TRY(check_options(options));
  const runtime::ModelLibrary library = TRY(runtime::ModelLibrary::open(options.library));
  const TilewrightModelApi& api = library.api();
  TRY(check_facts(api, options.library));

  const int threads = options.threads > 0 ? options.threads : api.threads;
  const Target target = host_target(threads);
  const Machine machine = detect_machine();
  const double rates_s = kRatesShare * options.seconds;
  MachineRates rates = TRY(measure_rates(target, machine, rates_s, stop));
  const std::optional<BenchedModel> benched = TRY(time_model(options, stop));
  if (!benched) return std::nullopt;
  raise(rates, TRY(measure_rates(target, machine, rates_s, stop)));
  if (stop.requested()) return std::nullopt;
  return explain_measured(api,
                          {.threads = threads,
                           .run_ns = quantile_of(benched->timing.runs_ns, 0.5),
                           .steps_ns = benched->timing.steps_ns,
                           .rates = std::move(rates)},
                          options.records, options.count,
                          codegen::recorded_name(target, options.tables.back_ends));
}

}  // namespace tilewright::app
