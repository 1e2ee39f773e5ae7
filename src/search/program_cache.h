// ProgramCache: the cache of an assessor. It maps genomes to programs, and programs to their
// encodings and score; encodings that follow from the trace, and their scores, are found by genome
// instead. Encodings are in blocks, as the threads made them; if there are too many, the older half
// is dropped, except for some programs that the caller names. Dropping costs time and never changes
// a result.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "feature/encoded.h"
#include "search/explorer.h"
#include "search/genome_hash.h"
#include "search/hash_table.h"

namespace tilewright::search {

struct EncodedBlock {
  feature::Inputs inputs;
  // One per program, by the model at the time. No spreads if the model has none.
  std::vector<float> scores, spreads;

  size_t programs() const { return inputs.empty() ? 0 : inputs.front().programs(); }
};

// The position of a program within the blocks.
struct BlockSlot {
  static constexpr uint32_t kNowhere = UINT32_MAX;
  uint32_t block = kNowhere;
  uint32_t slot = 0;
};

struct KnownProgram {
  BlockSlot place;
  uint32_t model = 0;  // number of the model that gave the score; 0: none
  float score = 0, spread = 0;
};

struct KnownGenome {
  Hash128 program;  // zero: illegal or rejected
  bool is_assessed = false;
};

inline constexpr size_t kCacheBytes = size_t{24} << 20;  // of encodings

// The keys of a program: its genome, and the key of its encodings.
struct CacheKeys {
  Hash128 genome, entry;
};

class ProgramCache {
 public:
  explicit ProgramCache(size_t block_bytes = kCacheBytes, size_t entries = size_t{1} << 22)
      : max_block_bytes_(block_bytes), max_entries_(entries) {}

  HashTable<KnownGenome> genomes;
  HashTable<KnownProgram> programs;  // by program, or by genome

  // Returns the number of the block.
  uint32_t add_block(std::unique_ptr<EncodedBlock> block);
  // Null if it was dropped, never computed or not added yet.
  const EncodedBlock* block_of(const BlockSlot& place) const;
  // Appends some encodings of one program; `which` are their numbers. False if they were dropped,
  // or if one of them cannot represent the program.
  bool append_inputs(const BlockSlot& place, std::span<const size_t> which,
                     feature::Inputs* inputs) const;

  std::unique_ptr<EncodedBlock> new_block();  // empty; reuses the memory of a dropped block
  // Drops excess blocks, except for the encodings of `keep`, the first ones if there are too many.
  // Other encodings may stay with them.
  // Must not be called while slots are in use.
  void trim(std::span<const CacheKeys> keep = {});
  // Releases memory. If the encodings take more than `bytes`, only those of `keep` stay, the first
  // ones; if the tables do and are not small, they too lose all other programs.
  void shrink(size_t bytes, std::span<const CacheKeys> keep);
  // Call when programs get other encodings.
  void drop_blocks();
  // Programs keep only these encodings, in this order.
  void select(std::span<const size_t> which);

 private:
  void drop_block(size_t index);
  // Drops the first `count` blocks, except for up to `bytes` of the encodings of `keep`: they move
  // to a new block, unless they are half of theirs or more, which then stays.
  void drop_blocks_except(size_t count, size_t bytes, std::span<const CacheKeys> keep);

  size_t max_block_bytes_;
  size_t max_entries_;
  std::deque<std::unique_ptr<EncodedBlock>> blocks_;  // null: dropped; the first one is not
  uint32_t first_block_ = 0;
  size_t block_bytes_ = 0;
  std::vector<std::unique_ptr<EncodedBlock>> spare_;
};

}  // namespace tilewright::search
