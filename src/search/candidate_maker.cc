#include "search/candidate_maker.h"

#include <algorithm>

#include "base/hash.h"
#include "schedule/program_hash.h"

namespace tilewright::search {

using schedule::Genome;
using schedule::Illegal;
using schedule::Sketch;

namespace {

// All choices of a split have the same number of parts, so one can replace the other.
bool keeps_structure(const schedule::Hole& hole) {
  const auto* tiles = std::get_if<schedule::TileDomain>(&hole.domain);
  if (tiles == nullptr) return false;
  const size_t parts = tiles->choices.at(0).size();
  return std::ranges::all_of(tiles->choices,
                             [&](const auto& choice) { return choice.size() == parts; });
}

}  // namespace

StructureGenes::StructureGenes(const Sketch& sketch) {
  for (size_t k = 0; k < sketch.holes.size(); ++k) {
    if (!keeps_structure(sketch.holes[k])) holes_.push_back(static_cast<uint16_t>(k));
  }
}

uint64_t StructureGenes::hash(const Genome& genome) const {
  Hasher hasher;
  uint64_t word = 1;
  for (const uint16_t hole : holes_) {
    if (word >> 48 != 0) {
      hasher.add(word);
      word = 1;
    }
    word = word << 16 | genome.genes[hole];
  }
  return hasher.add(word).finish().low;
}

bool CandidateMaker::make_tree(const Sketch& sketch, const Genome& genome, bool same,
                               Stopwatch& watch) {
  if (same && state_ == Structure::Illegal) return false;
  schedule::instantiate(sketch, genome, &trace_);
  watch.lap(&times.instantiate_s, kTimedEvery);
  if (!same || state_ != Structure::Legal) {
    const Illegal illegal = schedule::apply_structure(*initial_, trace_, &tree_);
    state_ = Structure::Legal;
    if (illegal) {
      const bool by_factor = illegal.code == schedule::IllegalCode::BadFactor;
      state_ = by_factor ? Structure::None : Structure::Illegal;
      return false;
    }
  }
  return !schedule::retile(trace_, &tree_);
}

CandidateStatus CandidateMaker::make(uint16_t sketch, const Genome& genome, uint64_t structure,
                                     Hash128* program) {
  ++made_;
  Stopwatch watch(is_timed());
  const bool same = sketch == sketch_ && structure == structure_ && state_ != Structure::None;
  sketch_ = sketch;
  structure_ = structure;
  const bool legal = make_tree(sketches_[sketch], genome, same, watch);
  watch.lap(&times.apply_s, kTimedEvery);
  if (!legal) return CandidateStatus::Illegal;
  const space::RejectReason rejected = validity_->check(tree_);
  watch.lap(&times.validity_s, kTimedEvery);
  if (rejected != space::RejectReason::No) return CandidateStatus::Rejected;
  *program = schedule::program_hash(tree_, validity_->target());
  watch.lap(&times.hash_s, kTimedEvery);
  return CandidateStatus::Fit;
}

}  // namespace tilewright::search
