#include "search/program_assessor.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <tuple>
#include <utility>

#include "base/worker_team.h"
#include "search/candidate_maker.h"
#include "search/program_cache.h"

namespace tilewright::search {
namespace {

constexpr size_t kChunk = 64;       // candidates that a thread takes at a time
constexpr size_t kPredicted = 256;  // programs that a model is asked about together
constexpr float kNoScore = std::numeric_limits<float>::lowest();

// A candidate that has to be made.
struct Todo {
  uint16_t sketch = 0;
  uint64_t structure = 0;
  uint32_t index = 0;  // of the candidates

  bool operator<(const Todo& other) const {
    return std::tie(sketch, structure, index) <
           std::tie(other.sketch, other.structure, other.index);
  }
};

// What became of it. Its rows are in one of the blocks of a worker, unless another has them.
struct Done {
  CandidateStatus made = CandidateStatus::Illegal;
  Hash128 program;
  int worker = -1;
  RowPlace place;  // block: of the worker's
};

struct Worker {
  CandidateMaker maker;
  feature::FeatureExtractor rows;
  HashTable<RowPlace> seen{};  // programs of this call that have rows in a block
  std::vector<std::unique_ptr<RowBlock>> blocks{};
  feature::RowBatch again{};  // rows that are scored a second time
  std::vector<float> scores{};
  std::vector<std::unique_ptr<RowBlock>> spare{};
  double predict_s = 0;
};

}  // namespace

struct ProgramAssessor::Impl {
  Impl(const Task& task, const schedule::LoopTree& initial_tree,
       std::span<const schedule::Sketch> all, const Machine& machine, int threads)
      : initial(initial_tree),
        sketches(all),
        validity(task, initial, machine),
        team(threads > 0 ? threads : std::max<int>(1, static_cast<int>(machine.cpus.size()))) {
    for (const schedule::Sketch& sketch : sketches) structure_genes.emplace_back(sketch);
    for (int k = 0; k < team.threads(); ++k) {
      workers.push_back({.maker = CandidateMaker(initial, sketches, validity),
                         .rows = feature::FeatureExtractor(task, machine)});
    }
  }

  void find_work(std::span<const Candidate> candidates);
  void note_program(const KnownGenome& genome, const Candidate& candidate, uint32_t index);
  void add_todo(const Candidate& candidate, uint32_t index);
  void work(int number, std::span<const Candidate> candidates);
  void make_chunk(int number, std::span<const Candidate> candidates, size_t chunk);
  bool has_score(const Hash128& program) const;
  void predict(Worker& worker);
  static void begin_block(Worker& worker);
  void rescore_chunk(Worker& worker, size_t chunk);
  void merge();
  void add_counts();

  const schedule::LoopTree& initial;
  std::span<const schedule::Sketch> sketches;
  space::Validity validity;
  std::vector<StructureGenes> structure_genes;
  WorkerTeam team;
  std::vector<Worker> workers;
  const cost::CostModel* model = nullptr;
  uint32_t model_number = 1;
  ProgramCache cache;
  AssessorCounts counts;

  // Of the call that runs.
  std::vector<Hash128> keys;  // of the candidates
  std::vector<Todo> todo;
  std::vector<Done> done;
  std::vector<Hash128> rescored;  // programs with rows but without a score of this model
  std::atomic<size_t> next_chunk = 0;
  std::atomic<size_t> next_rescored = 0;
};

void ProgramAssessor::Impl::add_todo(const Candidate& candidate, uint32_t index) {
  todo.push_back({.sketch = candidate.sketch,
                  .structure = structure_genes[candidate.sketch].hash(candidate.genome),
                  .index = index});
}

// A genome that was seen before: is its program's score at hand?
void ProgramAssessor::Impl::note_program(const KnownGenome& genome, const Candidate& candidate,
                                         uint32_t index) {
  ++counts.known;
  if (!genome.is_assessed || genome.program == Hash128{}) return;
  KnownProgram* program = cache.programs.find(genome.program);
  if (program != nullptr && program->model == model_number) return;
  if (program != nullptr && cache.block_of(program->place) != nullptr && model != nullptr) {
    rescored.push_back(genome.program);
    program->model = model_number;
  } else if (model != nullptr) {
    add_todo(candidate, index);
  }
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

bool ProgramAssessor::Impl::has_score(const Hash128& program) const {
  const KnownProgram* known = cache.programs.find(program);
  return known != nullptr && known->model == model_number;
}

void ProgramAssessor::Impl::predict(Worker& worker) {
  if (worker.blocks.empty()) return;
  RowBlock& block = *worker.blocks.back();
  const size_t programs = block.rows.programs();
  if (block.scores.size() == programs) return;
  block.scores.resize(programs);
  Stopwatch watch(true);
  model->predict(block.rows, block.scores);
  watch.lap(&worker.predict_s);
}

// With room for as many rows as the last one had, so that nothing is moved.
void ProgramAssessor::Impl::begin_block(Worker& worker) {
  size_t room = 4 * kPredicted * feature::feature_count();
  if (!worker.blocks.empty()) {
    const size_t last = worker.blocks.back()->rows.values.size();
    room = last + last / 16;
  }
  const bool reuse = !worker.spare.empty();
  worker.blocks.push_back(reuse ? std::move(worker.spare.back()) : std::make_unique<RowBlock>());
  if (reuse) worker.spare.pop_back();
  worker.blocks.back()->rows.values.reserve(room);
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
    if (result.made != CandidateStatus::Fit || model == nullptr || has_score(result.program))
      continue;
    const auto [place, is_new] = worker.seen.insert(result.program);
    if (is_new) {
      if (worker.blocks.empty() || worker.blocks.back()->rows.programs() >= kPredicted) {
        predict(worker);
        begin_block(worker);
      }
      RowBlock& block = *worker.blocks.back();
      Stopwatch watch(worker.maker.is_timed());
      worker.rows.append(worker.maker.tree(), &block.rows);
      watch.lap(&worker.maker.times.rows_s, CandidateMaker::kTimedEvery);
      *place = {.block = static_cast<uint32_t>(worker.blocks.size() - 1),
                .slot = static_cast<uint32_t>(block.rows.programs() - 1)};
    }
    result.worker = number;
    result.place = *place;
  }
}

void ProgramAssessor::Impl::rescore_chunk(Worker& worker, size_t chunk) {
  const size_t first = chunk * kPredicted;
  const size_t end = std::min(rescored.size(), first + kPredicted);
  worker.again.clear();
  for (size_t k = first; k < end; ++k) {
    const bool found = cache.append_rows(cache.programs.find(rescored[k])->place, &worker.again);
    CHECK(found, "rows of a program were dropped while it was scored");
  }
  worker.scores.resize(end - first);
  Stopwatch watch(true);
  model->predict(worker.again, worker.scores);
  watch.lap(&worker.predict_s);
  for (size_t k = first; k < end; ++k) {
    cache.programs.find(rescored[k])->score = worker.scores[k - first];
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
  if (model != nullptr) predict(worker);
}

// In the order of `todo`, so that what is remembered does not depend on who made it.
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
    counts.unfit += result.made == CandidateStatus::RejectReason ? 1 : 0;
    if (result.made != CandidateStatus::Fit) continue;
    const auto [program, is_new] = cache.programs.insert(result.program);
    if (result.worker < 0) {
      counts.known += is_new ? 0 : 1;
      counts.scored += is_new ? 1 : 0;
      continue;
    }
    RowPlace place = result.place;
    place.block += first_block[static_cast<size_t>(result.worker)];
    const bool stale = program->model != model_number;
    counts.known += stale ? 0 : 1;
    counts.scored += stale ? 1 : 0;
    if (!stale) continue;
    *program = {
        .place = place, .model = model_number, .score = cache.block_of(place)->scores[place.slot]};
  }
  counts.scored += static_cast<int64_t>(rescored.size());
}

