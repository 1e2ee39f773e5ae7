#include "search/program_cache.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tilewright::search {
namespace {

constexpr size_t kSmallTables = size_t{1} << 20;  // bytes that are always kept

size_t bytes_of(const EncodedBlock& block) {
  size_t bytes = 0;
  for (const feature::Encoded& encoded : block.inputs) {
    bytes += encoded.values.size() * sizeof(float) + encoded.begin.size() * sizeof(uint32_t);
  }
  return bytes;
}

}  // namespace

uint32_t ProgramCache::add_block(std::unique_ptr<EncodedBlock> block) {
  block_bytes_ += bytes_of(*block);
  blocks_.push_back(std::move(block));
  return first_block_ + static_cast<uint32_t>(blocks_.size()) - 1;
}

const EncodedBlock* ProgramCache::block_of(const BlockSlot& place) const {
  if (place.block < first_block_) return nullptr;
  const size_t index = place.block - first_block_;
  return index < blocks_.size() ? blocks_[index].get() : nullptr;
}

bool ProgramCache::append_inputs(const BlockSlot& place, std::span<const size_t> which,
                                 feature::Inputs* inputs) const {
  const EncodedBlock* const block = block_of(place);
  const auto has_rows = [&](size_t k) { return block->inputs[k].has_rows(place.slot); };
  if (block == nullptr || !std::ranges::all_of(which, has_rows)) return false;
  if (inputs->empty()) inputs->resize(which.size());
  CHECK(inputs->size() == which.size(), "{} encodings behind {}", which.size(), inputs->size());
  for (size_t k = 0; k < which.size(); ++k) {
    (*inputs)[k].append(block->inputs[which[k]], place.slot, place.slot + 1);
  }
  return true;
}

std::unique_ptr<EncodedBlock> ProgramCache::new_block() {
  if (spare_.empty()) return std::make_unique<EncodedBlock>();
  std::unique_ptr<EncodedBlock> block = std::move(spare_.back());
  spare_.pop_back();
  feature::clear(&block->inputs);
  block->scores.clear();
  block->spreads.clear();
  return block;
}

void ProgramCache::drop_block(size_t index) {
  block_bytes_ -= bytes_of(*blocks_[index]);
  spare_.push_back(std::move(blocks_[index]));
  for (; !blocks_.empty() && blocks_.front() == nullptr; ++first_block_) blocks_.pop_front();
}

void ProgramCache::drop_blocks_except(size_t count, size_t bytes, std::span<const CacheKeys> keep) {
  std::vector<size_t> kept(count);  // programs, per block
  std::vector<KnownProgram*> programs_kept;
  size_t kept_bytes = 0;
  const auto find_old = [&](const BlockSlot& place) {  // count: in none of the blocks
    return block_of(place) == nullptr ? count : std::min<size_t>(count, place.block - first_block_);
  };
  for (const CacheKeys& keys : keep) {
    if (kept_bytes >= bytes) break;
    KnownProgram* const program = programs.find(keys.entry);
    const size_t index = program == nullptr ? count : find_old(program->place);
    if (index == count) continue;
    ++kept[index];
    programs_kept.push_back(program);
    kept_bytes += bytes_of(*blocks_[index]) / blocks_[index]->programs();
  }
  const auto stays = [&](size_t index) {
    return kept[index] > 0 && 2 * kept[index] >= blocks_[index]->programs();
  };
  std::unique_ptr<EncodedBlock> moved = new_block();
  const auto number = static_cast<uint32_t>(first_block_ + blocks_.size());
  for (KnownProgram* const program : programs_kept) {
    const size_t index = find_old(program->place);
    if (index == count || stays(index)) continue;
    const uint32_t slot = program->place.slot;
    feature::append(blocks_[index]->inputs, slot, slot + 1, &moved->inputs);
    program->place = {.block = number, .slot = static_cast<uint32_t>(moved->programs() - 1)};
  }
  for (size_t k = count; k-- > 0;) {  // last ones first: indices stay
    if (blocks_[k] != nullptr && !stays(k)) drop_block(k);
  }
  if (moved->programs() > 0) add_block(std::move(moved));
}

void ProgramCache::trim(std::span<const CacheKeys> keep) {
  if (block_bytes_ > max_block_bytes_) {
    size_t count = 0;
    for (size_t left = block_bytes_; left > max_block_bytes_ / 2 && count < blocks_.size();
         ++count) {
      if (blocks_[count] != nullptr) left -= bytes_of(*blocks_[count]);
    }
    drop_blocks_except(count, max_block_bytes_ / 4, keep);
  }
  if (genomes.size() > max_entries_) genomes.clear();
  if (programs.size() > max_entries_) programs.clear();
}

void ProgramCache::shrink(size_t bytes, std::span<const CacheKeys> keep) {
  if (block_bytes_ > bytes) drop_blocks_except(blocks_.size(), bytes, keep);
  spare_.clear();
  spare_.shrink_to_fit();
  if (genomes.bytes() + programs.bytes() <= std::max(bytes, kSmallTables)) return;
  HashTable<KnownGenome> kept_genomes;
  HashTable<KnownProgram> kept_programs;
  for (const CacheKeys& keys : keep) {
    const KnownGenome* const genome = genomes.find(keys.genome);
    const KnownProgram* const program = programs.find(keys.entry);
    if (genome == nullptr || program == nullptr || block_of(program->place) == nullptr) continue;
    *kept_genomes.insert(keys.genome).first = *genome;
    *kept_programs.insert(keys.entry).first = *program;
  }
  genomes = std::move(kept_genomes);
  programs = std::move(kept_programs);
}

void ProgramCache::select(std::span<const size_t> which) {
  block_bytes_ = 0;
  for (const std::unique_ptr<EncodedBlock>& block : blocks_) {
    if (block == nullptr) continue;
    feature::Inputs selected;
    for (const size_t k : which) selected.push_back(std::move(block->inputs[k]));
    block->inputs = std::move(selected);
    block_bytes_ += bytes_of(*block);
  }
  spare_.clear();
}

void ProgramCache::drop_blocks() {
  first_block_ += static_cast<uint32_t>(blocks_.size());
  blocks_.clear();
  block_bytes_ = 0;
  spare_.clear();
}

}  // namespace tilewright::search
