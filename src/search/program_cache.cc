#include "search/program_cache.h"

#include <utility>

namespace tilewright::search {
namespace {

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
  if (place.block == BlockSlot::kNowhere || place.block < first_block_) return nullptr;
  return blocks_[place.block - first_block_].get();
}

bool ProgramCache::append_inputs(const BlockSlot& place, feature::Inputs* inputs) const {
  const EncodedBlock* const block = block_of(place);
  if (block == nullptr) return false;
  feature::append(block->inputs, place.slot, place.slot + 1, inputs);
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

void ProgramCache::drop_first_block() {
  block_bytes_ -= bytes_of(*blocks_.front());
  spare_.push_back(std::move(blocks_.front()));
  blocks_.pop_front();
  ++first_block_;
}

void ProgramCache::trim() {
  if (block_bytes_ > max_block_bytes_) {
    while (block_bytes_ > max_block_bytes_ / 2 && !blocks_.empty()) drop_first_block();
  }
  if (genomes.size() > max_entries_) genomes.clear();
  if (programs.size() > max_entries_) programs.clear();
}

void ProgramCache::drop_blocks() {
  while (!blocks_.empty()) drop_first_block();
  spare_.clear();
}

}  // namespace tilewright::search
