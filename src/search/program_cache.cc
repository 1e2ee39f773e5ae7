#include "search/program_cache.h"

#include <utility>

namespace tilewright::search {
namespace {

size_t bytes_of(const RowBlock& block) {
  return block.rows.values.size() * sizeof(float) + block.rows.begin.size() * sizeof(uint32_t);
}

}  // namespace

Hash128 genome_hash(uint16_t sketch, const schedule::Genome& genome) {
  Hasher hasher;
  uint64_t word = sketch;
  int count = 1;
  for (const uint16_t gene : genome.genes) {
    word = word << 16 | gene;
    if (++count < 4) continue;
    hasher.add(word);
    word = 0;
    count = 0;
  }
  return hasher.add(word).add(genome.genes.size()).finish();
}

uint32_t ProgramCache::add_block(std::unique_ptr<RowBlock> block) {
  row_bytes_ += bytes_of(*block);
  blocks_.push_back(std::move(block));
  return first_block_ + static_cast<uint32_t>(blocks_.size()) - 1;
}

const RowBlock* ProgramCache::block_of(const RowPlace& place) const {
  if (place.block == RowPlace::kNowhere || place.block < first_block_) return nullptr;
  return blocks_[place.block - first_block_].get();
}

bool ProgramCache::append_rows(const RowPlace& place, feature::RowBatch* batch) const {
  const RowBlock* block = block_of(place);
  if (block == nullptr) return false;
  const feature::RowBatch& from = block->rows;
  const size_t width = feature::feature_count();
  const uint32_t first = from.begin[place.slot];
  const uint32_t last = from.begin[place.slot + 1];
  batch->values.insert(batch->values.end(),
                       from.values.begin() + static_cast<std::ptrdiff_t>(first * width),
                       from.values.begin() + static_cast<std::ptrdiff_t>(last * width));
  batch->begin.push_back(batch->begin.back() + last - first);
  return true;
}

std::unique_ptr<RowBlock> ProgramCache::new_block() {
  if (spare_.empty()) return std::make_unique<RowBlock>();
  std::unique_ptr<RowBlock> block = std::move(spare_.back());
  spare_.pop_back();
  block->rows.clear();
  block->scores.clear();
  return block;
}

void ProgramCache::trim() {
  if (row_bytes_ > most_row_bytes_) {
    const size_t wanted = most_row_bytes_ / 2;
    while (row_bytes_ > wanted && !blocks_.empty()) {
      row_bytes_ -= bytes_of(*blocks_.front());
      spare_.push_back(std::move(blocks_.front()));
      blocks_.pop_front();
      ++first_block_;
    }
  }
  if (genomes.size() > most_entries_) genomes.clear();
  if (programs.size() > most_entries_) programs.clear();
}

}  // namespace tilewright::search
