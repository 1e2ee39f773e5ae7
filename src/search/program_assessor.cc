#include "search/program_assessor.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/worker_team.h"
#include "feature/program_encoder.h"
#include "search/candidate_maker.h"
#include "search/program_cache.h"

namespace tilewright::search {
namespace {

constexpr size_t kChunk = 64;       // candidates that a thread takes at a time
constexpr size_t kPredicted = 256;  // programs passed to a model at a time
constexpr size_t kMaxFirstRequested = size_t{1}
                                      << 14;  // programs of a round that stay longest, at most
constexpr float kNoScore = std::numeric_limits<float>::lowest();

// A candidate to be computed.
struct Todo {
  uint16_t sketch = 0;
  uint64_t structure = 0;
  uint32_t index = 0;  // of the candidates

  bool operator<(const Todo& other) const {
    return std::tie(sketch, structure, index) <
           std::tie(other.sketch, other.structure, other.index);
  }
};

// Its result. Its encodings are in a block of a worker, unless another block has them.
struct Done {
  CandidateStatus made = CandidateStatus::Illegal;
  bool is_unencodable = false;  // an encoding cannot represent it
  Hash128 program;
  int worker = -1;
  BlockSlot place;  // number of the worker's block
};

struct Worker {
  CandidateMaker maker;
  std::optional<feature::ProgramEncoder> encoder{};  // empty before the first model
  HashTable<BlockSlot> seen{};                       // programs of this call in blocks
  std::vector<std::unique_ptr<EncodedBlock>> blocks{};
  std::vector<size_t> room{};  // size of the last full block, per encoding
  EncodedBlock again{};        // programs to be scored again
  std::vector<std::unique_ptr<EncodedBlock>> spare{};
  double predict_s = 0;
};

}  // namespace

struct ProgramAssessor::Impl {
  Impl(const Task& of, const schedule::LoopTree& initial_tree,
       std::span<const schedule::Sketch> all, const Machine& on, int given,
       const feature::EncodingTable& encodings)
      : task(of),
        machine(on),
        initial(initial_tree),
        sketches(all),
        table(encodings),
        validity(task, initial, machine),
        threads(given > 0 ? given : std::max<int>(1, static_cast<int>(machine.cpus.size()))) {
    for (const schedule::Sketch& sketch : sketches) structure_genes.emplace_back(sketch);
  }

  void set_model(const cost::CostModel* next, std::span<const std::string> also);
  feature::ProgramEncoder encoder() const;  // makes `names`
  void start_workers();
  void shrink(size_t bytes, std::span<const Candidate> reported);
  void find_work(std::span<const Candidate> candidates);
  void note_program(KnownGenome& genome, const Candidate& candidate, uint32_t index);
  void add_todo(const Candidate& candidate, uint32_t index);
  void work(int number, std::span<const Candidate> candidates);
  void make_chunk(int number, std::span<const Candidate> candidates, size_t chunk);
  // The key of encodings and score: the program, or the genome that it was made from.
  const Hash128& entry_of(const Hash128& genome, const Hash128& program) const {
    return by_genome ? genome : program;
  }
  bool has_score(const Hash128& entry) const;
  void predict(Worker& worker, EncodedBlock* block) const;
  void predict_last(Worker& worker) const;
  static void begin_block(Worker& worker);
  bool encode(Worker& worker, const Candidate& candidate, feature::Inputs* inputs) const;
  void rescore_chunk(Worker& worker, size_t chunk);
  void merge();
  void add_counts();

  const Task& task;
  const Machine machine;
  const schedule::LoopTree& initial;
  std::span<const schedule::Sketch> sketches;
  const feature::EncodingTable& table;
  std::vector<std::string> names;  // of the encodings that are made; first those of the model
  std::vector<size_t> read;        // their numbers from 0 on: those that the model reads
  bool encodes = false;            // false: nothing is encoded now
  bool has_unencodable = false;    // one of them cannot represent some of the cached genomes
  bool by_genome = false;          // one of them follows from the trace
  space::Validity validity;
  std::vector<StructureGenes> structure_genes;
  int threads;
  std::optional<WorkerTeam> team;  // empty: not started
  std::vector<Worker> workers;     // one per thread
  const cost::CostModel* model = nullptr;
  uint32_t model_number = 1;
  ProgramCache cache;
  std::vector<CacheKeys> first_requested;  // in this round, in order
  AssessorCounts counts;