void ProgramAssessor::Impl::add_counts() {
  for (Worker& worker : workers) {
    counts.instantiate_s += worker.maker.times.instantiate_s;
    counts.apply_s += worker.maker.times.apply_s;
    counts.validity_s += worker.maker.times.validity_s;
    counts.hash_s += worker.maker.times.hash_s;
    counts.rows_s += worker.maker.times.rows_s;
    counts.predict_s += worker.predict_s;
    worker.maker.times = {};
    worker.predict_s = 0;
  }
}

ProgramAssessor::ProgramAssessor(const Task& task, const schedule::LoopTree& initial,
                                 std::span<const schedule::Sketch> sketches, const Machine& machine,
                                 int threads)
    : impl_(std::make_unique<Impl>(task, initial, sketches, machine, threads)) {}

ProgramAssessor::ProgramAssessor(const space::Space& space, const Machine& machine, int threads)
    : ProgramAssessor(space.task(), space.initial(), space.sketches(), machine, threads) {}

ProgramAssessor::~ProgramAssessor() = default;

void ProgramAssessor::set_model(const cost::CostModel* model) {
  impl_->model = model;
  ++impl_->model_number;
}

void ProgramAssessor::assess(std::span<Candidate> candidates) {
  Impl& impl = *impl_;
  impl.counts.asked += static_cast<int64_t>(candidates.size());
  impl.cache.trim();
  impl.find_work(candidates);
  if (!impl.todo.empty() || !impl.rescored.empty()) {
    for (Worker& worker : impl.workers) {
      const size_t wanted = impl.todo.size() / kPredicted / impl.workers.size() + 1;
      while (worker.spare.size() < wanted) worker.spare.push_back(impl.cache.new_block());
    }
    impl.team.run([&](int worker) { impl.work(worker, candidates); });
    impl.merge();
    impl.add_counts();
  }
  for (size_t k = 0; k < candidates.size(); ++k) {
    Candidate& candidate = candidates[k];
    candidate.program = impl.cache.genomes.find(impl.keys[k])->program;
    candidate.score = kNoScore;
    if (candidate.program == Hash128{}) continue;
    const KnownProgram* program = impl.cache.programs.find(candidate.program);
    candidate.score = impl.model != nullptr && program != nullptr ? program->score : 0;
  }
}

bool ProgramAssessor::rows_of(const Hash128& program, feature::RowBatch* batch) {
  const KnownProgram* known = impl_->cache.programs.find(program);
  return known != nullptr && impl_->cache.append_rows(known->place, batch);
}

bool ProgramAssessor::rows_of(const Candidate& candidate, feature::RowBatch* batch) {
  if (candidate.program != Hash128{} && rows_of(candidate.program, batch)) return true;
  Worker& worker = impl_->workers.front();
  const uint64_t structure = impl_->structure_genes[candidate.sketch].hash(candidate.genome);
  Hash128 program;
  const CandidateStatus made =
      worker.maker.make(candidate.sketch, candidate.genome, structure, &program);
  if (made != CandidateStatus::Fit) return false;
  worker.rows.append(worker.maker.tree(), batch);
  return true;
}

const AssessorCounts& ProgramAssessor::counts() const { return impl_->counts; }

}  // namespace tilewright::search