  // State of the current call.
  std::vector<Hash128> keys;  // of the candidates
  std::vector<Todo> todo;
  std::vector<Done> done;
  std::vector<Hash128> rescored;  // entries with encodings but without a score of this model
  std::atomic<size_t> next_chunk = 0;
  std::atomic<size_t> next_rescored = 0;
};

void ProgramAssessor::Impl::add_todo(const Candidate& candidate, uint32_t index) {
  todo.push_back({.sketch = candidate.sketch,
                  .structure = structure_genes[candidate.sketch].hash(candidate.genome),
                  .index = index});
}

// A known genome: is the score of its program cached?
void ProgramAssessor::Impl::note_program(KnownGenome& genome, const Candidate& candidate,
                                         uint32_t index) {
  ++counts.known;
  if (!genome.is_assessed || genome.program == Hash128{}) return;
  const Hash128& entry = entry_of(keys[index], genome.program);
  KnownProgram* program = cache.programs.find(entry);
  if (program != nullptr && program->model == model_number) return;
  if (!encodes) return;
  if (program == nullptr || cache.block_of(program->place) == nullptr) {
    ++counts.again;
    genome.is_assessed = false;  // until it is applied, which is once per call
    return add_todo(candidate, index);
  }
  program->model = model_number;
  program->score = program->spread = 0;
  if (model != nullptr) rescored.push_back(entry);
}

void ProgramAssessor::Impl::find_work(std::span<const Candidate> candidates) {
  keys.clear();
  todo.clear();
  rescored.clear();
  for (size_t k = 0; k < candidates.size(); ++k) {
    const Candidate& candidate = candidates[k];
    CHECK(candidate.sketch < sketches.size(), "sketch {} of {}", candidate.sketch, sketches.size());
    keys.push_back(genome_hash(candidate.sketch, candidate.genome));
    const auto [genome, is_new] = cache.genomes.insert(keys.back());
    if (is_new) {
      add_todo(candidate, static_cast<uint32_t>(k));
    } else {
      note_program(*genome, candidate, static_cast<uint32_t>(k));
    }
  }
  std::ranges::sort(todo, std::less{});
  done.assign(todo.size(), {});
  next_chunk = 0;
  next_rescored = 0;
}

bool ProgramAssessor::Impl::has_score(const Hash128& entry) const {
  const KnownProgram* known = cache.programs.find(entry);
  return known != nullptr && known->model == model_number;
}

void ProgramAssessor::Impl::set_model(const cost::CostModel* next,
                                      std::span<const std::string> also) {
  model = next;
  ++model_number;
  std::vector<std::string> wanted;
  if (model != nullptr) {
    wanted = model->encodings();
    CHECK(!wanted.empty(), "a cost model reads no encoding");
  }
  const bool is_read_as_before = read.size() == wanted.size();
  read.resize(wanted.size());
  std::iota(read.begin(), read.end(), size_t{0});
  for (Worker& worker : workers) worker.again.inputs.clear();
  for (const std::string& name : also) {
    if (std::ranges::find(wanted, name) == wanted.end()) wanted.push_back(name);
  }
  encodes = model != nullptr || !wanted.empty();
  // Whether a program that an encoding cannot represent is rejected depends on what the model
  // reads.
  if (has_unencodable && (!encodes || wanted != names || !is_read_as_before)) {
    cache.genomes.clear();
    has_unencodable = false;
  }
  if (!encodes || wanted == names) return;
  std::vector<size_t> kept;  // their numbers so far
  for (const std::string& name : wanted) {
    const auto at = static_cast<size_t>(std::ranges::find(names, name) - names.begin());
    if (at < names.size()) kept.push_back(at);
  }
  names = std::move(wanted);
  const bool was_by_genome =
      std::exchange(by_genome, encoder().encoded_from() == feature::EncodedFrom::Trace);
  if (kept.size() == names.size() && by_genome == was_by_genome) {
    cache.select(kept);
  } else {
    cache.drop_blocks();
  }
  for (Worker& worker : workers) {
    worker.spare.clear();
    worker.room.clear();
    worker.encoder = encoder();
  }
}

feature::ProgramEncoder ProgramAssessor::Impl::encoder() const {
  const feature::EncodingContext context{
      .task = &task, .machine = &machine, .initial = &initial, .sketches = sketches};
  Result<feature::ProgramEncoder> made = feature::ProgramEncoder::make(context, names, table);
  CHECK(made.has_value(), "{}", made.error().message);
  return *std::move(made);
}

void ProgramAssessor::Impl::start_workers() {
  if (team) return;
  team.emplace(threads);
  for (int k = 0; k < threads; ++k) {
    workers.push_back({.maker = CandidateMaker(initial, sketches, validity)});
    if (!names.empty()) workers.back().encoder = encoder();
  }
}

void ProgramAssessor::Impl::shrink(size_t bytes, std::span<const Candidate> reported) {
  std::vector<CacheKeys> keep;
  for (const Candidate& candidate : reported) {
    const Hash128 genome = genome_hash(candidate.sketch, candidate.genome);
    keep.push_back({.genome = genome, .entry = entry_of(genome, candidate.program)});
  }
  keep.insert(keep.end(), first_requested.begin(), first_requested.end());
  cache.shrink(bytes, keep);
  team.reset();
  workers.clear();
  keys = {};
  todo = {};
  done = {};
  rescored = {};
  first_requested = {};
}

void ProgramAssessor::Impl::predict(Worker& worker, EncodedBlock* block) const {
  const size_t programs = block->programs();
  block->scores.assign(programs, 0);
  block->spreads.assign(model != nullptr && model->has_spread() ? programs : 0, 0);
  if (model == nullptr) return;
  Stopwatch watch(true);
  // The model gets only the encodings that it reads.
  feature::Inputs& inputs = block->inputs;
  const auto others = inputs.begin() + static_cast<std::ptrdiff_t>(read.size());
  feature::Inputs rest(std::make_move_iterator(others), std::make_move_iterator(inputs.end()));
  inputs.erase(others, inputs.end());
  model->predict(inputs, {.mean = block->scores, .spread = block->spreads});
  inputs.insert(inputs.end(), std::make_move_iterator(rest.begin()),
                std::make_move_iterator(rest.end()));
  watch.lap(&worker.predict_s);
}

void ProgramAssessor::Impl::predict_last(Worker& worker) const {
  if (worker.blocks.empty()) return;
  EncodedBlock& block = *worker.blocks.back();
  if (block.scores.size() != block.programs()) predict(worker, &block);
}

// Reserves as many numbers as the last full block had, to avoid reallocation.
void ProgramAssessor::Impl::begin_block(Worker& worker) {
  const bool reuse = !worker.spare.empty();
  auto next = reuse ? std::move(worker.spare.back()) : std::make_unique<EncodedBlock>();
  if (reuse) worker.spare.pop_back();
  if (!worker.blocks.empty()) {
    worker.room.clear();
    for (const feature::Encoded& encoded : worker.blocks.back()->inputs) {
      worker.room.push_back(encoded.values.size() + encoded.values.size() / 16);
    }
  }
  next->inputs.resize(worker.room.empty() ? next->inputs.size() : worker.room.size());
  for (size_t k = 0; k < worker.room.size(); ++k) {
    next->inputs[k].values.reserve(worker.room[k]);
  }
  worker.blocks.push_back(std::move(next));
}

// The result of the worker's maker.
bool ProgramAssessor::Impl::encode(Worker& worker, const Candidate& candidate,
                                   feature::Inputs* inputs) const {
  return worker.encoder->append({.tree = &worker.maker.tree(),
                                 .trace = &worker.maker.trace(),
                                 .sketch = candidate.sketch,
                                 .genome = &candidate.genome},
                                read.size(), inputs);
}

void ProgramAssessor::Impl::make_chunk(int number, std::span<const Candidate> candidates,
                                       size_t chunk) {
  Worker& worker = workers[static_cast<size_t>(number)];
  const size_t end = std::min(todo.size(), (chunk + 1) * kChunk);
  for (size_t k = chunk * kChunk; k < end; ++k) {
    Done& result = done[k];
    const Candidate& candidate = candidates[todo[k].index];
    result.made =
        worker.maker.make(candidate.sketch, candidate.genome, todo[k].structure, &result.program);
    const Hash128& entry = entry_of(keys[todo[k].index], result.program);
    if (result.made != CandidateStatus::Fit || !encodes || has_score(entry)) continue;
    const auto [place, is_new] = worker.seen.insert(entry);
    if (is_new) {
      if (worker.blocks.empty() || worker.blocks.back()->programs() >= kPredicted) {
        predict_last(worker);
        begin_block(worker);
      }
      EncodedBlock& block = *worker.blocks.back();
      Stopwatch watch(worker.maker.is_timed());
      const bool encoded = encode(worker, candidate, &block.inputs);
      watch.lap(&worker.maker.times.encode_s, CandidateMaker::kTimedEvery);
      if (encoded) {
        *place = {.block = static_cast<uint32_t>(worker.blocks.size() - 1),
                  .slot = static_cast<uint32_t>(block.programs() - 1)};
        const auto has_rows = [&](const auto& one) { return one.has_rows(place->slot); };
        result.is_unencodable = !std::ranges::all_of(block.inputs, has_rows);
      }
    }
    if (place->block == BlockSlot::kNowhere) {  // an encoding of the model cannot represent it
      result.made = CandidateStatus::Rejected;
      result.is_unencodable = true;
      continue;
    }
    result.worker = number;
    result.place = *place;
  }
}

void ProgramAssessor::Impl::rescore_chunk(Worker& worker, size_t chunk) {
  const size_t first = chunk * kPredicted;
  const size_t end = std::min(rescored.size(), first + kPredicted);
  EncodedBlock& again = worker.again;
  feature::clear(&again.inputs);
  for (size_t k = first; k < end; ++k) {
    const bool found =
        cache.append_inputs(cache.programs.find(rescored[k])->place, read, &again.inputs);
    CHECK(found, "encodings of a program were dropped while it was scored");
  }
  predict(worker, &again);
  for (size_t k = first; k < end; ++k) {
    KnownProgram& program = *cache.programs.find(rescored[k]);
    program.score = again.scores[k - first];
    program.spread = again.spreads.empty() ? 0 : again.spreads[k - first];
  }
}

void ProgramAssessor::Impl::work(int number, std::span<const Candidate> candidates) {
  Worker& worker = workers[static_cast<size_t>(number)];
  worker.seen.clear();
  for (size_t chunk = next_rescored++; chunk * kPredicted < rescored.size();
       chunk = next_rescored++) {
    rescore_chunk(worker, chunk);
  }
  for (size_t chunk = next_chunk++; chunk * kChunk < todo.size(); chunk = next_chunk++) {
    make_chunk(number, candidates, chunk);
  }
  if (encodes) predict_last(worker);
}

// In the order of `todo`, so that the cache does not depend on which thread computed it.
void ProgramAssessor::Impl::merge() {
  std::vector<uint32_t> first_block;
  for (Worker& worker : workers) {
    uint32_t first = 0;
    for (size_t k = 0; k < worker.blocks.size(); ++k) {
      const uint32_t number = cache.add_block(std::move(worker.blocks[k]));
      if (k == 0) first = number;
    }
    first_block.push_back(first);
    worker.blocks.clear();
  }
  for (size_t k = 0; k < todo.size(); ++k) {
    const Done& result = done[k];
    KnownGenome& genome = *cache.genomes.insert(keys[todo[k].index]).first;
    genome.is_assessed = true;
    genome.program = result.made == CandidateStatus::Fit ? result.program : Hash128{};
    counts.illegal += result.made == CandidateStatus::Illegal ? 1 : 0;
    counts.rejected += result.made == CandidateStatus::Rejected ? 1 : 0;
    has_unencodable |= result.is_unencodable;
    if (result.made != CandidateStatus::Fit) continue;
    const auto [program, is_new] =
        cache.programs.insert(entry_of(keys[todo[k].index], result.program));
    if (result.worker < 0) {
      counts.known += is_new ? 0 : 1;
      counts.scored += is_new ? 1 : 0;
      continue;
    }
    BlockSlot place = result.place;
    place.block += first_block[static_cast<size_t>(result.worker)];
    const bool stale = program->model != model_number;
    counts.known += stale ? 0 : 1;
    counts.scored += stale ? 1 : 0;
    if (!stale) continue;
    const EncodedBlock& block = *cache.block_of(place);
    *program = {.place = place,
                .model = model_number,
                .score = block.scores[place.slot],
                .spread = block.spreads.empty() ? 0 : block.spreads[place.slot]};
  }
  counts.scored += static_cast<int64_t>(rescored.size());
}

void ProgramAssessor::Impl::add_counts() {
  for (Worker& worker : workers) {
    counts.instantiate_s += worker.maker.times.instantiate_s;
    counts.apply_s += worker.maker.times.apply_s;
    counts.validity_s += worker.maker.times.validity_s;
    counts.hash_s += worker.maker.times.hash_s;
    counts.encode_s += worker.maker.times.encode_s;
    counts.predict_s += worker.predict_s;
    worker.maker.times = {};
    worker.predict_s = 0;
  }
}

ProgramAssessor::ProgramAssessor(const Task& task, const schedule::LoopTree& initial,
                                 std::span<const schedule::Sketch> sketches, const Machine& machine,
                                 int threads, const feature::EncodingTable& encodings)
    : impl_(std::make_unique<Impl>(task, initial, sketches, machine, threads, encodings)) {}

ProgramAssessor::ProgramAssessor(const space::Space& space, const Machine& machine, int threads,
                                 const feature::EncodingTable& encodings)
    : ProgramAssessor(space.task(), space.initial(), space.sketches(), machine, threads,
                      encodings) {}

ProgramAssessor::~ProgramAssessor() = default;

void ProgramAssessor::set_model(const cost::CostModel* model, std::span<const std::string> also) {
  impl_->set_model(model, also);
}

void ProgramAssessor::assess(std::span<Candidate> candidates) {
  Impl& impl = *impl_;
  impl.counts.requested += static_cast<int64_t>(candidates.size());
  impl.cache.trim(impl.first_requested);
  impl.find_work(candidates);
  if (!impl.todo.empty() || !impl.rescored.empty()) {
    impl.start_workers();
    for (Worker& worker : impl.workers) {
      const size_t wanted = impl.todo.size() / kPredicted / impl.workers.size() + 1;
      while (worker.spare.size() < wanted) worker.spare.push_back(impl.cache.new_block());
    }
    impl.team->run([&](int worker) { impl.work(worker, candidates); });
    impl.merge();
    impl.add_counts();
  }
  for (size_t k = 0; k < candidates.size(); ++k) {
    Candidate& candidate = candidates[k];
    candidate.program = impl.cache.genomes.find(impl.keys[k])->program;
    candidate.score = kNoScore;
    candidate.spread = 0;
    if (candidate.program == Hash128{}) continue;
    const Hash128& entry = impl.entry_of(impl.keys[k], candidate.program);
    if (impl.first_requested.size() < kMaxFirstRequested) {
      impl.first_requested.push_back({.genome = impl.keys[k], .entry = entry});
    }
    const KnownProgram* program = impl.cache.programs.find(entry);
    const bool is_scored = impl.model != nullptr && program != nullptr;
    candidate.score = is_scored ? program->score : 0;
    candidate.spread = is_scored ? program->spread : 0;
  }
}

const std::vector<std::string>& ProgramAssessor::encodings() const { return impl_->names; }

bool ProgramAssessor::inputs_of(const Candidate& candidate, std::span<const std::string> encodings,
                                feature::Inputs* inputs) const {
  if (candidate.program == Hash128{}) return false;
  std::vector<size_t> which;
  for (const std::string& name : encodings) {
    const auto at = std::ranges::find(impl_->names, name);
    if (at == impl_->names.end()) return false;
    which.push_back(static_cast<size_t>(at - impl_->names.begin()));
  }
  const Hash128 genome = genome_hash(candidate.sketch, candidate.genome);
  const KnownProgram* known =
      impl_->cache.programs.find(impl_->entry_of(genome, candidate.program));
  return known != nullptr && impl_->cache.append_inputs(known->place, which, inputs);
}

void ProgramAssessor::begin_round() { impl_->first_requested.clear(); }

void ProgramAssessor::shrink(size_t bytes, std::span<const Candidate> reported) {
  impl_->shrink(bytes, reported);
}

const AssessorCounts& ProgramAssessor::counts() const { return impl_->counts; }

}  // namespace tilewright::search
